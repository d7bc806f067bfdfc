"""The cases: command lines on the files of `inputs.py`, and the files whose contents are pinned.

`SERVER` in a word stands for the address of the test server; `ANSWER ITEMS` is no command, but makes
the files of two candidates' replies to an item set. One request is in flight at a time, so that
what each row spent does not depend on who came first.
"""

from __future__ import annotations

from dataclasses import dataclass

from pins.normal import EXACT

Words = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Words, ...]
    pins: tuple[str, ...] = ()
    """Files whose contents are compared; of all others, the names."""
    condensed: tuple[str, ...] = ()
    """Paths in those files of which headline figures and a hash are enough."""
    close: float = EXACT
    """How far numbers may differ, of their size and at least."""


def _words(line: str) -> Words:
    return tuple(line.replace("MODEL", _MODEL).split())


_MODEL = "--model stub-model --base-url SERVER --max-concurrency 1"
_RATED = "rated.jsonl --split-file split.json"
_RUN = ("run/summary.json", "run/judgements.jsonl")

#: Cases of `judge` that are pinned whole, and what is condensed of the others.
_WHOLE = ("local-card-hindsight", "model-card", "model-card-faulty")
_PARTS = (
    "by",
    "dimensions.*.by_turn",
    "dimensions.*.histogram",
    "findings.kinds",
    "trust.checks.*",
    "evidence.dimensions",
)
#: Tables of the satisfaction study of which the headline is enough, but for one case that pins them whole.
_TABLES = (
    "calibrations.*",
    "controls.*",
    "ceiling",
    "metrics",
    "metrics_of_fractions",
    "metrics_by.*",
    "against_controls",
    "without_history",
    "behaviour",
    "reliability",
    "rationale.*",
    "users",
    "light",
    *_PARTS,
    "rows",
)
#: Of that case, the tables that look like those of the others.
_SAME_TABLES = (
    *(f"calibrations.{name}" for name in ("none", "mean-shift", "reference-*", "pooled", "cdf.controls.*")),
    *(f"controls.{name}" for name in ("constant", "always dissatisfied", "user mean", "reply length*")),
    *(f"metrics_by.{name}.*" for name in ("gold", "reason")),
)


def _case(name: str, *lines: str, pins: tuple[str, ...] = (), condensed: tuple[str, ...] = ()) -> Case:
    return Case(name, tuple(_words(line) for line in lines), pins, condensed, _close(lines))


def _close(lines: tuple[str, ...]) -> float:
    """Say how far numbers may differ: models fitted in single precision hang on the processor."""
    if any(line.startswith("fit ") for line in lines):
        return 1e-4  # the solver stops at a ten-thousandth
    return 1e-6 if any("--judge local-user" in line for line in lines) else EXACT


def _judge(name: str, line: str, *before: str, brief: bool = False) -> Case:
    """`dialogauge judge` into `run`, and perhaps commands before it."""
    condensed = () if name in _WHOLE else _PARTS if not brief else (*_PARTS, "rows")
    return _case(f"judge-{name}", *before, f"judge {line} -o run", pins=_RUN, condensed=condensed)


def _satisfaction(name: str, line: str, *before: str) -> Case:
    """`dialogauge satisfaction` into `run`, and perhaps commands before it."""
    line = f"satisfaction {line} -o run"
    condensed = _SAME_TABLES if name == "whole" else _TABLES
    return _case(f"satisfaction-{name}", *before, line, pins=_RUN, condensed=condensed)


_LOCAL = tuple(
    _judge(f"local-{rubric}-{mode}", f"examples.jsonl --rubric {rubric} --mode {mode}")
    for rubric in ("satisfaction", "session", "session-guarded")
    for mode in ("hindsight", "foresight")
)

