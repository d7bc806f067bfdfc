"""The faults of simulated users over a run, their style beside real ones, and both on a page."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from dialogauge.core import Conversation, Message
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.report import Page, to_json, to_text
from dialogauge.studies.simulator.check import SimulatorCheck, check_simulator
from dialogauge.studies.simulator.page import simulator_brief, simulator_section
from dialogauge.studies.simulator.style import StyleSample, compare_styles


def talk(number: int, *texts: str, user: str | None = None, **session: object) -> Conversation:
    messages = [m for text in texts for m in (Message("user", text), Message("assistant", "I see."))]
    metadata = {"session": {"user": session}} if session else {}
    return Conversation(f"c{number}", tuple(messages), user_id=user, metadata=metadata)


CLEAN = ("I came over the pass.", "Is there any soup left?")
ECHOING = ("I came over the pass.", "As an AI, I cannot taste soup.")


def test_shares_stand_on_the_sessions_that_have_what_is_needed() -> None:
    sessions = [talk(n, *(ECHOING if n < 3 else CLEAN), user=f"u{n}", kind="passive") for n in range(12)]
    check = check_simulator([*sessions, talk(99, *ECHOING)])
    assert check is not None
    assert (check.sessions, check.users) == (12, 12)
    rates = {rate.kind: rate for rate in check.faults}
    speaks = rates["speaks_as_other"]
    assert speaks.share.value == pytest.approx(3 / 12)
    assert speaks.share.interval is not None
    assert (speaks.share.n, speaks.left_out, speaks.cases_total) == (12, 0, 3)
    assert [c.fault.turn for c in speaks.cases] == [2, 2, 2]
    goal = rates["goal_given_away"]
    assert (goal.share.value, goal.share.n, goal.left_out) == (None, 0, 12)


def test_no_session_has_no_check() -> None:
    assert check_simulator([talk(1, *CLEAN)]) is None
    assert check_simulator([replace(talk(1, *CLEAN, kind="passive"), messages=())]) is None


def sample(name: str, words: list[int], per_user: int = 5) -> StyleSample:
    made = StyleSample(name)
    for at, count in enumerate(words):
        made.read(talk(at, " ".join(["word"] * count), user=f"{name}{at // per_user}"))
    return made


def test_lengths_are_compared_by_geometric_means() -> None:
    rng = random.Random(0)
    real = sample("real", [rng.choice((4, 8, 16)) for _ in range(200)])
    simulated = sample("simulated", [rng.choice((12, 24, 48)) for _ in range(200)])
    style = compare_styles(simulated, real)
    assert style is not None
    times = style.times_as_long
    logs = [sum(row[0] for row in side.rows) / 200 for side in (real, simulated)]
    assert times.value == pytest.approx(math.exp(logs[1] - logs[0]))
    assert times.low is not None
    assert times.high is not None
    assert times.low < 3 < times.high
    length = style.figures[0]
    assert (length.name, length.real) == ("length", pytest.approx(math.exp(logs[0])))
    assert length.difference.value == pytest.approx((logs[1] - logs[0]) / 0.566, rel=0.05)


def test_alike_users_differ_by_nothing() -> None:
    one, other = sample("a", [4, 8, 16, 5, 9] * 10), sample("b", [4, 8, 16, 5, 9] * 10)
    style = compare_styles(one, other)
    assert style is not None
    for figure in style.figures:
        assert figure.difference.value == pytest.approx(0, abs=1e-9)
    assert compare_styles(one, StyleSample("none")) is None


def test_chinese_has_no_lower_case() -> None:
    made = StyleSample("zh")
    made.read(talk(1, "你好,请帮我查一下订单。", "谢谢"))
    style = compare_styles(made, made)
    assert style is not None
    assert {f.name: f.real for f in style.figures}["begins_in_lower_case"] is None


def made_check() -> SimulatorCheck:
    sessions = [talk(n, *(ECHOING if n < 3 else CLEAN), user=f"u{n}", kind="passive") for n in range(12)]
    check = check_simulator(sessions, sample("real.jsonl", [3, 4, 5, 6, 7, 8] * 5))
    assert check is not None
    return check


def test_it_is_read_as_it_was_written() -> None:
    check = made_check()
    assert read_as(as_json(check), SimulatorCheck) == check


def test_the_page_has_every_fault_its_count_and_its_quote() -> None:
    section = simulator_section(made_check())
    written = str(to_json(section))
    for words in (
        "speaks as the other side",
        "never objects",
        "As an AI, I cannot taste soup.",
        "c0, turn 2",
    ):
        assert words in written
    shown = to_text(Page("p", (simulator_brief(made_check()),)))
    assert "times as long" in shown
    assert shown.count("As an AI") == 1
