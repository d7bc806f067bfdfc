"""The store: one SQLite file a run."""
