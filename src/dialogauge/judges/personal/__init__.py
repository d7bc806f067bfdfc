"""User memory: what a judge knows of how one user rates (PersTurnBench, section 3.2)."""
