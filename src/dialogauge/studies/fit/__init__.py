"""What a fit to people's ratings is worth: figures of left-out predictions beside controls."""

from dialogauge.studies.fit.figures import CONTROLS, FIGURES, Said, controls_of, figures_of

__all__ = ["CONTROLS", "FIGURES", "Said", "controls_of", "figures_of"]
