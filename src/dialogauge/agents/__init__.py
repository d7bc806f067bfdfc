"""What answers: a candidate writes the reply to a conversation that ends with its user."""
