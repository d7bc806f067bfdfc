"""The command line: parse, call the application, print, exit with a code. The only place that prints.

Exit codes: 0 done, 1 run error, 2 usage, 3 more failures than `--max-failed`, 100 a `--gate` not met,
130 interrupted. When several hold, 1 comes before 3 and 3 before 100.
"""

from dialogauge.cli.main import main

__all__ = ["main"]
