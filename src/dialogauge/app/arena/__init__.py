"""`dialogauge arena`: what is compared, by whom, and the run that comes of it."""