_JUDGE = (
    _judge("local-card-hindsight", "examples.jsonl"),
    _judge("local-card-foresight", "examples.jsonl --mode foresight", brief=True),
    *_LOCAL,
    _judge("local-single", "examples.jsonl --rubric single"),
    _judge("local-task", "examples.jsonl --rubric task"),
    _judge("local-factuality", "examples.jsonl --rubric factuality"),
    _judge("local-repeats", "log.jsonl --repeats 2 --sample 3 --seed 5", brief=True),
    _judge(
        "local-gate-met",
        "log.jsonl --unchecked --gate helpfulness.value>=1 --gate verdict.value>=poor:1",
        brief=True,
    ),
    _judge(
        "local-gate-not-met",
        "log.jsonl --unchecked --gate verdict>=good:0.9 --gate helpfulness.mean>=4.9",
        brief=True,
    ),
    _judge("local-gate-unreadable", "log.jsonl --gate helpfulness>=4"),
    _judge("local-ratings", "log.jsonl --ratings people.csv", brief=True),
    _judge("local-private", "personal.jsonl --redact --hash-ids"),
    _judge("local-odd", "odd.jsonl"),
    _judge("local-odd-strict", "odd.jsonl --strict"),
    _judge("local-dry-run", "log.jsonl --dry-run"),
    _judge("local-again", "log.jsonl", "judge log.jsonl --limit 2 -o run", brief=True),
    _judge(
        "local-model",
        "log.jsonl --rubric satisfaction --local-model fitted.json",
        "fit rated.jsonl --cv 3 -o fitted.json",
    ),
    _judge(
        "fitted",
        "log.jsonl --judge fitted --fitted-model fits",
        "fit votes.txt --cv 3 -o fits",
    ),
    _judge("local-of-run", "first --rubric single", "judge log.jsonl --limit 2 -o first", brief=True),
    _judge("local-other-form", "sessions.json --limit 3", brief=True),
    *(
        _judge(f"model-{rubric}", f"log.jsonl --rubric {rubric} --lang auto MODEL")
        for rubric in ("card", "satisfaction", "task", "session", "session-guarded", "single")
    ),
    _judge("model-factuality", "log.jsonl --rubric factuality --source facts.txt --limit 2 MODEL"),
    _judge("model-card-foresight", "log.jsonl --mode foresight --window 4 --lang en MODEL", brief=True),
    _judge("model-card-faulty", "faulty.jsonl MODEL"),
    _judge("model-single-faulty", "faulty.jsonl --rubric single --max-failed 0.9 MODEL"),
    _judge("model-session-faulty", "faulty.jsonl --rubric session MODEL"),
    _judge(
        "model-repeats", "log.jsonl --repeats 2 --ratings people.csv --prices prices.toml MODEL", brief=True
    ),
    _judge("model-configured", "log.jsonl --config config.toml", brief=True),
    _judge("model-private", "personal.jsonl --redact --hash-ids MODEL"),
    _judge("model-calls-capped", "log.jsonl --rubric single --max-calls 6 MODEL"),
    _judge(
        "model-resumed",
        "log.jsonl --rubric single --no-cache MODEL",
        "judge log.jsonl --rubric single --no-cache --max-calls 6 MODEL -o run",
        brief=True,
    ),
    _judge(
        "model-retried",
        "faulty.jsonl --rubric single --retry-failed --no-cache MODEL",
        "judge faulty.jsonl --rubric single --no-cache MODEL -o run",
        brief=True,
    ),
)

_LOOKING = (
    _case("check", "check log.jsonl --ratings people.csv --json"),
    _case("check-rated", "check rated.jsonl --pii --json"),
    _case("check-odd", "check odd.jsonl --json", "check odd.jsonl --strict", "check none.jsonl"),
    _case("check-forms", "check sessions.json --json", "check votes.txt --json"),
    _case(
        "report",
        "judge personal.jsonl -o run",
        "report run",
        "report run --redact --hash-ids -o hidden.html",
        "report elsewhere",
    ),
    _case(
        "trust-local",
        "judge examples.jsonl -o run",
        "trust run --json",
        "trust run --scenario-sample 3 --json",
        pins=("run/summary.json",),
        condensed=("planted",),
    ),
    _case(
        "trust-model",
        "judge log.jsonl MODEL -o run",
        "trust run --scenario-sample 2 --ratings people.csv --max-concurrency 1 --json",
    ),
    _case(
        "refused-runs",
        "fit votes.txt --cv 3 -o fits",
        "judge log.jsonl -o judged",
        f"satisfaction {_RATED} --judge local-user -o personal",
        "replay select rated.jsonl --rule random -n 4 --split-file split.json -o items.json",
        "ANSWER items.json",
        "replay collect items.json --candidate replies:long.jsonl -o replies",
        *(
            line.replace("RUN", run)
            for run in ("fits", "replies")
            for line in (
                "report RUN",
                "trust RUN",
                "agreement RUN",
                "export RUN -o rows.csv",
                "pairs RUN --kind kto --unchecked -o kto.jsonl",
                f"satisfaction {_RATED} --judge local-user --signal RUN -o both",
                f"satisfaction {_RATED} --judge local --reference RUN -o both",
            )
        ),
        f"satisfaction {_RATED} --judge local-user --signal judged -o both",
        f"satisfaction {_RATED} --judge local-user --signal personal -o both",
        f"satisfaction {_RATED} --judge local --reference judged -o both",
        "agreement judged personal",
        "replay score judged --judge local",
        "replay compare fits",
        "judge log.jsonl -o personal",
        "judge log.jsonl --redact -o judged",
        f"satisfaction {_RATED} --judge local -o judged",
        "judge log.jsonl --judge fitted --fitted-model judged -o both",
    ),
    _case("init", "init started", "init started", pins=("started/dialogauge.toml",)),
    _case(
        "doctor",
        "doctor --model stub-model --base-url SERVER --json",
        "doctor --model stub-model --base-url SERVER --no-known-answers --json",
        "doctor --model stub-model --base-url http://127.0.0.1:9/v1 --json",
    ),
)

