"""`python -m dialogauge`."""

from __future__ import annotations

from dialogauge.cli import main

if __name__ == "__main__":
    main()
