"""Planted faults: what they are, which of them a judge notices, and how that is said."""
