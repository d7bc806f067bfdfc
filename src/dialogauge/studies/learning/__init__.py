"""Studies of what a memory is worth: tasks, systems, their scores and their cost."""
