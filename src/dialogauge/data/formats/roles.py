"""Who speaks, by the names that logs have for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dialogauge.core import Role
from dialogauge.data.formats.base import Entry
from dialogauge.data.notes import excerpt

ROLE_ALIASES: dict[str, Role] = {
    "human": "user",
    "customer": "user",
    "usr": "user",
    "gpt": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "agent": "assistant",
    "model": "assistant",
    "sys": "assistant",
    "visitor": "user",
    "client": "user",
    "operator": "assistant",
    "support": "assistant",
    "llm": "assistant",
    "inbound": "user",
    "outbound": "assistant",
    **dict.fromkeys(("用户", "客户", "顾客", "访客", "提问者", "我"), "user"),
    **dict.fromkeys(("助手", "助理", "客服", "机器人", "智能客服", "模型"), "assistant"),
    "incoming": "user",
    "outgoing": "assistant",
    "end_user": "user",
    "ai_agent": "assistant",
    "virtual_agent": "assistant",
}
"""Common role names in tables and logs; each use is noted as an assumption."""


def note_shared(names: Mapping[Role, Collection[str]], entry: Entry) -> None:
    """Note where several speakers of one conversation have one role, as an agent and a bot do."""
    for role, several in names.items():
        if role in ("user", "assistant") and len(several) > 1:
            shown = ", ".join(map(excerpt, sorted(several)))
            hint = "say in a field map (--map) who is who, as in roles.NAME=user"
            entry.assume(f"conversations have several speakers read as {role}: {shown}", hint)


def role_named(name: str, entry: Entry) -> Role | None:
    """Return the role of a name, by the field map first; None for an unknown name.

    A role that is taken from a common name is noted as an assumption.
    """
    plain = name.strip().lower()
    role = entry.mapping.role_of(name)
    if role is None:
        role = entry.mapping.role_of(plain) or ROLE_ALIASES.get(plain)
        if role is not None:
            entry.assume(f"messages have the role {name!r}: read as {role}")
    return role
