"""Sessions with held-out personas: what they begin with, and what was gained before and after."""

from __future__ import annotations

import json

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.training import gains_of, read_prompts

NAMES = {"reward": "judge", "second": "other"}


def row(persona, number, score, second=3.0):
    scores = None if score is None else {"voice": score, "memory": score + 1}
    return {
        "id": f"{persona}/{number}",
        "scenario": persona,
        "scores": scores,
        "second": None if second is None else {"voice": second},
    }


def test_gains_are_paired_by_session_and_clustered_by_persona():
    before = [row(f"p{i}", n, 2.0) for i in range(8) for n in (1, 2)]
    after = [row(f"p{i}", n, 3.0 + (i % 2) / 2, 2.5) for i in range(8) for n in (1, 2)]
    mean, second, voice, memory = gains_of(before, after, NAMES, (1, 5))
    # The mean of both dimensions rises from 2.5 to 3.5 or 4 in turn.
    of = mean.comparison
    assert (of.figure_b, of.figure_a, of.difference.value, of.side) == (2.5, 3.75, 1.25, "above")
    assert (of.difference.clusters, mean.sessions, mean.failed) == (8, 16, 0)
    assert of.difference.low < 1.25 < of.difference.high
    assert second.judge == "second"
    assert (second.comparison.difference.value, second.comparison.side) == (-0.5, "below")
    assert (voice.dimension, voice.comparison.figure_b, voice.comparison.figure_a) == ("voice", 2.0, 3.25)
    assert memory.comparison.figure_a == 4.25


def test_a_session_that_failed_on_either_side_is_left_out_and_counted():
    before = [row(f"p{i}", 1, None if i == 0 else 2.0) for i in range(8)]
    after = [row(f"p{i}", 1, None if i == 1 else 4.0, None) for i in range(8)]
    mean, second, *_ = gains_of(before, after, NAMES, (1, 5))
    assert (mean.comparison.difference.value, mean.sessions, mean.failed) == (2.0, 6, 2)
    assert (second.sessions, second.failed) == (0, 8)
    assert (second.comparison.difference.value, second.comparison.side) == (None, "undefined")


def test_too_few_personas_have_no_interval():
    before, after = ([row(f"p{i}", 1, score) for i in range(3)] for score in (2.0, 4.0))
    mean = gains_of(before, after, NAMES, (1, 5))[0]
    of = mean.comparison
    assert (of.difference.value, of.difference.low, of.side) == (2.0, None, "too few to tell")


def test_sessions_begin_with_prompts_or_with_scenarios(tmp_path):
    scenario = {
        "id": "rosa",
        "name": "Rosa",
        "text": "Rosa keeps an inn.",
        "user": {"persona": "I am a guest."},
    }
    context = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Come in."}]
    prompt = {
        "prompt": [{"role": "system", "content": "You are Rosa."}, *context],
        "scenario": scenario,
        "persona_id": "rosa",
        "context_turns": 1,
    }
    rows, scenarios = tmp_path / "rl.jsonl", tmp_path / "scenarios.jsonl"
    rows.write_text(json.dumps(prompt) + "\n")
    scenarios.write_text(json.dumps({**scenario, "greeting": "You are late."}) + "\n")
    (read,) = read_prompts(rows)
    assert (read.persona, read.beginning.prefix) == ("rosa", 3)
    assert [m.text for m in read.beginning.messages] == ["You are Rosa.", "Hello.", "Come in."]
    assert read.beginning.user_id == "rosa"
    (of_scenario,) = read_prompts(scenarios)
    assert of_scenario.beginning.messages[-1].text == "You are late."
    assert of_scenario.beginning.prefix == 2


def test_what_sessions_cannot_begin_with(tmp_path):
    file = tmp_path / "rows.jsonl"
    with pytest.raises(FileFault, match="cannot be read"):
        read_prompts(file)
    pair = {"prompt": [{"role": "user", "content": "Hi."}]}
    sides = {name: [{"role": "assistant", "content": name}] for name in ("chosen", "rejected")}
    file.write_text(json.dumps({**pair, **sides}) + "\n")
    with pytest.raises(RecordFault, match=r"rows.jsonl:1: .*no prompt of sessions|no prompt of sessions"):
        read_prompts(file)
