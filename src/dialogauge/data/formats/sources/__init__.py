"""Formats that serve one source: an entry each, in a file of TOML."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from dialogauge.core.shape import read_as
from dialogauge.data.form import SpokenForm, read_form
from dialogauge.data.formats.base import RecordFormat, TextFormat
from dialogauge.data.formats.described import described_format
from dialogauge.data.formats.messenger import messenger_format
from dialogauge.data.formats.traced import TraceForm, traced_format


def entry_text(name: str) -> str:
    """Return the entry of a format as it is written; raises FileNotFoundError where it has none."""
    return (files(__package__) / f"{name}.toml").read_text("utf-8")


def _format(name: str) -> RecordFormat:
    tables = tomllib.loads(entry_text(name))
    return described_format(name, {kind: read_form(table) for kind, table in tables.items()})


def _tracer(name: str) -> TextFormat:
    tables = tomllib.loads(entry_text(name))
    return traced_format(name, {kind: read_as(table, TraceForm) for kind, table in tables.items()})


def _messenger(name: str) -> TextFormat:
    tables = tomllib.loads(entry_text(name))
    return messenger_format(name, {kind: read_as(table, SpokenForm) for kind, table in tables.items()})


CLAUDE = _format("claude")
HELPDESK = _format("helpdesk")
LIBRECHAT = _format("librechat")
LMSTUDIO = _format("lmstudio")
RASA = _format("rasa")
BRAINTRUST = _tracer("braintrust")
LANGFUSE = _tracer("langfuse")
LANGGRAPH = _tracer("langgraph")
LANGSMITH = _tracer("langsmith")
OPENAI_AGENTS = _tracer("openai-agents")
WEAVE = _tracer("weave")
MESSENGER = _messenger("messenger")
