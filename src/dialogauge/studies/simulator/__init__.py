"""What simulated users do wrong, over the sessions of a run, and how they write beside real ones."""
