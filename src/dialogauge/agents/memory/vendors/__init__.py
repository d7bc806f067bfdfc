"""Memory systems of vendors: each by its own package, in a process of its own."""
