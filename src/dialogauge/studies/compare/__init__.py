"""Two runs of one rubric beside each other: what became better, what worse, and how sure that is."""
