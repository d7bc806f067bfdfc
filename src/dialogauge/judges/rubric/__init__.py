"""The judge that runs rubric files on a language model: prompt, reply, rows, windows."""
