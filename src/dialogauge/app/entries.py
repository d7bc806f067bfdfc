"""The table of studies: of each the name, the options, and the module that holds its entry.

Command line, library, `report`, `show` and `export` are made of this table. It is light: an entry is loaded
when its study is used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, Literal

from dialogauge.app.option_groups import Options
from dialogauge.app.settings import (
    AgreementOptions,
    ArenaOptions,
    FitOptions,
    JudgeOptions,
    LookaheadOptions,
    RecheckOptions,
    SatisfactionOptions,
    SimulateOptions,
    SuccessOptions,
    TwoRunsOptions,
)
from dialogauge.core.errors import UsageError
from dialogauge.core.values import Value

Rows = Literal["judgements", "votes"]


class ListedStudy(Value, kw_only=True):
    """A study as it stands in the table."""

    name: str
    settings: type[Options] | str
    """The options, or `MODULE:NAME` of them; their docstring is the help of the command."""
    entry: object
    """The module that holds it as `ENTRY`, or `MODULE:NAME`; or the entry itself (`app/command.py`).

    Empty for a group without a command that does all of it.
    """
    kind: str = ""
    """The kind of its runs, where that is not its name."""
    rows: Rows | None = None
    """What the rows of its runs are, as `show` and `export` take them; None where a run has none."""
    steps: tuple[ListedStudy, ...] = ()
    """Its parts, where each is a command too: it is then a group of commands, of which `run` does all."""
    help: str = ""
    """Of such a group."""
    json: bool = True
    """Whether the command has `--json`."""
    dry_run: bool = True
    """Whether the command has `--dry-run`."""

    @property
    def options(self) -> type[Options]:
        """The options."""
        if not isinstance(self.settings, str):
            return self.settings
        module, _, name = self.settings.partition(":")
        options: type[Options] = getattr(import_module(module), name)
        return options

    @property
    def commands(self) -> tuple[ListedStudy, ...]:
        """The commands of a group; none of a study that is a command by its own name."""
        if not self.steps or not self.entry:
            return self.steps
        return (*self.steps, replace(self, name="run", steps=()))


_TABLE: Final[dict[str, ListedStudy]] = {}
OTHERS: Final = (
    *("demo", "check", "formats", "report", "show", "runs", "export", "doctor", "init", "annotate", "chat"),
    *("read", "ajudge", "open_run", "run", "assert_quality"),
)
"""What else is called by a name: no study can have it."""


def add_study(study: ListedStudy) -> None:
    """Put a study into the table.

    Raises UsageError where its name is taken, or is no name.
    """
    taken = study.name in _TABLE or study.name in OTHERS
    if taken or not study.name.replace("-", "_").isidentifier():
        why = "the name is taken" if taken else "it is no name"
        msg = f"no study can be called {study.name!r}: {why}"
        raise UsageError(msg, hint=f"taken are {', '.join((*_TABLE, *OTHERS))}")
    _TABLE[study.name] = study


def remove_study(name: str) -> None:
    """Take a study out of the table."""
    del _TABLE[name]


def studies() -> list[ListedStudy]:
    """Return all studies, in the order of the help."""
    return list(_TABLE.values())


def listed_study(name: str) -> ListedStudy:
    """Return a study by name; UsageError where there is none."""
    if name not in _TABLE:
        msg = f"there is no study {name!r}"
        raise UsageError(msg, hint=f"there are {', '.join(_TABLE)}")
    return _TABLE[name]


def study_of_kind(kind: str) -> ListedStudy:
    """Return the study that makes runs of a kind; UsageError where there is none."""
    of_kind = (study for study in _TABLE.values() if kind == study.kind)
    return next(of_kind, None) or listed_study(kind)


@dataclass(frozen=True, slots=True)
class Kinds(Collection[str]):
    """The kinds of run whose rows are of some sort, as the table has them now."""

    rows: tuple[Rows, ...]

    def __contains__(self, kind: object) -> bool:
        return any(kind == one for one in self)

    def __iter__(self) -> Iterator[str]:
        return (study.kind or study.name for study in _TABLE.values() if study.rows in self.rows)

    def __len__(self) -> int:
        return sum(1 for _ in self)


JUDGED: Final = Kinds(("judgements",))
"""The kinds of run whose rows are judgements."""
SHOWN: Final = Kinds(("judgements", "votes"))
"""Those whose rows can be shown and exported."""

_APP: Final = "dialogauge.app"
_REPLAY: Final = f"{_APP}.replay"
_LEARN: Final = f"{_APP}.learn"
_TUNE: Final = f"{_APP}.tune"
for _study in (
    ListedStudy(name="judge", settings=JudgeOptions, entry=f"{_APP}.judge", rows="judgements"),
    ListedStudy(name="compare", settings=TwoRunsOptions, entry=f"{_APP}.compare"),
    ListedStudy(name="trust", settings=RecheckOptions, entry=f"{_APP}.trust"),
    ListedStudy(name="agreement", settings=AgreementOptions, entry=f"{_APP}.agreement", dry_run=False),
    ListedStudy(name="pairs", settings=f"{_APP}.pairs.settings:PairOptions", entry=f"{_APP}.pairs.command"),
    ListedStudy(name="fit", settings=FitOptions, entry=f"{_APP}.fit", dry_run=False),
    ListedStudy(
        name="satisfaction", settings=SatisfactionOptions, entry=f"{_APP}.satisfaction", rows="judgements"
    ),
    ListedStudy(name="simulate", settings=SimulateOptions, entry=f"{_APP}.simulate", rows="judgements"),
    ListedStudy(name="lookahead", settings=LookaheadOptions, entry=f"{_APP}.lookahead", rows="judgements"),
    ListedStudy(name="success", settings=SuccessOptions, entry=f"{_APP}.success", rows="judgements"),
    ListedStudy(name="arena", settings=ArenaOptions, entry=f"{_APP}.arena", rows="votes"),
    ListedStudy(
        name="replay",
        help="Compare candidate models on fixed points in conversations.\n\nrun does all of it; select, "
        "collect, score and compare are its steps, in this order.",
        settings=f"{_REPLAY}.settings:BenchmarkOptions",
        entry=f"{_REPLAY}.commands:RUN",
        kind="answer",
        rows="judgements",
        steps=tuple(
            ListedStudy(
                name=step,
                settings=f"{_REPLAY}.settings:{step.capitalize()}Options",
                entry=f"{_REPLAY}.commands:{step.upper()}",
                json=step == "compare",
                dry_run=step in ("collect", "score"),
            )
            for step in ("select", "collect", "score", "compare")
        ),
    ),
    ListedStudy(
        name="learn",
        help="Measure what a memory is worth and costs.\n\nrun asks tasks of memory systems, dialogues lets "
        "users teach them, compare lays runs beside each other, calibrate says how often users click; tasks "
        "and systems list what there is.",
        settings=f"{_LEARN}.settings:LearnOptions",
        entry=f"{_LEARN}.run:RUN",
        rows="judgements",
        steps=tuple(
            ListedStudy(
                name=name,
                settings=f"{_LEARN}.settings:Learn{name.capitalize()}Options",
                entry=f"{_LEARN}.{name}:{name.upper()}",
                dry_run=name == "dialogues",
            )
            for name in ("compare", "dialogues", "calibrate", "tasks", "systems")
        ),
    ),
    ListedStudy(
        name="tune",
        help="Train a model on what was judged.\n\nsft learns dialogues, dpo pairs of replies, dspo pairs of "
        "segments; grpo and gsrpo play themselves, turns and sessions. compare lays models side by "
        "side. The folder that comes out is a candidate: file:DIR.",
        settings=Options,
        entry="",
        steps=(
            *(
                ListedStudy(
                    name=name,
                    settings=f"{_TUNE}.settings:{name.capitalize()}Options",
                    entry=f"{_TUNE}.run:{name.upper()}",
                    json=False,
                    dry_run=False,
                )
                for name in ("sft", "dpo", "dspo", "grpo", "gsrpo")
            ),
            ListedStudy(
                name="compare",
                settings=f"{_TUNE}.settings:TuneCompareOptions",
                entry=f"{_TUNE}.compare:ENTRY",
                dry_run=False,
            ),
        ),
    ),
):
    add_study(_study)
