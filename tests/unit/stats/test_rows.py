"""The table of rows, against the same figures counted row by row."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE
from dialogauge.stats import mean_estimate
from dialogauge.stats.reading import MAX_OPTIONS, OTHERS, table_of, without_numbers
from dialogauge.stats.table import cluster_labels
from report_samples import row

DIMENSIONS = ("helpfulness", "safety")
FAILED = {"kind": "timeout", "message": "no reply in 30 s"}
SCORES = st.none() | st.dictionaries(
    st.sampled_from([*DIMENSIONS, "tone"]), st.integers(1, 5) | st.floats(1, 5) | st.just("n/a")
)


@st.composite
def made_rows(draw):
    """Rows of up to four conversations of up to two candidates, any of which may have failed."""
    rows = []
    for _ in range(draw(st.integers(0, 14))):
        id, level = draw(st.sampled_from("abcd")), draw(st.sampled_from(["turn", "conversation"]))
        scores = draw(SCORES)
        whole = {d: round(v) for d, v in (scores or {}).items() if v != "n/a" and draw(st.booleans())}
        kinds = draw(st.lists(st.sampled_from(["doubted", "vague"]), max_size=3))
        rows.append(
            row(
                id, level, draw(st.integers(0, 3)) if level == "turn" else None,
                candidate=draw(st.sampled_from([None, "x"])), repeat=draw(st.integers(1, 2)), scores=scores,
                user_id=None if id in draw(st.sampled_from(["", "d", "abcd"])) else f"u{id in 'ab'}",
                whole=whole, failure=None if scores is not None else FAILED,
                details={"signals": [{"name": kind, "strength": 0.5} for kind in kinds]} if scores else {},
            )
        )  # fmt: skip
    users = {}
    return [
        {**r, "user_id": users.setdefault((r["conversation_id"], r["candidate"]), r["user_id"])} for r in rows
    ]


def own(row, dimension):
    """The slow and obvious version: what one row says in a dimension."""
    return {**(row["scores"] or {}), **row["whole"]}.get(dimension)


def number(value):
    return math.nan if value is None or isinstance(value, str) else float(value)


@given(made_rows())
def test_columns_are_what_rows_say(rows):
    table = table_of(rows)
    assert table.n == len(rows)
    for name in ("conversation_id", "candidate", "user_id", "scenario", "level"):
        assert table.column(name).list() == [r[name] for r in rows]
    assert table.turn.tolist() == [-1 if r["turn"] is None else r["turn"] for r in rows]
    assert table.repeat.tolist() == [r["repeat"] for r in rows]
    assert table.failed.tolist() == [r["failure"] is not None for r in rows]
    for dimension in (*DIMENSIONS, "nobody scores it"):
        expected = [number(own(r, dimension)) for r in rows]
        np.testing.assert_array_equal(table.whole(dimension), expected)
        values = [number((r["scores"] or {}).get(dimension)) for r in rows]
        np.testing.assert_array_equal(table.value(dimension), values)
        assert table.not_applicable(dimension).tolist() == [own(r, dimension) == "n/a" for r in rows]
    kinds = Counter(s["name"] for r in rows for s in r["details"].get("signals", ()))
    assert table.entries["finding"].tally() == kinds


@given(made_rows(), st.sampled_from(DIMENSIONS))
def test_a_mean_is_that_of_the_rows_and_its_order_does_not_matter(rows, dimension):
    mean = table_of(rows).mean(dimension, ONE_TO_FIVE)
    scored = [r for r in rows if not math.isnan(number(own(r, dimension)))]
    users, ids = ([r[name] for r in rows] for name in ("user_id", "conversation_id"))
    labels, unit = cluster_labels(users, ids)
    labels = [label for label, r in zip(labels, rows, strict=True) if r in scored]
    expected = mean_estimate([own(r, dimension) for r in scored], labels, limits=(1, 5), unit=unit)
    assert (mean.n, mean.clusters) == (len(scored), expected.clusters)
    assert mean.value == (None if not scored else pytest.approx(expected.value))
    assert mean.low == (None if expected.low is None else pytest.approx(expected.low))
    mixed = random.Random(1).sample(rows, len(rows))
    turned = table_of(mixed).mean(dimension, ONE_TO_FIVE)
    assert (turned.n, turned.clusters, turned.reason) == (mean.n, mean.clusters, mean.reason)
    assert turned.value == (None if mean.value is None else pytest.approx(mean.value))


@given(made_rows())
def test_some_of_the_rows_are_the_table_of_these(rows):
    table = table_of(rows)
    parts = [
        (table.at("turn"), [r for r in rows if r["level"] == "turn"]),
        (table.where(repeat=1), [r for r in rows if r["repeat"] == 1]),
        (table.where(candidate=None, turn=2), [r for r in rows if r["candidate"] is None and r["turn"] == 2]),
        (table.where(table.failed), [r for r in rows if r["failure"]]),
        *((of, [r for r in rows if r["candidate"] == name]) for name, of in table.by("candidate")),
    ]
    for part, expected in parts:
        same = table_of(expected)
        assert part.n == len(expected)
        assert part.column("conversation_id").list() == same.column("conversation_id").list()
        assert part.entries["finding"].tally() == same.entries["finding"].tally()
        for dimension in DIMENSIONS:
            np.testing.assert_array_equal(part.whole(dimension), same.whole(dimension))
            assert part.mean(dimension, ONE_TO_FIVE) == same.mean(dimension, ONE_TO_FIVE)
    assert sum(of.n for _, of in table.by("candidate")) == sum(r["candidate"] is not None for r in rows)


@given(made_rows())
def test_dialogues_are_conversations_of_one_candidate(rows):
    table = table_of(rows)
    keys = list(dict.fromkeys((r["conversation_id"], r["candidate"]) for r in rows))
    assert table.dialogues.size == len(keys)
    failures = Counter((r["conversation_id"], r["candidate"]) for r in rows if r["failure"])
    assert table.dialogues.count(table.failed).tolist() == [failures[key] for key in keys]
    sizes = Counter((r["conversation_id"], r["candidate"]) for r in rows)
    assert table.dialogues.every(table.failed).tolist() == [failures[key] == sizes[key] for key in keys]


@pytest.mark.parametrize(
    "rows",
    [[], [row("a", turn=1, scores=None, failure=FAILED)], [row("a", turn=1, scores={"helpfulness": "n/a"})]],
    ids=["nothing", "only a failure", "only n/a"],
)
def test_a_mean_over_nothing_is_none_with_n_0(rows):
    mean = table_of(rows).mean("helpfulness", ONE_TO_FIVE)
    assert (mean.value, mean.low, mean.high, mean.n) == (None, None, None, 0)


def test_one_row_has_a_mean_and_no_interval():
    mean = table_of([row("a", turn=1, scores={"helpfulness": 4})]).mean("helpfulness", ONE_TO_FIVE)
    assert (mean.value, mean.interval, mean.n) == (4, None, 1)


def test_what_calls_took_is_summed_and_one_unknown_cost_makes_the_sum_unknown():
    used = {"calls": 1, "prompt_tokens": 10, "cost": 0.25}
    rows = [row(f"c{n}", usage={**used, "by_role": {"judge": used}}) for n in range(3000)]
    table = table_of(rows)
    assert (table.used.calls, table.used.prompt_tokens, table.used.cost) == (3000, 30_000, 750.0)
    assert table.used_by_role == {"judge": table.used}
    unknown = table_of([*rows, row("d", usage={**used, "cost": None})])
    assert (unknown.used.calls, unknown.used.cost) == (3001, None)


def test_a_question_with_many_options_counts_the_later_ones_together():
    rows = [row(f"c{n}", details={"labels": {"topic": f"t{n}"}}) for n in range(MAX_OPTIONS + 7)]
    counts = table_of(rows).entries["option"].counts()
    assert len(counts) == MAX_OPTIONS + 1
    assert counts["topic", OTHERS] == 7


def test_messages_that_differ_in_their_numbers_count_as_one():
    assert without_numbers("no reply in 30.5 s") == without_numbers("no reply in 7 s")
    rows = [row(f"c{n}", failure={**FAILED, "message": f"no reply in {n} s"}) for n in range(5)]
    assert table_of(rows).entries["message"].counts() == {("timeout", "no reply in 0 s"): 5}
