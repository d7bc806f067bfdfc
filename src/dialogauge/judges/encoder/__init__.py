"""Judges that fine-tune a text encoder on the training users' ratings (PersTurnBench, appendix D.1)."""
