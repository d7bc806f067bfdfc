"""Formats that serve one source: an entry each, in a file of TOML."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from dialogauge.data.formats.base import Format
from dialogauge.data.formats.described import described_format
from dialogauge.data.formats.form import read_forms


def entry_text(name: str) -> str:
    """Return the entry of a format as it is written; raises FileNotFoundError where it has none."""
    return (files(__package__) / f"{name}.toml").read_text("utf-8")


def _format(name: str) -> Format:
    return described_format(name, read_forms(tomllib.loads(entry_text(name))))


ARENA = _format("arena")
AUTOTOD = _format("autotod")
CHARACTERBENCH = _format("characterbench")
CHATGPT = _format("chatgpt")
CLAUDE = _format("claude")
CODEX = _format("codex")
GEMINI = _format("gemini")
HELPDESK = _format("helpdesk")
LIBRECHAT = _format("librechat")
LMSTUDIO = _format("lmstudio")
OASST = _format("oasst")
RASA = _format("rasa")
RECLLMSIM = _format("recllmsim")
SOTOPIA = _format("sotopia")
TAU = _format("tau")
TAU2 = _format("tau2")
ULTRAFEEDBACK = _format("ultrafeedback")
URS = _format("urs")
WILDCHAT = _format("wildchat")
