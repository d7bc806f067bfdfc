"""Judges: what turns a conversation into judgements or failures."""
