"""What every judge that runs a rubric on a model says of itself, and in which language it asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.core import Conversation, UsageError, digest
from dialogauge.judge.dialogue_text import prompt_language
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient
from dialogauge.prompts import Rubric

__all__ = ["chosen_language", "identity", "identity_digest", "refuse_language"]


def refuse_language(rubric: Rubric, language: str) -> None:
    """Raise UsageError for a language, other than `auto`, in which the rubric has no template."""
    if language != "auto" and language not in rubric.languages:
        msg = f"the rubric {rubric.id!r} has no template in {language!r}"
        raise UsageError(msg, hint=f"it has {', '.join(rubric.languages)}")


def chosen_language(rubric: Rubric, language: str, conversation: Conversation) -> str:
    """Return the language of the prompts; `auto` goes by the conversation."""
    return prompt_language(conversation, rubric.languages) if language == "auto" else language


def identity(kind: str, rubric: Rubric, client: ChatClient, language: str) -> dict[str, Any]:
    """Return judge, rubric, prompt digests and model as plain JSON values."""
    languages = rubric.languages if language == "auto" else (language,)
    return {
        "judge": kind,
        "rubric": rubric.id,
        "rubric_version": rubric.version,
        "prompts": {lang: rubric.prompt_digest(lang) for lang in languages},
        "client": dict(client.describe()),
    }


def identity_digest(described: Mapping[str, Any], client: ChatClient) -> str:
    """Return the digest of a judge: it changes with prompts, model, parameters and settings."""
    return digest({**described, "client": dict(client_identity(client))})
