"""Published results in a small file of our own, worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialogauge.core import FileFault
from dialogauge.core.json_keys import as_json
from dialogauge.report import to_html, to_text
from dialogauge.studies.learning import published as published_results
from dialogauge.studies.learning.published import published_blocks, read_published


@pytest.fixture(autouse=True)
def instead(monkeypatch):
    """The means that stand in for a doubtful 0."""
    means = {("Vanilla", "WritingPrompts"): 0.35}
    monkeypatch.setattr(published_results, "TABLE_9", means)
    return means


def published() -> dict[str, Any]:
    """Three systems on a partition; of the first there are no sums, and it has 0 on one data set.

    On WritingPrompts, of 25 cases, .3 and .4 are .5 and .75 of the range .1 to .5, and 0 and 1 standard
    deviations from .3. On Locomo, of 10 cases, .2, .4 and .6 stand as they are.
    """
    means = {"bm25": 0.3, "mem0": 0.4, "wo_memory": 0.0}
    corpus = {"bm25": 0.4, "mem0": 0.6, "wo_memory": 0.2}
    part = {
        "average": {"WritingPrompts": means, "Locomo": corpus},
        "minmax_normalized_average": {
            "WritingPrompts": {"bm25": [12.5, 25, 0.5], "mem0": [18.75, 25, 0.75]},
            "Locomo": {"bm25": [4.0, 10, 0.4], "mem0": [6.0, 10, 0.6]},
        },
        "z_normalized_average": {
            "WritingPrompts": {"bm25": [0.0, 25, 0.0], "mem0": [25.0, 25, 1.0]},
            "Locomo": {"bm25": [-2.0, 10, -0.2], "mem0": [2.0, 10, 0.2]},
        },
        "summary": {
            "dataset_min": {"WritingPrompts": 0.1, "Locomo": 0},
            "dataset_max": {"WritingPrompts": 0.5, "Locomo": 1},
            "dataset_mu": {"WritingPrompts": 0.3, "Locomo": 0.5},
            "dataset_sigma": {"WritingPrompts": 0.1, "Locomo": 0.5},
            "weighted_average": {"bm25": 16.5 / 35, "mem0": 24.75 / 35},
            "average": {"bm25": 0.45, "mem0": 0.675},
            "z_score": {"bm25": -2 / 35, "mem0": 27 / 35},
        },
    }
    return {"domain": {"Open-Domain": part}, "task": {}}


def written(folder: Path, value: object) -> Path:
    """Write a file of results."""
    path = folder / "published.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_stored_sums_and_totals_follow_from_the_means(tmp_path: Path) -> None:
    tables = read_published(written(tmp_path, published()))
    assert (tables.checked, tables.differing) == (2 * 4 + 3 * 2, ())
    (part,) = tables.partitions
    bm25 = next(of for of in part.scores.systems if of.system == "BM25-M")
    assert bm25.minmax_by_case.value == pytest.approx(16.5 / 35)
    assert bm25.minmax_by_set.value == pytest.approx(0.45)
    assert bm25.z_by_case.value == pytest.approx(-2 / 35)
    assert (bm25.cases, bm25.minmax_by_case.interval) == (35, None)
    assert part.scores.references["WritingPrompts"].n == 50
    assert part.unsummed == ("Vanilla",)


def test_data_sets_with_a_corpus_are_left_out_beside(tmp_path: Path) -> None:
    (part,) = read_published(written(tmp_path, published())).partitions
    assert part.scores.datasets == ("LoCoMo", "WritingPrompts")
    assert part.without_corpus is not None
    assert part.without_corpus.datasets == ("WritingPrompts",)
    values = {of.system: of.minmax_by_case.value for of in part.without_corpus.systems}
    # (0 - .1) / .4 and (.35 - .1) / .4
    assert values == pytest.approx(
        {"Vanilla": -0.25, "Vanilla, WritingPrompts 0.35": 0.625, "BM25-M": 0.5, "Mem0": 0.75}
    )


def test_a_zero_where_others_are_far_above_is_doubted_and_corrected(tmp_path: Path) -> None:
    tables = read_published(written(tmp_path, published()))
    (zero,) = tables.partitions[0].zeros
    assert (zero.system, zero.dataset, zero.n, zero.others) == ("Vanilla", "WritingPrompts", 25, (0.3, 0.4))
    # (25 * -.25 + 10 * .2) / 35 and (25 * -3 + 10 * -.6) / 35; then 25 * .625 and 25 * .5.
    text = " ".join(to_text(published_blocks(tables)).split())
    assert "Vanilla: min-max -0.1214, place 3 of 3; z -2.3143, place 3 of 3." in text
    assert "Vanilla, WritingPrompts 0.35: min-max 0.5036, place 2 of 3; z +0.1857, place 2 of 3." in text
    assert "Vanilla has 0 on all 25 cases of WritingPrompts, others 0.3000 to 0.4000:" in text


def test_a_zero_that_chance_can_make_is_not_doubted(tmp_path: Path) -> None:
    # Five standard errors are 5 * .1 / 5 = .1.
    value = published()
    part = value["domain"]["Open-Domain"]
    part["average"]["WritingPrompts"]["bm25"] = 0.1
    assert read_published(written(tmp_path, value)).partitions[0].zeros == ()
    part["average"]["WritingPrompts"]["bm25"] = 0.101
    assert len(read_published(written(tmp_path, value)).partitions[0].zeros) == 1


def test_a_doubtful_zero_without_another_mean_is_pointed_out_alone(tmp_path: Path, instead) -> None:
    instead.clear()
    tables = read_published(written(tmp_path, published()))
    assert tables.partitions[0].zeros[0].corrected is None
    assert [of.system for of in tables.partitions[0].scores.systems] == ["Vanilla", "BM25-M", "Mem0"]
    assert "place 3 of 3" in to_text(published_blocks(tables))


def test_totals_that_do_not_follow_are_named(tmp_path: Path) -> None:
    value = published()
    value["domain"]["Open-Domain"]["summary"]["z_score"]["mem0"] = 0.8
    value["domain"]["Open-Domain"]["minmax_normalized_average"]["Locomo"]["bm25"][0] = 5.0
    tables = read_published(written(tmp_path, value))
    assert tables.differing == ("minmax of BM25-M on LoCoMo in Open", "z_score of Mem0 in Open")
    assert "z_score of Mem0 in Open" in " ".join(to_text(published_blocks(tables)).split())


def test_the_page_has_all_tables_and_hostile_names_stay_text(tmp_path: Path) -> None:
    value = json.loads(json.dumps(published()).replace("mem0", "<script>x</script>"))
    tables = read_published(written(tmp_path, value))
    page = to_html(tables.page)
    assert "<script>x" not in page
    for name in ("Table 7", "Table 8", "Open*", "By data set", "Each data set once"):
        assert name in page
    assert as_json(tables)["partitions"]["Open"]["means"]["Vanilla"]["LoCoMo"] == {"mean": 0.2, "n": 10}


def drop(*path: str) -> Callable[[dict[str, Any]], None]:
    """Return what takes a key out of the partition."""

    def spoil(part: dict[str, Any]) -> None:
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]

    return spoil


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (drop("summary"), "summary is missing"),
        (drop("summary", "dataset_mu"), "dataset_mu"),
        (drop("summary", "dataset_sigma", "Locomo"), "Locomo"),
        (drop("z_normalized_average", "Locomo"), "Locomo"),
        (drop("average", "Locomo", "bm25"), "bm25"),
        (lambda part: part["average"].update(Locomo={}), "counts no case"),
        (lambda part: part["average"]["Locomo"].update(bm25="much"), "'much', not a number"),
        (lambda part: part["z_normalized_average"]["Locomo"].update(bm25=[1.0, 10]), "has 2 entries, not 3"),
        (lambda part: part["z_normalized_average"]["Locomo"].update(bm25=[1.0, 0, 0]), "counts no case"),
        (lambda part: part["summary"]["z_score"].update(other=1.0), "other"),
        (lambda part: part["average"]["Locomo"].update(bm25=1e300), "scores of BM25-M are far outside"),
    ],
)
def test_what_has_another_form_is_refused_with_its_place(
    spoil: Callable[[dict[str, Any]], None], named: str, tmp_path: Path
) -> None:
    value = published()
    spoil(value["domain"]["Open-Domain"])
    path = written(tmp_path, value)
    with pytest.raises(FileFault, match=named) as caught:
        read_published(path)
    assert caught.value.place is not None
    assert caught.value.place.file == str(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), ("{\n 1}", 2), ("[]", None), ("{}", None), ('{"task": {}}', None)]
)
def test_what_is_no_such_file_is_refused(text: str, line: int | None, tmp_path: Path) -> None:
    path = tmp_path / "published.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFault) as caught:
        read_published(path)
    assert caught.value.place is not None
    assert caught.value.place.line == line
