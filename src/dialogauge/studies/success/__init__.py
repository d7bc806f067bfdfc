"""Whether tasks came about: rows, figures by domain and agent, and what failed."""
