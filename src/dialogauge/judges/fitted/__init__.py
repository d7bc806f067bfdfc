"""Saying how people would rate what was said so far: a linear model of their votes, fitted to their own."""