_AGREEMENT_BLOCKS = (
    *("people", "between", "groups", "ranks", "judges.constants", "judges.raters", "judges.levels"),
    *("judges.controls", "judges.against_controls", "lights.*"),
)
_AGREEMENT_TABLES = (*_AGREEMENT_BLOCKS, "judges.figures", "satisfaction.*.*")
_AGREEMENT = (
    _case(
        "agreement-one",
        "judge log.jsonl -o one",
        "agreement one --ratings people.csv --dimension helpfulness --json",
        condensed=_AGREEMENT_BLOCKS,
    ),
    _case(
        "agreement-two",
        "judge log.jsonl -o one",
        "judge log.jsonl MODEL -o two",
        "agreement one two --ratings people.csv --seed 3 -o agreement",
        pins=("agreement/agreement.json",),
        condensed=_AGREEMENT_TABLES,
    ),
    _case(
        "agreement-dissatisfied",
        "judge rated.jsonl --rubric satisfaction -o one",
        "judge rated.jsonl -o two",
        "agreement one --dissatisfied <3 --json",
        "agreement two --dimension helpfulness=satisfaction --json",
        condensed=_AGREEMENT_TABLES,
    ),
    _case(
        "agreement-satisfaction",
        "satisfaction rated.jsonl --judge history-mean --split-file split.json -o one",
        "satisfaction rated.jsonl --judge local --split-file split.json -o two",
        "agreement one two -o agreement",
        pins=("agreement/agreement.json",),
        condensed=_AGREEMENT_TABLES,
    ),
    _case("agreement-refused", "judge log.jsonl -o one", "agreement one", "agreement one --ratings none.csv"),
)

_FIT = (
    _case(
        "fit-run",
        "fit votes.txt --cv 3 -o run",
        pins=("run/summary.json", "run/model.json", "run/predictions.jsonl"),
        condensed=("rows", "parts.*.controls.*"),
    ),
    _case(
        "fit-rated-run",
        "fit rated.jsonl --cv 4 --json -o run",
        pins=("run/model.json",),
        condensed=("parts", "weights", "columns", "evidence.dimensions"),
    ),
    _case("fit-local", "fit rated.jsonl --cv 3 --json -o model.json", pins=("model.json",)),
    _case("fit-local-split", "fit rated.jsonl --split-file split.json -o model.json", pins=("model.json",)),
    _case(
        "fit-refused", "fit odd.jsonl -o run", "fit log.jsonl -o model.json", "fit votes.txt --cv 1 -o run"
    ),
)

_HISTORY_JUDGES = (
    "global-mean",
    "global-majority",
    "task-mean",
    "task-majority",
    "history-mean",
    "history-median",
    "history-majority",
    "history-cdf-hash",
    "reply-unread",
    "nearest-1",
    "nearest-3",
)
_MODEL_JUDGES = (
    "memory",
    "no-memory",
    "zero-shot",
    "few-shot",
    "task-rubric",
    "prometheus",
    "rag",
    "spur",
)
_FAULTY = "faulty.jsonl --split-file split.json"
_ALL = "rated.jsonl --split all"

