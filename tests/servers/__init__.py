"""Real servers on 127.0.0.1 that the tests speak to."""
