"""The arena: agents ranked by who did better on the same dialogue."""
