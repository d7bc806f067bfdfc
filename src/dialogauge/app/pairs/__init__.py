"""`dialogauge pairs`: training rows of runs, and of what people chose and wrote."""
