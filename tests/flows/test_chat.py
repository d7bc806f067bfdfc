"""A person at the terminal: what is shown, kept, drawn and asked."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

BOTS = """
def a(messages):
    return f"A heard {messages[-1]['content']!r}."
def b(messages):
    return f"B heard {messages[-1]['content']!r}."
def mute(messages):
    return ""
"""
HUT = {
    "id": "hut",
    "name": "Brenna",
    "text": "Brenna keeps a hut.",
    "greeting": "Boots off.",
    "user": {"persona": "I lost my map.", "goal": "a bed", "facts": {"nights": 2}},
}


@pytest.fixture
def chat(dialogauge, log, tmp_path, monkeypatch, request):
    name = "chat_bots_" + re.sub(r"\W", "_", request.node.name)
    (tmp_path / f"{name}.py").write_text(BOTS)
    scenarios = log(HUT, HUT | {"id": "mill", "name": "Jon"}, name="scenarios.jsonl")

    def run(typed: str, *words: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        references = [word.replace("BOTS", f"py:{name}") for word in words]
        return dialogauge("chat", scenarios, "-o", "run", *references)

    return run


def test_a_session_is_kept_with_its_ratings(chat, dialogauge, tmp_path) -> None:
    done = chat("hello\n\nwhy?\n/end\nx\n9\n3.5\n4\n\n", "--candidate", "a=BOTS:a", "--rater", "li")
    assert done.code == 0, done.err
    for words in ("You talk with Brenna.", "You are: I lost my map.", "You want: a bed", "nights: 2"):
        assert words in done.out
    places = [done.out.index(text) for text in ("Boots off.", "A heard 'hello'.", "A heard 'why?'")]
    assert places == sorted(places)
    assert "You talked with a." in done.out
    ratings = [json.loads(line) for line in (tmp_path / "run" / "ratings.jsonl").read_text().splitlines()]
    (rating,) = ratings
    assert (rating["conversation_id"], rating["rater"], rating["score"]) == ("hut", "li", 4)
    # The first of the four dimensions; the others were left out.
    assert rating["dimension"] == "interactive_ability"
    assert done.out.count("empty: none") == 4 + 3
    shown = dialogauge("show", "run", "hut").out
    assert re.findall("user: (.*)", shown) == ["hello", "why?"]
    assert dialogauge("judge", "run", "--ratings", "run/ratings.jsonl", "-o", "judged").code == 0


def test_sessions_add_up_and_the_draw_is_blind(chat, dialogauge) -> None:
    drawn = set()
    both = ("--candidate", "a=BOTS:a", "--candidate", "b=BOTS:b")
    for seed in range(6):
        done = chat("hello\n/end\n", *both, "--seed", str(seed))
        assert done.code == 0, done.err
        last = re.search("You talked with (.)", done.out)
        assert last is not None
        drawn.add(last[1])
        assert f"candidate {last[1]}" not in done.out
    assert drawn == {"a", "b"}
    for number in range(1, 7):
        name = "hut" if number == 1 else f"hut/{number}"
        assert dialogauge("show", "run", name).out.startswith(f"{name} · hut · ")


def test_the_last_turn_ends_it_and_another_scenario_can_be_named(chat) -> None:
    done = chat("one\ntwo\n", "--candidate", "a=BOTS:a", "--turns", "2", "--scenario", "mill")
    assert done.code == 0
    assert "You talk with Jon." in done.out
    assert "session mill: run" in done.out


def test_a_candidate_that_says_nothing_leaves_no_rating(chat, tmp_path) -> None:
    done = chat("hello\n", "--candidate", "mute=BOTS:mute")
    assert done.code == 1
    assert "the candidate failed in turn 1" in done.err
    assert (tmp_path / "run" / "ratings.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--candidate", "a=BOTS:a", "--scenario", "lake"), "has no scenario 'lake'"),
        (("--candidate", "a=BOTS:a", "--rubric", "td-turn"), "has no dimension of whole conversations"),
        ((), "no candidate is given"),
    ],
)
def test_what_cannot_be_done_is_said_before_anybody_types(chat, tmp_path, words, message) -> None:
    done = chat("", *words)
    assert (done.code, message in done.err) == (2, True)
    assert not (tmp_path / "run").exists()
