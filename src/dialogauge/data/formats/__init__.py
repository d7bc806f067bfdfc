"""The file formats of conversations, one module each."""

from __future__ import annotations

from dialogauge.core import UsageError
from dialogauge.data.formats.aider import AIDER
from dialogauge.data.formats.anthropic import ANTHROPIC
from dialogauge.data.formats.arena import ARENA
from dialogauge.data.formats.autotod import AUTOTOD
from dialogauge.data.formats.base import Format, RecordFormat, Sample
from dialogauge.data.formats.braintrust import BRAINTRUST
from dialogauge.data.formats.captions import CAPTIONS
from dialogauge.data.formats.card import CARD
from dialogauge.data.formats.chat import CHAT
from dialogauge.data.formats.chatgpt import CHATGPT
from dialogauge.data.formats.claude import CLAUDE
from dialogauge.data.formats.claude_code import CLAUDE_CODE
from dialogauge.data.formats.codex import CODEX
from dialogauge.data.formats.csv_table import csv_format
from dialogauge.data.formats.exchanges import EXCHANGES
from dialogauge.data.formats.gemini import GEMINI
from dialogauge.data.formats.helpdesk import HELPDESK
from dialogauge.data.formats.inspect_log import INSPECT
from dialogauge.data.formats.items import AGENTS, ASSISTANTS, LANGCHAIN, PARTS, RESPONSES
from dialogauge.data.formats.langfuse import LANGFUSE
from dialogauge.data.formats.langgraph import LANGGRAPH
from dialogauge.data.formats.langsmith import LANGSMITH
from dialogauge.data.formats.librechat import LIBRECHAT
from dialogauge.data.formats.lm_eval import LM_EVAL
from dialogauge.data.formats.lmstudio import LMSTUDIO
from dialogauge.data.formats.messenger import MESSENGER
from dialogauge.data.formats.oasst import OASST
from dialogauge.data.formats.openai import OPENAI
from dialogauge.data.formats.openai_agents import OPENAI_AGENTS
from dialogauge.data.formats.promptfoo import PROMPTFOO
from dialogauge.data.formats.rasa import RASA
from dialogauge.data.formats.recllmsim import RECLLMSIM
from dialogauge.data.formats.requests import REQUESTS
from dialogauge.data.formats.rows import ROWS
from dialogauge.data.formats.sharegpt import SHAREGPT
from dialogauge.data.formats.tau import TAU
from dialogauge.data.formats.tau2 import TAU2
from dialogauge.data.formats.telemetry import MLFLOW, OPENTELEMETRY, PHOENIX
from dialogauge.data.formats.template import TEMPLATE, TEMPLATE_TEXT
from dialogauge.data.formats.turns import TURNS
from dialogauge.data.formats.ultrafeedback import ULTRAFEEDBACK
from dialogauge.data.formats.urs import URS
from dialogauge.data.formats.uss import USS
from dialogauge.data.formats.weave import WEAVE
from dialogauge.data.formats.wildchat import WILDCHAT
from dialogauge.data.formats.wrapped import wrapped_format

_OF_JSON: tuple[Format, ...] = (
    *(RECLLMSIM, URS, TAU, TAU2, AUTOTOD, LM_EVAL, ULTRAFEEDBACK),
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
CSV = csv_format([one for one in _OF_JSON if isinstance(one, RecordFormat)])
WRAPPED = wrapped_format(_OF_JSON, ROWS)
FORMATS = (*_OF_JSON, WRAPPED, AIDER, CAPTIONS, TEMPLATE_TEXT, USS, CHAT, CSV)
"""In order of recognition: the more specific first."""
LIST = "list"
"""What asks for the names of all, in the place of a name."""


def format_names() -> tuple[str, ...]:
    """Return the names for `--format`, sorted."""
    return tuple(sorted(f.name for f in FORMATS))


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
    """Return the first format that recognises the beginning of a source."""
    return next((f for f in FORMATS if f.recognises(sample)), None)
