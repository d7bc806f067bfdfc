"""`dialogauge tune`: a model trained on rows, or on sessions that are judged as it plays them."""
