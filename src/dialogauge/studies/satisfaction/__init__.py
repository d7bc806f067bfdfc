"""The satisfaction study: how satisfied will this user be with this reply, held against what they said."""
