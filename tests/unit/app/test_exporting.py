from __future__ import annotations

import builtins
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app import export
from dialogauge.app.export import export_run
from dialogauge.core import (
    Conversation,
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    MissingExtra,
    StoreError,
    Target,
    Usage,
    UsageError,
    as_scores,
)
from talks import judged_rows, talk

COLUMNS = [
    *("conversation_id", "user_id", "scenario", "candidate", "level", "turn", "repeat"),
    *("score_helpfulness", "score_coherence", "whole_helpfulness", "whole_coherence"),
    *("raw_helpfulness", "raw_coherence", "overall", "not_applicable", "failure_kind", "failure_message"),
    *("verdict", "verdict_basis", "weakest_turn", "issues", "evidence"),
    *("rationale", "judge", "prompt_digest"),
    *("calls", "cached", "prompt_tokens", "completion_tokens", "cost"),
]


def odd_rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
    if conversation.id == "failed":
        return judged_rows(conversation, failed=True)
    turn = Judgement(
        as_scores({"helpfulness": 4}),
        issues=("too long", 'says "no"'),
        evidence=(Evidence(1, "=1+1", "length"),),
        rationale='=HYPERLINK("http://x")',
    )
    whole = Judgement(
        as_scores({"coherence": "n/a"}),
        verdict="good",
        verdict_basis="full",
        weakest_turn=1,
        rationale="-5\nof 长",
    )
    return (
        Judged(Target(conversation.id, "turn", 1), turn),
        Judged(Target(conversation.id, "conversation"), whole, Usage(1, 0, 10, 5, None), "p1"),
    )


@pytest.fixture
def run(desk: Any) -> str:
    desk.judge.rows = odd_rows
    odd = talk("u: hi", "a: hello", id="@odd,1", scenario="\tsupport")
    desk.run(desk.log(odd, talk("u: hi", "a: hello", id="failed")))
    return str(desk.folder / "run")


def test_jsonl_is_what_the_run_holds(run: str, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "er" / "x.jsonl"
    assert export_run(run, str(out)) == 4
    assert out.read_bytes() == (Path(run) / "judgements.jsonl").read_bytes()


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_column_for_each_dimension(run: str, tmp_path: Path) -> None:
    assert export_run(run, str(tmp_path / "x.csv")) == 4
    turn, whole, failed, _ = rows = read_csv(tmp_path / "x.csv")
    assert [list(r) for r in rows] == [COLUMNS] * 4
    assert (turn["score_helpfulness"], turn["score_coherence"], turn["not_applicable"]) == ("4.0", "", "")
    assert (turn["whole_helpfulness"], turn["raw_helpfulness"], turn["overall"]) == ("4", "", "")
    assert (whole["score_helpfulness"], whole["score_coherence"]) == ("", "")
    assert (whole["not_applicable"], whole["verdict"], whole["weakest_turn"]) == ("coherence", "good", "1")
    assert (whole["calls"], whole["cost"], whole["prompt_digest"], whole["turn"]) == ("1", "", "p1", "")
    assert (failed["failure_kind"], failed["failure_message"]) == ("timeout", "too slow")
    assert (failed["score_helpfulness"], failed["not_applicable"]) == ("", "")
    assert json.loads(turn["issues"]) == ["too long", 'says "no"']
    assert json.loads(turn["evidence"]) == [{"turn": 1, "quote": "=1+1", "criterion": "length"}]


def test_no_cell_of_a_csv_is_a_formula(run: str, tmp_path: Path) -> None:
    export_run(run, str(tmp_path / "x.csv"))
    turn, whole, *_ = rows = read_csv(tmp_path / "x.csv")
    assert turn["conversation_id"] == "'@odd,1"
    assert turn["scenario"] == "'\tsupport"
    assert turn["rationale"] == '\'=HYPERLINK("http://x")'
    assert whole["rationale"] == "'-5\nof 长"
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for r in rows for cell in r.values())


@pytest.mark.parametrize(
    "before", ["", " ", "\u3000 ", "\u200b", "\ufeff", "\u2060\u00a0", "\u202e", "\x00", "\U000e0020"]
)
@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_nothing_unseen_keeps_a_formula_alive(before: str, sign: str) -> None:
    assert export._harmless(f"{before}{sign}1") == f"'{before}{sign}1"
    assert export._harmless(f"a;{before}{sign}1") == f"a;{before}'{sign}1"
    assert export._harmless(f"{before}1{sign}1") == f"{before}1{sign}1"


