"""Whether a task came about, read off the dialogue, its goal and its data base; no model is asked."""
