"""`judge`, `agreement` and `satisfaction` give one answer to whether the judge agrees with its users."""

from __future__ import annotations

import json
import random

import pytest

FIGURES = ("answer", "judge", "difference", "controls", "within", "level", "dimension")


@pytest.fixture
def rated(tmp_path):
    """Dialogues of eight users in two scenarios; those with a repeated request are rated poorly."""
    rng, lines = random.Random(5), []
    for number in range(48):
        user, messages, ratings = f"u{number % 8}", [], []
        for turn in range(1, 5):
            poor = rng.random() < 0.3
            messages.append({"role": "user", "content": f"Please tell me about item {number}, part {turn}."})
            messages.append({"role": "assistant", "content": "Sorry?" if poor else f"It costs {turn} euros."})
            score = rng.choice((1, 2, 3)) if poor else rng.choice((4, 5))
            ratings.append({"dimension": "satisfaction", "turn": turn, "score": score, "rater": user})
        talk = {"conversation_id": f"c{number}", "user_id": user, "messages": messages, "ratings": ratings}
        lines.append(json.dumps(talk | {"scenario": ("shop", "bank")[number // 8 % 2]}))
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def light_in(path, *keys):
    value = json.loads(path.read_text())
    for key in keys:
        value = value[key]
    return {key: value[key] for key in FIGURES}


@pytest.mark.long
def test_the_three_commands_print_the_same_answer(rated, dialogauge):
    judged = dialogauge("judge", "log.jsonl", "-o", "run")
    personal = ("--judge", "local", "--mode", "hindsight", "--split", "all", "-o", "said")
    satisfied = dialogauge("satisfaction", "log.jsonl", *personal)
    agreements = [dialogauge("agreement", name, "-o", f"of-{name}") for name in ("run", "said")]
    assert [done.code for done in (judged, satisfied, *agreements)] == [0, 0, 0, 0]
    first = light_in(rated / "run" / "summary.json", "people", "light")
    assert first["judge"]["n"] == 192
    assert light_in(rated / "said" / "summary.json", "light") == first
    assert light_in(rated / "of-run" / "agreement.json", "lights", "run", 0) == first
    assert light_in(rated / "of-said" / "agreement.json", "lights", "said", 0) == first
    low, high = (100 * first["judge"][end] for end in ("low", "high"))
    figure = f"{100 * first['judge']['value']:.0f} % of pairs [{low:.0f}, {high:.0f}]"
    for done in (judged, satisfied, *agreements):
        assert figure in done.unwrapped
    summary = json.loads((rated / "of-run" / "agreement.json").read_text())
    assert summary["judges"][0]["figures"]["auc"]["value"] == pytest.approx(first["judge"]["value"])


@pytest.mark.long
def test_agreement_uses_the_ratings_that_the_run_holds_or_those_that_are_given(rated, dialogauge):
    dialogauge("judge", "log.jsonl", "-o", "run")
    done = dialogauge("agreement", "run")
    assert "satisfaction of turns. 192 rated targets, 192 scored" in done.unwrapped
    rows = ["conversation_id,turn,dimension,rater,score"]
    rows += [f"c{c},{t},satisfaction,u{c % 8},{1 + (3 * c + t) % 5}" for c in range(48) for t in range(1, 5)]
    (rated / "others.csv").write_text("\n".join(rows) + "\n")
    given = dialogauge("agreement", "run", "--ratings", "others.csv", "-o", "given")
    assert given.code == 0, given.err
    dialogauge("judge", "log.jsonl", "--ratings", "others.csv", "-o", "again")
    again = light_in(rated / "again" / "summary.json", "people", "light")
    assert light_in(rated / "given" / "agreement.json", "lights", "run", 0) == again


def test_scores_of_other_names_are_compared_with_what_people_said_of_the_whole(rated, dialogauge):
    dialogauge("judge", "log.jsonl", "-o", "run")
    done = dialogauge("agreement", "run", "--dimension", "helpfulness=satisfaction")
    assert "(by its helpfulness)" in done.unwrapped


POOR = (
    "I'm sorry, I cannot help you with that request.",
    "Sorry, but I'm not able to help with that. Unfortunately this is something I cannot assist with.",
)
GOOD = (
    "Item {0} costs {1} euros and is in stock.",
    "Item {0} costs {1} euros. It comes in three colours, and all of them are in stock today.",
)


@pytest.fixture
def refusals(tmp_path):
    """Dialogues of 20 users; refusals are rated poorly, and are as long as answers."""
    rng, lines = random.Random(7), []
    for number in range(80):
        user, messages, ratings = f"u{number % 20}", [], []
        for turn in range(1, 6):
            poor = rng.random() < 0.35
            reply = rng.choice(POOR if poor else GOOD).format(number, turn)
            messages.append({"role": "user", "content": f"Please tell me about item {number}, part {turn}."})
            messages.append({"role": "assistant", "content": reply})
            score = rng.choice((1, 2) if poor else (4, 5))
            ratings.append({"dimension": "satisfaction", "turn": turn, "score": score, "rater": user})
        talk = {"conversation_id": f"c{number}", "user_id": user, "messages": messages, "ratings": ratings}
        lines.append(json.dumps(talk))
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.long
def test_a_stored_check_lets_the_same_judge_gate_other_conversations_of_its_kind(refusals, dialogauge):
    talks = [json.loads(line) for line in (refusals / "log.jsonl").read_text().splitlines()]
    new = [{**talk, "conversation_id": f"n{n}", "ratings": []} for n, talk in enumerate(talks)]
    (refusals / "new.jsonl").write_text("\n".join(map(json.dumps, new)) + "\n")
    rubric = ("--rubric", "satisfaction")
    dialogauge("judge", "log.jsonl", *rubric, "-o", "run")
    stored = json.loads((refusals / "run" / "summary.json").read_text())["evidence"]["dimensions"]
    assert stored["satisfaction"]["checked"], stored
    dialogauge("agreement", "run", "-o", "agreement")
    gated = ("judge", "new.jsonl", *rubric, "--gate", "satisfaction.mean>=1", "-o", "gated")
    assert dialogauge(*gated).code == 2
    for check in ("run", "agreement"):
        done = dialogauge(*gated, "--checked-by", check)
        assert done.code == 0, done.out
        summary = json.loads((refusals / "gated" / "summary.json").read_text())
        assert summary["dimensions"]["satisfaction"]["checked_by"].endswith(f"(stored in {check})")
    other = dialogauge("judge", "new.jsonl", "--checked-by", "run", "-o", "card")
    assert other.code == 2
    assert "it is of another judge, model or version" in other.err
    unrated = dialogauge(*gated[:-1], "again", "--checked-by", "gated")
    assert unrated.code == 0, unrated.err  # it was checked by the stored check there
    nothing = dialogauge("judge", "new.jsonl", "-o", "bare")
    assert nothing.code == 0
    idle = dialogauge("judge", "new.jsonl", "-o", "idle", "--checked-by", "bare")
    assert idle.code == 2
    assert "nothing is checked there" in idle.err


def test_a_judge_of_which_nothing_came_shows_no_checks(dialogauge, tmp_path):
    talk = {"conversation_id": "c1", "messages": [{"role": "user", "content": "Hello?"}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(talk) + "\n")
    done = dialogauge("judge", "log.jsonl", "-o", "run")
    assert "0 judged" in done.out
    assert "How far to trust these numbers" not in done.out + (tmp_path / "run" / "report.html").read_text()
