"""Studies: what is run over conversations, and what is made of the rows."""
