"""The judging study: what a run of judgements comes to."""