_SATISFACTION = (
    _satisfaction("whole", "rated.jsonl --split-file wide.json --judge local-user"),
    *(_satisfaction(name, f"{_RATED} --judge {name}") for name in _HISTORY_JUDGES),
    *(
        _satisfaction(
            f"episodic-{strategy}", f"{_RATED} --judge episodic-nearest --k 4 --strategy {strategy}"
        )
        for strategy in ("topk", "boundary-paired", "score-balanced")
    ),
    *(
        _satisfaction(f"{judge}-{mode}", f"{_RATED} --judge {judge} --mode {mode}")
        for judge in ("local", "local-user")
        for mode in ("foresight", "hindsight")
    ),
    *(
        _satisfaction(f"calibrated-{name}", f"{_RATED} --judge nearest-3 --calibrate {name} --ties {ties}")
        for name, ties in (
            ("mean-shift", "mid"),
            ("cdf", "turn-index"),
            ("reference-cdf", "sample-id"),
            ("reference-mean-shift", "mid"),
            ("reference-transfer", "mid"),
            ("pooled", "mid"),
        )
    ),
    _satisfaction(
        "reference",
        f"{_RATED} --judge local --calibrate reference-cdf --reference first",
        f"satisfaction {_ALL} --judge local -o first",
    ),
    _satisfaction(
        "signal",
        f"{_RATED} --judge local-user --signal first",
        f"satisfaction {_ALL} --judge zero-shot MODEL -o first",
    ),
    *(_satisfaction(f"model-{name}", f"{_RATED} --judge {name} MODEL") for name in _MODEL_JUDGES),
    _satisfaction("model-rag-paired", f"{_RATED} --judge rag --k 2 --strategy boundary-paired MODEL"),
    _satisfaction("model-memory-prompt", f"{_RATED} --judge memory --history prompt --lang zh MODEL"),
    _satisfaction("model-capped", f"{_RATED} --judge zero-shot --max-calls 20 MODEL"),
    _satisfaction("model-configured", f"{_RATED} --judge memory --config config.toml"),
    *(
        _satisfaction(f"model-faulty-{name}", f"rated_{_FAULTY} --judge {name} MODEL")
        for name in ("zero-shot", "memory")
    ),
    *(
        _satisfaction(f"session-{name}", f"sessions.json --level session --split all --judge {name}{more}")
        for name, more in (("history-mean", ""), ("local", ""), ("zero-shot", " MODEL"), ("memory", " MODEL"))
    ),
    _satisfaction(
        "session-guarded",
        "sessions.json --level session --split all --judge memory --guard --calibrate cdf MODEL",
    ),
    _satisfaction("dry-run", f"{_RATED} --judge zero-shot --dry-run MODEL"),
    _satisfaction(
        "resumed",
        f"{_RATED} --judge zero-shot --calibrate cdf --no-cache MODEL",
        f"satisfaction {_RATED} --judge zero-shot --no-cache --max-calls 20 MODEL -o run",
    ),
    _satisfaction(
        "of-run",
        "first --split all --judge history-median",
        f"satisfaction {_ALL} --judge nearest-1 -o first",
    ),
    _satisfaction("private", f"{_RATED} --judge history-mean --redact --hash-ids"),
    _satisfaction("split-by-seed", "rated.jsonl --judge history-median --seed 3"),
    _satisfaction("odd", "rated_odd.jsonl --judge history-mean --split-file split.json"),
)

