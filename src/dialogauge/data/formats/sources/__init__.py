"""Formats that serve one source: an entry each, in a file of TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from dialogauge.data.form import AnyForm, SourceForm, TraceForm, read_forms
from dialogauge.data.formats.base import Format
from dialogauge.data.formats.described import described_format
from dialogauge.data.formats.messenger import messenger_format
from dialogauge.data.formats.traced import traced_format


def entry_text(name: str) -> str:
    """Return the entry of a format as it is written; raises FileNotFoundError where it has none."""
    return (files(__package__) / f"{name}.toml").read_text("utf-8")


def described_by(name: str, forms: Mapping[str, AnyForm]) -> Format:
    """Return the format that entries describe: of traces, of records that are a message, or of others."""
    traces = {kind: form for kind, form in forms.items() if isinstance(form, TraceForm)}
    if traces:
        return traced_format(name, traces)
    records = {kind: form for kind, form in forms.items() if isinstance(form, SourceForm)}
    spoken = any(form.speaker for form in records.values())
    return (messenger_format if spoken else described_format)(name, records)


def _format(name: str) -> Format:
    return described_by(name, read_forms(tomllib.loads(entry_text(name))))


ARENA = _format("arena")
AUTOTOD = _format("autotod")
BRAINTRUST = _format("braintrust")
CHARACTERBENCH = _format("characterbench")
CHATGPT = _format("chatgpt")
CLAUDE = _format("claude")
CODEX = _format("codex")
GEMINI = _format("gemini")
HELPDESK = _format("helpdesk")
LANGFUSE = _format("langfuse")
LANGGRAPH = _format("langgraph")
LANGSMITH = _format("langsmith")
LIBRECHAT = _format("librechat")
LMSTUDIO = _format("lmstudio")
MESSENGER = _format("messenger")
OASST = _format("oasst")
OPENAI_AGENTS = _format("openai-agents")
RASA = _format("rasa")
RECLLMSIM = _format("recllmsim")
SOTOPIA = _format("sotopia")
TAU = _format("tau")
TAU2 = _format("tau2")
ULTRAFEEDBACK = _format("ultrafeedback")
URS = _format("urs")
WEAVE = _format("weave")
WILDCHAT = _format("wildchat")
