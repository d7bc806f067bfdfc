"""A study that is written in this file alone is a command, a call, and a kind of run like all others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NotRequired, TypedDict

import pytest
from typer.testing import CliRunner

import dialogauge
from dialogauge.app.command import ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.entries import ListedStudy, add_study, listed_study, remove_study
from dialogauge.app.option_groups import DataOptions, FreshOptions
from dialogauge.app.printed.commands import json_schema, printing_commands
from dialogauge.app.sources import PythonInput, input_data
from dialogauge.cli.main import command_line
from dialogauge.core import (
    Conversation,
    InputError,
    Judged,
    Judgement,
    Target,
    UsageError,
    WorkUnit,
    as_scores,
    conversation_digest,
    digest_text,
)
from dialogauge.core.protocols import PlainDimension
from dialogauge.core.settings import setting
from dialogauge.report import Block, Callout, Page, Section
from dialogauge.runs import Ending, Row, StoredRun, Study, StudyFacts
from printed import misfit
from talks import talk, write_conversations


class BrevityOptions(DataOptions, FreshOptions):
    """Say how brief replies are.

    Words are counted; no model is asked.
    """

    out: str | None = setting(None, "Run directory.", "-o", "--out", metavar="DIR")
    most: int = setting(10, "Words of a reply that is brief.", low=1)


class BrevityJson(TypedDict):
    """How brief the replies are."""

    replies: int
    brief: int
    remark: NotRequired[str]


@dataclass(frozen=True)
class BrevityResult:
    figures: BrevityJson

    def to_json(self) -> dict[str, Any]:
        return dict(self.figures)


@dataclass
class BrevityStudy(Study[BrevityResult]):
    conversations: Iterable[Conversation | InputError]
    most: int
    faults: list[InputError] = field(default_factory=list)

    name = "brevity"
    judge_digest = digest_text("brevity")

    @property
    def unreadable(self) -> Sequence[InputError]:
        return self.faults

    def plan(self) -> Iterator[WorkUnit]:
        for place, item in enumerate(self.conversations, start=1):
            if isinstance(item, InputError):
                self.faults.append(item)
            else:
                target = conversation_digest(item)
                yield WorkUnit(self.name, item, target, self.judge_digest, judge="counter", position=place)

    async def run(self, unit: WorkUnit) -> tuple[Judged, ...]:
        rows = []
        for turn in unit.conversation.turns:
            brief = len(turn.reply[-1].text.split()) <= self.most
            target = Target(unit.conversation.id, "turn", turn.number)
            rows.append(Judged(target, Judgement(as_scores({"brevity": 5 if brief else 1}))))
        return tuple(rows)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> BrevityResult:
        scores = [row["scores"]["brevity"] for row in rows]
        return BrevityResult({"replies": len(scores), "brief": scores.count(5)})

    def facts(self) -> StudyFacts:
        judge = {"name": "counter", "digest": self.judge_digest}
        return StudyFacts(judge=judge, dimensions=(PlainDimension("brevity", "turn"),))

    def page(self, result: BrevityResult, run: StoredRun) -> Page:
        return Page("Brevity", tuple(blocks(result.figures)))


def blocks(figures: Any) -> Iterator[Block]:
    yield Section("Replies", (Callout((f"{figures['brief']} of {figures['replies']} replies are brief",)),))


Brevity = ReadyStudy[BrevityOptions, BrevityStudy]


async def prepare(options: BrevityOptions, python: PythonInput, *, dry: bool) -> Brevity:
    data = input_data(options, python)
    return ReadyStudy(
        options=options, study=BrevityStudy(data.source, options.most), data=data, judge="counter"
    )


ENTRY: Final = StudyEntry(
    name="brevity",
    prints=BrevityJson,
    unit="conversation",
    prepare=prepare,
    directory=lambda options: chosen_directory(options, "-brevity"),
    notes=lambda prepared, run: (f"brief: {prepared.options.most} words or less",),
    view=lambda outcome: blocks(outcome.result.figures),
    page=lambda run: Page("Brevity, anew", tuple(blocks(run.directory.read_json("summary")))),
)
LISTED: Final = ListedStudy(name="brevity", settings=BrevityOptions, entry=ENTRY, rows="judgements")
TALKS: Final = (
    talk("u: When?", "a: At nine.", "u: Why?", "a: " + "Because it is so. " * 9, id="a"),
    talk("u: Where?", "a: In Leeds.", id="b"),
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    write_conversations(tmp_path / "log.jsonl", TALKS)
    add_study(LISTED)
    yield Path("log.jsonl")
    remove_study("brevity")


def run(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(command_line(), list(map(str, words)), catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_it_is_a_command(log: Path) -> None:
    code, out, _ = run("--help")
    assert (code, "Say how brief replies are." in out) == (0, True)
    assert "--most N" in run("brevity", "--help")[1]
    code, out, _ = run("brevity", log)
    assert (code, "2 of 3 replies are brief" in out, "brief: 10 words" in out) == (0, True, True)
    assert "report: runs/log-brevity/report.html" in out
    assert "2 of 3 replies" in Path("runs/log-brevity/report.html").read_text(encoding="utf-8")
    code, out, _ = run("brevity", log)
    assert (code, "2 already done by an earlier run and reused" in out) == (0, True)


def test_it_prints_json_that_has_a_schema(log: Path) -> None:
    code, out, _ = run("brevity", log, "--json")
    assert (code, json.loads(out)) == (0, {"replies": 3, "brief": 2})
    schema = json.loads(run("brevity", "--json-schema")[1])
    assert schema == json_schema("brevity")
    assert "brevity" in printing_commands()
    assert misfit({"replies": 3, "brief": 2}, schema) is None
    assert misfit({"replies": 3}, schema) is not None


def test_it_plans(log: Path) -> None:
    code, out, _ = run("brevity", log, "-o", "run", "--dry-run")
    assert (code, "would judge 2 of 2 conversations (0 done already) by counter" in out) == (0, True)
    assert not Path("run").exists()
    run("brevity", log, "-o", "run")
    plan = json.loads(run("brevity", log, "-o", "run", "--dry-run", "--json")[1])
    assert plan == {"run": "run", "judge": "counter", "units": 2, "left": 0, "faults": []}
    assert misfit(plan, json_schema("brevity")) is None


def test_it_is_a_call(log: Path) -> None:
    made = dialogauge.run("brevity", list(TALKS), most=100)
    assert (made.study, made.summary.brief) == ("brevity", 3)
    assert made.notes[-1] == "brief: 100 words or less"
    assert [row["scores"] for row in made.rows()] == [{"brevity": 5}] * 3
    assert [judged.target.turn for judged in made.judgements()] == [1, 2, 1]
    with pytest.raises(UsageError, match="there is no setting 'mots'"):
        dialogauge.run("brevity", list(TALKS), mots=1)


def test_its_runs_are_shown_rewritten_and_exported(log: Path) -> None:
    run("brevity", log, "-o", "run")
    code, out, _ = run("show", "run", "a", "--turn", "1")
    assert (code, "At nine." in out) == (0, True)
    assert run("report", "run")[0] == 0
    assert "Brevity, anew" in Path("run/report.html").read_text(encoding="utf-8")
    code, out, _ = run("export", "run", "-o", "rows.csv")
    assert (code, "3 rows" in out) == (0, True)
    lines = Path("rows.csv").read_text(encoding="utf-8").splitlines()
    assert "score_brevity" in lines[0]


def test_bad_input_and_outputs_are_handled_as_for_all(log: Path) -> None:
    log.write_text(log.read_text(encoding="utf-8") + "no JSON\n", encoding="utf-8")
    code, _, err = run("brevity", log, "-o", "run")
    assert (code, "log.jsonl:3" in err) == (1, True)
    with pytest.raises(UsageError, match="would become a run, and it is an input"):
        run("brevity", ".", "-o", ".")


@pytest.mark.parametrize("name", ["judge", "brevity", "check", "run", "replay"])
def test_a_taken_name_is_refused(log: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"no study can be called '{name}': the name is taken"):
        add_study(ListedStudy(name=name, settings=BrevityOptions, entry=ENTRY))
    assert listed_study("brevity") is LISTED


def test_what_is_no_name_is_refused(log: Path) -> None:
    with pytest.raises(UsageError, match="no study can be called 'a b': it is no name"):
        add_study(ListedStudy(name="a b", settings=BrevityOptions, entry=ENTRY))
    with pytest.raises(UsageError, match="there is no study 'nope'"):
        dialogauge.run("nope", list(TALKS))


def test_the_steps_of_a_study_are_a_group_of_commands(log: Path) -> None:
    step = replace(LISTED, name="first", json=False)
    add_study(replace(LISTED, name="brief", steps=(step,), help="Count in steps."))
    try:
        code, out, _ = run("brief", "--help")
        assert (code, "Count in steps." in out, "first" in out, "run" in out) == (0, True, True, True)
        assert "2 of 3 replies are brief" in run("brief", "first", log, "-o", "one")[1]
        assert json.loads(run("brief", "run", log, "-o", "two", "--json")[1]) == {"replies": 3, "brief": 2}
        assert printing_commands()[-1] == "brief run"
        assert json_schema("brief run")["title"] == "dialogauge brief run --json"
    finally:
        remove_study("brief")
