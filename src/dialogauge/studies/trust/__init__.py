"""The trust study: known ways in which a judge goes wrong, looked for in a finished run."""
