"""The engine: runs work units on asyncio, knows no benchmark."""

from dialogauge.engine.loop import Outcome, Sink, run_units
from dialogauge.engine.progress import Progress
from dialogauge.engine.stopping import StopSignal, stop_on_interrupt

__all__ = ["Outcome", "Progress", "Sink", "StopSignal", "run_units", "stop_on_interrupt"]
