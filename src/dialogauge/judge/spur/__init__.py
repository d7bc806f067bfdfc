"""SPUR (Lin et al., 2024): criteria induced from rated replies, by which turns are judged."""

from dialogauge.judge.spur.draw import draw_examples
from dialogauge.judge.spur.induce import Criteria, InductionSettings, induce
from dialogauge.judge.spur.knowledge import InducedCriteria

__all__ = ["Criteria", "InducedCriteria", "InductionSettings", "draw_examples", "induce"]