_REPLAY_RUN = (*_RUN[:1], "run/scores.jsonl", "run/items.json")
_FILES = "--candidate replies:long.jsonl --candidate replies:short.jsonl"
_REPLAY = (
    _case(
        "replay-select",
        *(
            f"replay select rated.jsonl --rule {rule} -n 12 --split-file split.json -o {rule}.json"
            for rule in ("hard", "random", "stratified", "all")
        ),
        pins=("hard.json", "random.json", "stratified.json"),
    ),
    _case(
        "replay-steps",
        "replay select rated.jsonl --rule stratified -n 12 --split-file split.json --licence ours "
        "-o items.json",
        "ANSWER items.json",
        f"replay collect items.json {_FILES} -o run",
        "replay compare run",
        "replay score run --judge local",
        "replay compare run --margin 0.5 --ties turn-index",
        "replay score run --judge history-mean",
        "replay compare run --judge history-mean -o other",
        pins=(*_REPLAY_RUN, "other/summary.json"),
        condensed=("views.mean-shift", "views.reference-cdf", "views.*.controls", "planted", "rows"),
    ),
    _case(
        "replay-reference",
        "replay select rated.jsonl --rule random -n 9 --split-file split.json -o items.json",
        "ANSWER items.json",
        "replay collect items.json --candidate replies:long.jsonl -o one",
        "replay collect items.json --candidate replies:short.jsonl -o two",
        "replay score one --judge nearest-3",
        "replay score two --judge nearest-3 --reference one",
        "replay compare one two -o both",
        pins=("both/scores.jsonl",),
    ),
    _case(
        "replay-run",
        "replay select rated.jsonl --split-file split.json --rule stratified -n 10 -o items.json",
        "ANSWER items.json",
        "replay run rated.jsonl --split-file split.json --rule stratified -n 10 --judge local "
        "--candidate long --candidate replies:short.jsonl --agents agents.toml --judge-family stub "
        "-o run",
        pins=_REPLAY_RUN,
        condensed=("views.mean-shift", "views.reference-cdf.controls", "planted"),
    ),
    _case(
        "replay-run-private",
        "replay select rated.jsonl --split-file split.json --rule random -n 6 -o items.json",
        "ANSWER items.json",
        "replay run rated.jsonl --split-file split.json --rule random -n 6 --judge history-mean "
        "--candidate replies:long.jsonl --redact --hash-ids -o run",
        pins=_REPLAY_RUN[1:],
    ),
    _case(
        "replay-run-model",
        "replay run rated.jsonl --split-file split.json --rule random -n 8 --judge zero-shot MODEL "
        "--candidate m=stub-model@SERVER --context profile -o run",
        pins=_REPLAY_RUN,
        condensed=("views.mean-shift", "views.reference-cdf", "planted"),
    ),
    *(
        _case(
            f"replay-collect-{context}",
            "replay select rated.jsonl --rule random -n 4 --split-file split.json -o items.json",
            f"replay collect items.json --candidate m=stub-model@SERVER --context {context} "
            "--max-concurrency 1 -o run",
        )
        for context in ("prefix", "task", "memory-tfidf", "memory-diverse", "memory-compressed")
    ),
)

_ROWS = (
    _case(
        "simulate",
        "simulate scenarios.jsonl --candidate a=stub-model@SERVER --candidate b=big@SERVER MODEL --turns 2 "
        "--max-concurrency 1 -o run",
        "judge run -o judged",
        pins=("run/judgements.jsonl",),
        condensed=("rows",),
    ),
    _case(
        "arena",
        "arena choices.jsonl --draws 50 --seed 2 -o people",
        "show people q3",
        "export people -o votes.csv",
        "report people",
        "arena people --equal-length --json -o again",
        "arena log.jsonl faulty.jsonl --judge local -o run",
        "arena choices.jsonl MODEL --dry-run --prices prices.toml",
        "arena log.jsonl -o run",
        pins=("people/summary.json", "votes.csv"),
    ),
    _case(
        "export-local",
        "judge examples.jsonl --limit 2 -o run",
        *(f"export run -o rows.{ending}" for ending in ("jsonl", "csv", "parquet", "txt")),
        "export run --hash-ids --redact -o hidden.jsonl",
        pins=("rows.jsonl", "rows.csv"),
    ),
    _case(
        "export-model",
        "judge log.jsonl MODEL -o run",
        "export run -o rows.jsonl",
        "export run -o rows.csv",
        pins=("rows.jsonl", "rows.csv"),
    ),
    _case(
        "export-satisfaction",
        f"satisfaction {_RATED} --judge local -o run",
        "export run --hash-ids -o rows.csv",
        pins=("rows.csv",),
    ),
    _case(
        "pairs",
        "judge corrected.jsonl -o run",
        "pairs run --chosen-field corrected --unchecked -o dpo.jsonl",
        "pairs run --kind kto --unchecked -o kto.jsonl",
        "pairs run --kind sft --min-verdict borderline --unchecked -o sft.jsonl",
        "pairs run --kind active --limit 2 -o active.jsonl",
        "pairs run -o none.jsonl",
        "pairs run --kind ppo -o none.jsonl",
        pins=(
            "dpo.jsonl",
            "dpo.provenance.jsonl",
            "kto.jsonl",
            "sft.jsonl",
            "active.jsonl",
        ),
    ),
    _case(
        "pairs-model",
        "judge personal.jsonl MODEL -o run",
        "pairs run MODEL --unchecked -o dpo.jsonl",
        "pairs run MODEL --redact --hash-ids --unchecked -o hidden.jsonl",
        pins=("dpo.jsonl", "dpo.provenance.jsonl", "hidden.jsonl", "hidden.provenance.jsonl"),
    ),
)

CASES = (*_JUDGE, *_LOOKING, *_AGREEMENT, *_FIT, *_SATISFACTION, *_REPLAY, *_ROWS)
