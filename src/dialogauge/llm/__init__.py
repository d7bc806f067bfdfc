"""Language models: clients, cache, limits, structured output, usage and cost."""
