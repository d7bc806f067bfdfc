"""The replay benchmark: other replies in frozen states of real conversations, scored for the same users."""
