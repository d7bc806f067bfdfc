"""The engine: runs work units on asyncio, knows no benchmark."""

from dialogauge.engine.loop import Outcome, Sink, Work, run_units, run_work
from dialogauge.engine.progress import Progress
from dialogauge.engine.stopping import StopSignal, stop_on_interrupt

__all__ = [
    "Outcome",
    "Progress",
    "Sink",
    "StopSignal",
    "Work",
    "run_units",
    "run_work",
    "stop_on_interrupt",
]
