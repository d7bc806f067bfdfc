"""The file formats of conversations, one module each."""

from __future__ import annotations

from dialogauge.core import UsageError
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Format, Sample
from dialogauge.data.formats.chat import CAPTIONS, CHAT
from dialogauge.data.formats.coding_agents import AIDER, CLAUDE_CODE
from dialogauge.data.formats.csv_table import CSV, mapped_format
from dialogauge.data.formats.documents import wrapped_format
from dialogauge.data.formats.evaluations import INSPECT, LM_EVAL, PROMPTFOO
from dialogauge.data.formats.lists import (
    AGENTS,
    ANTHROPIC,
    ASSISTANTS,
    CARD,
    EXCHANGES,
    LANGCHAIN,
    PARTS,
    RESPONSES,
    SHAREGPT,
    TURNS,
)
from dialogauge.data.formats.openai import OPENAI
from dialogauge.data.formats.rated_studies import USS
from dialogauge.data.formats.rendered import TEMPLATE, TEMPLATE_TEXT
from dialogauge.data.formats.requests import REQUESTS
from dialogauge.data.formats.rows import ROWS
from dialogauge.data.formats.sources import (
    ARENA,
    AUTOTOD,
    BRAINTRUST,
    CHARACTERBENCH,
    CHATGPT,
    CLAUDE,
    CODEX,
    GEMINI,
    HELPDESK,
    LANGFUSE,
    LANGGRAPH,
    LANGSMITH,
    LIBRECHAT,
    LMSTUDIO,
    MESSENGER,
    OASST,
    OPENAI_AGENTS,
    RASA,
    RECLLMSIM,
    SOTOPIA,
    TAU,
    TAU2,
    ULTRAFEEDBACK,
    URS,
    WEAVE,
    WILDCHAT,
    entry_text,
)
from dialogauge.data.formats.telemetry import MLFLOW, OPENTELEMETRY, PHOENIX

_OF_JSON: tuple[Format, ...] = (
    *(RECLLMSIM, URS, TAU, TAU2, AUTOTOD, LM_EVAL, ULTRAFEEDBACK, CHARACTERBENCH, SOTOPIA),
    *(ARENA, CHATGPT, CLAUDE, CLAUDE_CODE, CODEX, GEMINI, INSPECT),
    *(LIBRECHAT, LMSTUDIO, OASST, PROMPTFOO, WILDCHAT),
    *(HELPDESK, MESSENGER, RASA),
    *(
        BRAINTRUST,
        LANGFUSE,
        LANGGRAPH,
        LANGSMITH,
        MLFLOW,
        OPENAI_AGENTS,
        PHOENIX,
        WEAVE,
        OPENTELEMETRY,
        REQUESTS,
    ),
    *(AGENTS, ASSISTANTS, LANGCHAIN, RESPONSES, PARTS, ANTHROPIC),
    *(SHAREGPT, CARD, EXCHANGES, OPENAI, TURNS, TEMPLATE, ROWS),
)
WRAPPED = wrapped_format(_OF_JSON, ROWS)
FORMATS = (*_OF_JSON, WRAPPED, AIDER, CAPTIONS, TEMPLATE_TEXT, USS, CHAT, CSV)
"""In order of recognition: the more specific first."""
LIST = "list"
"""What asks for the names of all, in the place of a name."""


def format_names() -> tuple[str, ...]:
    """Return the names for `--format`, sorted."""
    return tuple(sorted(f.name for f in FORMATS))


def entry_of(name: str) -> str | None:
    """Return the entry that describes a format, as it is written; None where a program reads it.

    Raises `UsageError` for an unknown format.
    """
    try:
        return entry_text(named_format(name).name)
    except FileNotFoundError:
        return None


def forced_format(name: str | None, mapping: FieldMap) -> Format | None:
    """Return the format that is named, or that a map describes; None where the content decides.

    Raises `UsageError` for an unknown name, for `LIST` with all names, and for both a name and such a map.
    """
    if not mapping.forms:
        return None if name is None else named_format(name)
    if name is not None:
        msg = f"--format {name} and a map that describes a format of its own are given"
        raise UsageError(msg, hint="keep one of them")
    return mapped_format(mapping.forms)


def named_format(name: str) -> Format:
    """Return the format of that name; raises `UsageError` for an unknown one, and for `LIST`, with all."""
    if name == LIST:
        msg = f"the formats are {', '.join(format_names())}"
        raise UsageError(msg, hint="without --format the content decides")
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    msg = f"unknown format {name!r}"
    raise UsageError(msg, hint=f"one of {', '.join(format_names())}")


def format_of(sample: Sample) -> Format | None:
    """Return the first format that recognises the beginning of a source, and that obeys the field map."""
    mapping, obeying = sample.mapping, FORMATS
    if mapping.messages is not None:
        obeying = (EXCHANGES, OPENAI, WRAPPED)
    elif mapping.prompt is not None or mapping.reply is not None:
        obeying = (ROWS, WRAPPED, CSV)
    return next((f for f in obeying if f.recognises(sample)), None)
