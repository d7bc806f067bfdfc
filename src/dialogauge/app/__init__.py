"""The application: configuration, names to objects, and a study run on the engine into a store."""
