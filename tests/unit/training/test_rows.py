"""Which rows are written: without repetitions, far enough apart, capped, and parted by users."""

from __future__ import annotations

from collections import Counter

import pytest

from dialogauge.core import UsageError
from dialogauge.training import Provenance, TrainingRow, apart, capped, parted, without_duplicates


def row(name, *, user=None, chosen_user=None, persona=None, scores=None, unchecked=False):
    known = Provenance(
        conversation_id=name,
        user=user,
        chosen_user=chosen_user,
        persona=persona,
        scores=scores,
        unchecked=unchecked,
    )
    side = [{"role": "assistant", "content": name}]
    return TrainingRow({"prompt": [{"role": "user", "content": "?"}], "chosen": side, "rejected": []}, known)


def ids(rows):
    return [one.provenance.conversation_id for one in rows]


def test_a_line_says_what_is_known_and_nothing_else():
    known = Provenance(conversation_id="c", turn=2, scores=(4.0, 2.5), model_chosen="m", chosen_first=False)
    assert known.to_json() == {
        "conversation_id": "c",
        "turn": 2,
        "source": "judge",
        "rating": None,
        "judge": None,
        "prompt_digest": None,
        "verdict": None,
        "quality": None,
        "issues": [],
        "model_chosen": "m",
        "chosen_first": False,
        "score_chosen": 4.0,
        "score_rejected": 2.5,
        "margin": 1.5,
    }
    unchecked = row("c", unchecked=True)
    assert next(iter(unchecked.marked().data)) == "unchecked"
    assert next(iter(unchecked.provenance.to_json())) == "unchecked"


def test_the_same_row_is_written_once_whatever_it_rests_on():
    left_out = Counter()
    rows = [row("a", user="u1"), row("b"), row("a", user="u2", unchecked=True)]
    assert ids(without_duplicates(rows, left_out)) == ["a", "b"]
    assert left_out == {"the same row once more": 1}


def test_pairs_nearer_than_the_margin_go_and_those_without_scores_stay():
    left_out = Counter()
    rows = [row("far", scores=(4.0, 3.5)), row("near", scores=(4.0, 3.6)), row("votes")]
    assert ids(apart(rows, 0.5, left_out)) == ["far", "votes"]
    assert left_out == {"less than 0.5 points apart": 1}


def test_a_cap_holds_for_each_user_and_keeps_the_order():
    rows = [row(f"{user}{n}", user=user) for n in range(4) for user in ("u", "v")] + [row("x"), row("y")]
    left_out = Counter()
    kept = capped(rows, 2, "user", left_out, seed=3)
    assert Counter(name[0] for name in ids(kept)) == {"u": 2, "v": 2, "x": 1, "y": 1}
    assert ids(kept) == [name for name in ids(rows) if name in ids(kept)]
    assert left_out["over 2 of one user (--per-user)"] == 4
    assert ids(kept) == ids(capped(rows, 2, "user", Counter(), seed=3))
    assert {tuple(ids(capped(rows, 2, "user", Counter(), seed=n))) for n in range(8)} != {tuple(ids(kept))}


@pytest.mark.parametrize("seed", range(5))
def test_no_user_is_in_both_parts_also_where_a_pair_is_of_two(seed):
    rows = [row(f"{n}", user=f"u{n % 10}") for n in range(40)]
    rows += [row("both", user="u1", chosen_user="u2"), row("nobody")]
    training, held_out = parted(rows, 0.2, "user", seed=seed)
    parts = [{name for one in part for name in one.provenance.names("user")} for part in (training, held_out)]
    assert not parts[0] & parts[1]
    assert ("u1" in parts[1]) == ("u2" in parts[1])
    assert 2 <= len(parts[1]) <= 3  # a fifth of the nine groups: u1 and u2 are one
    assert len(training) + len(held_out) == len(rows)
    assert "nobody" in ids(training)


def test_one_group_at_least_is_on_either_side_and_one_alone_cannot_be_parted():
    rows = [row("a", persona="p"), row("b", persona="q")]
    assert [len(part) for part in parted(rows, 0.9, "persona")] == [1, 1]
    assert [len(part) for part in parted(rows, 0.01, "persona")] == [1, 1]
    with pytest.raises(UsageError, match="1 persona among 2 rows: nothing can be held out"):
        parted([row("a", persona="p"), row("b", persona="p")], 0.5, "persona")
