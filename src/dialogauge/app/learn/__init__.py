"""`dialogauge learn`: what a memory is worth to an assistant, and what it costs."""
