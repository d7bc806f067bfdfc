"""`tune` on sessions that the model plays: by the command, with functions as user and judge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


def rows(characters):
    from dialogauge.agents.personas import scenario_json

    return [
        {
            "prompt": [{"role": "system", "content": c.system}],
            "scenario": scenario_json(c.scenario),
            "persona_id": c.scenario.id,
            "context_turns": 0,
        }
        for c in characters
    ]


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    from tiny_policy import tiny_policy

    return tiny_policy(tmp_path_factory.getbasetemp())


@pytest.fixture
def world(tmp_path):
    from benchmarks.toy_roleplay import HELD_OUT, TRAIN
    from benchmarks.toy_roles import write_rubric

    from tiny_policy import write_rows

    write_rubric(tmp_path / "toy.toml", "conversation")
    write_rows(tmp_path / "rl.jsonl", rows(TRAIN[:4]))
    write_rows(tmp_path / "held.jsonl", rows(HELD_OUT[:6]))
    return tmp_path


def roles(**functions):
    named = {"simulator": "user", "judge": "judge", **functions}
    return [
        word for role, name in named.items() for word in ("--role", f"{role}=py:benchmarks.toy_roles:{name}")
    ]


SHAPE = (
    *(
        "--turns",
        2,
        "--reply-tokens",
        12,
        "--steps",
        2,
        "--group",
        4,
        "--max-length",
        400,
        "--rubric",
        "toy.toml",
    ),
    *("--device", "cpu", "--learning-rate", "2e-4", "--held-out-sessions", 1),
)


def test_gsrpo_trains_plays_before_and_after_and_is_compared(dialogauge, policy, world):
    second = roles(second="second")
    asked = ("--model", policy, "--data", "rl.jsonl", "--held-out", "held.jsonl", *SHAPE)
    refused = dialogauge("tune", "gsrpo", *asked, *second, "-o", "gsrpo")
    assert refused.code == 2
    assert "the reward would rest on a judge that is not checked: in_character" in refused.err
    done = dialogauge("tune", "gsrpo", *asked, *second, "-o", "gsrpo", "--unchecked")
    assert done.code == 0, done.err
    assert done.out.index("UNCHECKED") < done.out.index("Sessions with held-out personas")
    assert "3.35 from people, below the 3.37 of another" in done.unwrapped
    kept = [json.loads(line) for line in (world / "gsrpo" / "sessions.jsonl").read_text().splitlines()]
    assert len(kept) == 16
    assert all(1 <= row["reward"] <= 5 for row in kept)
    held = [json.loads(line) for line in (world / "gsrpo" / "held_out.jsonl").read_text().splitlines()]
    assert [row["candidate"] for row in held] == ["before"] * 6 + ["gsrpo"] * 6
    # The users are the same before and after; what the models say may differ.
    assert [r["messages"][1] for r in held[:6]] == [r["messages"][1] for r in held[6:]]
    manifest = json.loads((world / "gsrpo" / "tune.json").read_text())
    assert [(g["judge"], g["dimension"], g["sessions"]) for g in manifest["gains"]] == [
        ("reward", None, 6),
        ("second", None, 6),
    ]
    page = (world / "gsrpo" / "tune.html").read_text()
    assert "Divergence from the model before" in page
    # A tuned folder is a candidate; its held-out sessions are a log that other commands read.
    assert dialogauge("judge", "gsrpo/held_out.jsonl", "-o", "judged").code == 0
    again = dialogauge("tune", "gsrpo", *asked, *second, "-o", "gsrpo", "--unchecked")
    assert "nothing is left to do" in again.err
    shutil.copytree(world / "gsrpo", world / "other")
    renamed = (
        (world / "other" / "held_out.jsonl").read_text().replace('"candidate":"gsrpo"', '"candidate":"other"')
    )
    (world / "other" / "held_out.jsonl").write_text(renamed)
    ratings = [
        {
            "conversation_id": r["id"],
            "candidate": name,
            "dimension": "in_character",
            "rater": "ann",
            "score": score,
        }
        for name, score in (("gsrpo", 3), ("other", 4))
        for r in held[6:]
    ]
    Path(world / "people.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ratings))
    compared = dialogauge("tune", "compare", "gsrpo", "other", "--ratings", "people.jsonl", "--json")
    assert compared.code == 0, compared.err
    result = json.loads(compared.out)
    assert [(a["name"], a["level"], a["means"]["people"]["mean"]["value"]) for a in result["arms"]] == [
        ("gsrpo", "session", 3.0),
        ("other", "session", 4.0),
    ]
    gains = {g["by"]: g["comparison"]["a_better_by"]["value"] for g in result["gains"]}
    assert gains == {"people": 1.0, "reward": 0.0, "second": 0.0}


def test_grpo_has_one_turn_and_a_judge_that_fails_trains_nothing(dialogauge, policy, world):
    asked = ("--model", policy, "--data", "rl.jsonl", *SHAPE, "--unchecked")
    done = dialogauge("tune", "grpo", *asked, *roles(), "-o", "grpo")
    assert done.code == 0, done.err
    kept = [json.loads(line) for line in (world / "grpo" / "sessions.jsonl").read_text().splitlines()]
    assert {len(row["messages"]) for row in kept} == {3}
    failed = dialogauge("tune", "gsrpo", *asked, *roles(judge="user"), "-o", "failed")  # no JSON
    assert failed.code != 0
    assert "every session of step 1 failed" in failed.err
    assert not (world / "failed" / "model.safetensors").exists()


def test_training_on_rows_is_played_too(dialogauge, policy, world):
    from benchmarks.toy_roleplay import TRAIN, segment_pairs

    from tiny_policy import write_rows

    write_rows(world / "pairs.jsonl", segment_pairs(TRAIN, 8, seed=1))
    shape = ("--turns", 2, "--reply-tokens", 12, "--rubric", "toy.toml", "--steps", 1, "--device", "cpu")
    asked = ("--model", policy, "--data", "pairs.jsonl", "--held-out-personas", "held.jsonl", *shape)
    done = dialogauge("tune", "dspo", *asked, *roles(), "-o", "dspo")
    assert done.code == 0, done.err
    assert "Sessions with held-out personas" in done.out
    nobody = dialogauge("tune", "dspo", *asked, "-o", "other")
    assert "nobody plays the users" in nobody.err


def test_a_second_judge_is_another_one(dialogauge, policy, world):
    asked = ("--model", policy, "--data", "rl.jsonl", *SHAPE, "--unchecked")
    refused = dialogauge("tune", "gsrpo", *asked, *roles(second="judge"), "-o", "out")
    assert refused.code == 2
    assert "the second judge is the judge that gives the reward" in refused.err
