"""The version of dialogauge, for everything that writes it down; the build reads it here too."""

__version__ = "0.2.0"
