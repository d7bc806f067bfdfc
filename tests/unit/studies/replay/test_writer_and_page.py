"""A candidate's reply as it is taken, and the page as it is laid out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bench_samples import sample_comparison
from dialogauge.agents import ChatAgent, reply_of
from dialogauge.core import Conversation, Message
from dialogauge.core.protocols import AgentFailure, AgentReply
from dialogauge.llm import ChatFailure, ChatReply, ScriptedClient
from dialogauge.report import Leaderboard, to_html, to_text
from dialogauge.studies.replay.comparison import Compared
from dialogauge.studies.replay.page import brief, replay_page
from dialogauge.studies.replay.page_parts import warnings_of


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("  Yes. \n", "Yes."),
        ("```\nYes.\n```", "Yes."),
        ("```markdown\n# Plan\n```", "# Plan"),
        ("Code:\n```\nx\n```", "Code:\n```\nx\n```"),
        ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ("   ", ""),
        ("<think>They want trains.</think>\nTake the train.", "Take the train."),
        ("<think>They want tr", ""),
    ],
)
def test_replies_without_what_stands_around_them(text, taken) -> None:
    assert reply_of(text) == taken


def compared(comparison, items, judge):
    return Compared({"satisfaction": comparison}, items, {"name": judge})


def test_a_reply_or_a_failure() -> None:
    client = ScriptedClient(["Yes.", " ", ChatFailure("refused", "no")])
    agent = ChatAgent("m", "d", client)
    talk = Conversation("i", (Message("user", "Well?"),))

    async def three():
        return [await agent.reply(talk, seed=3) for _ in range(3)]

    good, empty, refused = asyncio.run(three())
    assert good.outcome == AgentReply("Yes.", "stop", "scripted")
    assert not good.failed
    assert isinstance(empty.outcome, AgentFailure)
    assert empty.outcome.kind == "empty_reply"
    assert isinstance(refused.outcome, AgentFailure)
    assert refused.outcome.kind == "refused"
    assert [r.salt for r in client.requests] == [3, 3, 3]
    assert client.requests[0].messages == ({"role": "user", "content": "Well?"},)


def test_a_candidate_gets_no_key_that_an_api_refuses() -> None:
    """Not when a message was sent, and above all not what another model thought before its reply."""
    said = Message("assistant", "At ten.", extra={"reasoning": "They want times.", "created_at": 5})
    client = ScriptedClient(["Yes."])
    talk = Conversation("i", (Message("user", "When?", extra={"id": "m1"}), said, Message("user", "Sure?")))
    asyncio.run(ChatAgent("m", "d", client).reply(talk))
    assert client.requests[0].messages == (
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At ten."},
        {"role": "user", "content": "Sure?"},
    )


@pytest.mark.parametrize(
    ("finish", "kind"), [("length", "truncated"), ("filter", "refused"), ("stop", "empty_reply")]
)
def test_why_a_reply_is_empty(finish, kind) -> None:
    agent = ChatAgent("m", "d", ScriptedClient([ChatReply("", finish)]))
    talk = Conversation("i", (Message("user", "Well?"),))
    turn = asyncio.run(agent.reply(talk))
    assert turn.failed
    assert isinstance(turn.outcome, AgentFailure)
    assert turn.outcome.kind == kind


def test_the_page_shows_names_as_text_and_warns() -> None:
    comparison, items = sample_comparison("<b>evil</b>\u202e")
    hard = replace(items, rule="hard")
    warned_before = warnings_of(comparison, items, {})
    evil = "<b>evil</b>\u202e"
    comparison.scores.missing[evil].update({i.id: "reply: timeout" for i in items.items[:2]})
    comparison.scores.about[evil]["organisation"] = "<i>"
    made = {"command": "dialogauge replay compare run", "created": "today", "version": "0"}
    whole = replay_page(compared(comparison, hard, "local"), **made)
    page = to_html(whole)
    assert "\u202e" not in to_text(brief(compared(comparison, hard, "local")))
    assert "<b>evil" not in page
    assert "\u202e" not in page
    assert "&lt;i&gt;" in page
    first = next(s for s in whole.blocks if getattr(s, "title", "") == "Leaderboard")
    boards = [b for b in first.blocks if isinstance(b, Leaderboard)]
    assert [b.title for b in boards] == ["Leaderboard, raw"]
    assert page.count("Leaderboard, ") == len(comparison.views)
    assert all(len(one.parts) == 5 for board in boards for one in board.rows)
    told = " ".join(warnings_of(comparison, hard, {}))
    assert "chosen by how their users rated them" in told
    assert "within the interval of" in told
    assert "Items without a score" in told
    assert warned_before[0].startswith("raw: a candidate whose every reply is given a 5")