def test_parquet_keeps_types(run: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export_run(run, str(tmp_path / "x.parquet")) == 4
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table.column_names == COLUMNS
    kinds = {name: str(table.schema.field(name).type) for name in COLUMNS}
    whole = {"turn", "repeat", "weakest_turn", "calls", "cached", "prompt_tokens", "completion_tokens"}
    whole |= {"whole_helpfulness", "whole_coherence"}
    assert {n for n, kind in kinds.items() if kind == "int64"} == whole
    assert {n for n, kind in kinds.items() if kind == "double"} == {
        *("score_helpfulness", "score_coherence", "raw_helpfulness", "raw_coherence"),
        *("overall", "cost"),
    }
    turn, conversation, failed, _ = table.to_pylist()
    assert (turn["conversation_id"], turn["score_helpfulness"]) == ("@odd,1", 4.0)
    assert turn["rationale"] == '=HYPERLINK("http://x")'
    assert (conversation["score_coherence"], conversation["cost"], conversation["turn"]) == (None, None, None)
    assert (failed["failure_kind"], failed["score_helpfulness"]) == ("timeout", None)


def test_parquet_is_written_in_batches(run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("dialogauge.app.export._BATCH", 2)
    assert export_run(run, str(tmp_path / "x.parquet")) == 4
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 4


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_run_of_nothing_has_its_columns(desk: Any, ending: str) -> None:
    desk.judge.rows = lambda c, _: ()
    desk.run(desk.log(talk("u: hi")))
    out = desk.folder / f"x.{ending}"
    assert export_run(str(desk.folder / "run"), str(out)) == 0
    if ending == "csv":
        assert out.read_bytes() == (",".join(COLUMNS) + "\r\n").encode()
    elif ending == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_table(out).column_names == COLUMNS
    else:
        assert out.read_bytes() == b""


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.jsonl.gz", ".csv"])
def test_an_unknown_ending_is_refused(run: str, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="the ending says the format") as caught:
        export_run(run, str(tmp_path / name))
    assert ".jsonl, .csv, .parquet" in str(caught.value)
    assert not (tmp_path / name).exists()


def test_the_ending_may_be_in_capitals(run: str, tmp_path: Path) -> None:
    assert export_run(run, str(tmp_path / "X.CSV")) == 4


def test_a_missing_extra_says_which(run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match="needs pyarrow") as caught:
        export_run(run, str(tmp_path / "x.parquet"))
    assert "dialogauge[parquet]" in str(caught.value)


def test_what_is_no_run_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no run"):
        export_run(str(tmp_path), str(tmp_path / "x.csv"))


def test_a_failure_of_a_whole_conversation_keeps_its_kind() -> None:
    from dialogauge.app.columns import JudgementColumns
    from dialogauge.core.judgement import row_json

    judged = Judged(Target("c", "conversation"), JudgeFailure("refused", "no", raw="sorry"))
    flat = JudgementColumns(["coherence"]).flat(row_json(talk(id="c"), judged, repeat=1, judge="j"))
    assert (flat["failure_kind"], flat["failure_message"], flat["score_coherence"]) == ("refused", "no", None)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_parts_the_cells(desk: Any, tmp_path: Path, delimiter: str) -> None:
    """A spreadsheet program parts cells by its own list separator, whatever the file was written with."""
    texts = [
        "a;=1+1",
        'b; "=1+1"',
        "c\n=1+1;@x",
        "d\t-1;+2",
        "e;\uff1d1",
        "fine; indeed",
        'q "x";=1',
        "=1;=2",
    ]

    def rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
        told = texts[int(conversation.id)]
        evidence = (Evidence(1, told, "length"),)
        turn = Judgement(as_scores({"helpfulness": 4}), issues=(told,), evidence=evidence, rationale=told)
        return (Judged(Target(conversation.id, "turn", 1), turn),)

    desk.judge.rows = rows
    desk.run(desk.log(*(talk("u: hi", "a: hello", id=str(i)) for i in range(len(texts)))))
    export_run(str(desk.folder / "run"), str(tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file, delimiter=delimiter) for cell in row]
    assert not [c for c in cells if c.lstrip(' "').startswith(tuple("=+-@\uff1d"))]
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert "fine; indeed" in text
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert read[0]["rationale"] == "a;'=1+1"
    assert json.loads(read[0]["issues"]) == ["a;'=1+1"]
