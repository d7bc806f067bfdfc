"""Sessions: candidates talk with simulated or recorded users; what they said is a log like any other."""
