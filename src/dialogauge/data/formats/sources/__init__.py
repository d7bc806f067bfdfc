"""Formats that serve one source: an entry each, in a file of TOML."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from dialogauge.core.shape import read_as
from dialogauge.data.form import read_forms
from dialogauge.data.formats.base import Format
from dialogauge.data.formats.described import described_format
from dialogauge.data.formats.messenger import messenger_format
from dialogauge.data.formats.traced import TraceForm, traced_format


def entry_text(name: str) -> str:
    """Return the entry of a format as it is written; raises FileNotFoundError where it has none."""
    return (files(__package__) / f"{name}.toml").read_text("utf-8")


def _format(name: str) -> Format:
    forms = read_forms(tomllib.loads(entry_text(name)))
    spoken = any(form.speaker for form in forms.values())
    return (messenger_format if spoken else described_format)(name, forms)


def _tracer(name: str) -> Format:
    tables = tomllib.loads(entry_text(name))
    return traced_format(name, {kind: read_as(table, TraceForm) for kind, table in tables.items()})


ARENA = _format("arena")
AUTOTOD = _format("autotod")
BRAINTRUST = _tracer("braintrust")
CHARACTERBENCH = _format("characterbench")
CHATGPT = _format("chatgpt")
CLAUDE = _format("claude")
CODEX = _format("codex")
GEMINI = _format("gemini")
HELPDESK = _format("helpdesk")
LANGFUSE = _tracer("langfuse")
LANGGRAPH = _tracer("langgraph")
LANGSMITH = _tracer("langsmith")
LIBRECHAT = _format("librechat")
LMSTUDIO = _format("lmstudio")
MESSENGER = _format("messenger")
OASST = _format("oasst")
OPENAI_AGENTS = _tracer("openai-agents")
RASA = _format("rasa")
RECLLMSIM = _format("recllmsim")
SOTOPIA = _format("sotopia")
TAU = _format("tau")
TAU2 = _format("tau2")
ULTRAFEEDBACK = _format("ultrafeedback")
URS = _format("urs")
WEAVE = _tracer("weave")
WILDCHAT = _format("wildchat")
