"""Ratings from people: who rates what, the pages to rate on, and reading what came of them."""
