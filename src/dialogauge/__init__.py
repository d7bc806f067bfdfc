"""dialogauge measures multi-turn assistants the way their users meet them."""

__version__ = "0.1.0"

__all__ = ["__version__"]
