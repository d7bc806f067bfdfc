"""What a fit to people's ratings is worth: figures of left-out predictions beside controls."""

from dialogauge.bench.fitting.controls import CONTROLS, controls_of
from dialogauge.bench.fitting.figures import FIGURES, Said, figures_of

__all__ = ["CONTROLS", "FIGURES", "Said", "controls_of", "figures_of"]
