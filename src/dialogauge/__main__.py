"""`python -m dialogauge`."""

from dialogauge.cli import main

if __name__ == "__main__":
    main()
