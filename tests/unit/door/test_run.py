from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dialogauge
from dialogauge import JudgeFailure, Judgement, Run, Score
from dialogauge.app.columns import JudgementColumns
from dialogauge.core import MissingExtra, RubricError, StoreError, UsageError
from dialogauge.door.run import RunSummary
from parsed_pages import without_own_script
from talks import talk

TALKS = [talk("u: Where is my parcel 44?", f"a: It is in town {n}.", id=n, scenario="post") for n in "abc"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("door") / "run"
    return dialogauge.judge([*TALKS, talk("u: hello?", id="mute")], out=path)


def test_what_a_run_is(run: Run) -> None:
    assert (run.study, run.path.name, run.temporary) == ("judge", "run", False)
    assert run.manifest.conversations == 4
    assert run.manifest.ended == "finished"
    assert run.manifest.settings["inputs"] == ["conversations in memory"]
    assert run.faults == ()
    assert run.rubric is not None
    assert run.rubric.id == "card"
    assert repr(run).startswith("<Run of judge: 4 conversations, 6 scored, 1 failed (")


def test_figures_are_read_by_key_or_attribute(run: Run) -> None:
    summary = run.summary
    assert summary.dimensions.helpfulness.mean == summary["dimensions"]["helpfulness"]["mean"]
    assert summary.dimensions.helpfulness.n == 3
    assert summary.conversations.without_reply == 1
    assert isinstance(summary.dimensions.helpfulness.bounds, tuple)
    assert "dimensions" in dir(summary)
    with pytest.raises(AttributeError, match="there is no figure 'mood'; there are requested, scored"):
        _ = summary.mood
    with pytest.raises(AttributeError):
        _ = summary.__wrapped__
    assert len(summary) == len(list(summary))
    assert repr(RunSummary({"a": 1, "b": {}})) == "RunSummary(a, b)"


def test_rows_and_records(run: Run) -> None:
    rows = list(run.rows())
    assert [r["conversation_id"] for r in rows if r["level"] == "conversation"] == ["a", "b", "c", "mute"]
    judged = list(run.judgements())
    assert [j.target.conversation_id for j in judged] == [r["conversation_id"] for r in rows]
    first, last = judged[0].outcome, judged[-1].outcome
    assert isinstance(first, Judgement)
    assert isinstance(first.scores["helpfulness"], Score)
    assert isinstance(last, JudgeFailure)
    assert last.kind == "no_reply"
    assert run.conversations() == [*TALKS, talk("u: hello?", id="mute")]


def test_a_run_is_opened_again(run: Run) -> None:
    again = dialogauge.open_run(run.path)
    assert list(again.rows()) == list(run.rows())
    assert again.summary.requested == run.summary.requested
    assert again.notes == ()
    with pytest.raises(StoreError):
        dialogauge.open_run(run.path.parent)


def test_gates(run: Run) -> None:
    met = run.gate("helpfulness.value>=1", unchecked=True)
    assert met
    assert "met" in met.sentence
    assert not run.gate("helpfulness.mean>5", unchecked=True)
    with pytest.raises(UsageError, match=r"helpfulness is not checked.*findings\.share"):
        run.gate("helpfulness.value>=1")
    assert run.gate("findings==0")
    assert run.gate("finding.refuses.value<=0")
    with pytest.raises(UsageError, match="did you mean 'refuses'"):
        run.gate("finding.refused.share<=0.1")
    with pytest.raises(UsageError, match="cannot read the gate"):
        run.gate("mood>=4")


def test_the_page(run: Run, tmp_path: Path) -> None:
    page = run.page()
    assert page.lower().startswith("<!doctype html>")
    assert run.page(tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_a_notebook_shows_counts_and_no_unchecked_mean(run: Run) -> None:
    shown = run._repr_html_()
    assert "<td>helpfulness</td><td>turn</td><td>" not in shown
    assert "0 of 3 with a finding" in shown
    assert "unchecked: context use, helpfulness, coherence, task completion" in shown
    assert "<script" not in without_own_script(shown)


def test_pages_in_a_cell(run: Run) -> None:
    page = run.show(height=300)._repr_html_()
    assert page.startswith("<iframe")
    assert "height: 300px" in page
    assert "allow-same-origin" not in page
    whole, one = run.show("a").html, run.show("b", 1).html
    assert "It is in town a." in whole
    assert "It is in town a." not in one
    assert "Distribution of helpfulness" in run.plot("helpfulness").html
    assert "Distribution of coherence" not in run.plot("helpfulness").html
    assert "unchecked" in run.plot("coherence").html
    assert repr(run.plot("helpfulness")) == "Frame(title='run: scores', height=480)"
    with pytest.raises(UsageError, match="no dimension 'mood'"):
        run.plot("mood")


def test_figures_and_conversations_in_a_cell(run: Run) -> None:
    figures = run.summary._repr_html_()
    assert "<th>requested</th><td>7</td>" in figures
    assert "<th>mean</th>" in run.summary.dimensions.helpfulness._repr_html_()
    evil = talk("u: <script>alert(1)</script>", "a: No.", id="<b>")
    assert "<script>" not in evil._repr_html_()
    assert "&lt;b&gt;" in evil._repr_html_()


class FakeFrame:
    def __init__(self, *values: Any, **more: Any) -> None:
        self.values, self.more, self.types = values, more, {}

    def astype(self, types: dict[str, str]) -> FakeFrame:
        self.types = types
        return self


@pytest.fixture
def no_frames(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    return monkeypatch


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_library_is_named(run: Run, no_frames: pytest.MonkeyPatch, name: str) -> None:
    with pytest.raises(MissingExtra, match=f"pip install {name}"):
        getattr(run, f"to_{name}")()


def test_rows_as_tables(run: Run, no_frames: pytest.MonkeyPatch) -> None:
    library = ModuleType("frames")
    library.DataFrame = FakeFrame  # type: ignore[attr-defined]
    library.Int64, library.Float64, library.String = "whole", "fraction", "text"  # type: ignore[attr-defined]
    no_frames.setitem(sys.modules, "pandas", library)
    no_frames.setitem(sys.modules, "polars", library)
    columns = JudgementColumns([d.name for d in run.manifest.dimensions])
    rows = [columns.flat(row) for row in run.rows()]
    pandas, polars = run.to_pandas(), run.to_polars()
    assert pandas.values == (rows,)
    assert pandas.more == {"columns": list(rows[0])}
    assert pandas.types["turn"] == "Int64"
    assert (pandas.types["score_helpfulness"], pandas.types["rationale"]) == ("float64", "string")
    assert (polars.more["schema"]["turn"], polars.more["schema"]["cost"]) == ("whole", "fraction")
    assert polars.values == ({name: [row[name] for row in rows] for name in rows[0]},)


def test_pandas(run: Run) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = run.to_pandas()
    assert len(frame) == len(list(run.rows()))
    assert frame["score_helpfulness"].notna().sum() == 3
    assert {str(frame[name].dtype) for name in ("turn", "whole_helpfulness", "calls")} == {"Int64"}
    assert str(frame["verdict"].dtype) == "string"
    turns = run.to_pandas("turn")
    assert set(turns["level"]) == {"turn"}
    assert len(turns) + len(run.to_pandas("conversation")) == len(frame)


def test_polars(run: Run) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    frame = run.to_polars()
    assert frame["score_helpfulness"].drop_nulls().len() == 3


def test_a_temporary_run_lives_as_long_as_it_is_used(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="dialogauge"):
        run = dialogauge.judge(TALKS)
    path = run.path
    assert run.temporary
    assert "temporary" in repr(run)
    assert str(path) in caplog.text
    rows = run.rows()
    del run
    assert len(list(rows)) == 6
    del rows
    gc.collect()
    assert not path.exists()


def test_a_run_whose_page_is_gone_says_so(run: Run, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(run.path, tmp_path / "copy")
    (tmp_path / "copy" / "report.html").unlink()
    with pytest.raises(StoreError, match="has no page"):
        dialogauge.open_run(tmp_path / "copy").page()


def test_a_rubric_that_is_gone_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    again = dialogauge.open_run(run.path)
    monkeypatch.setitem(again.manifest.settings, "rubric", "gone.toml")  # type: ignore[arg-type]
    with pytest.raises(RubricError):
        _ = again.rubric
