"""Measures the local judge against people and writes the figures of docs/development/results/trust.md.

    python tools/trust_figures.py FOLDER [--work DIR] [--only recllmsim uss tau examples]

Every figure comes from the documented commands, which are printed as they run; the tables between the
markers of the page are replaced by what was measured now.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.core.version import __version__
from dialogauge.stats import MEASURES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "development" / "results" / "trust.md"
MODES = ("hindsight", "foresight")
SHOWN = tuple(MEASURES)
LOW = 3
"""A score of 3 or less says that a turn is faulty."""


def dialogauge(*words: object) -> str:
    """Run a command; a record that cannot be read (exit code 1) is part of the data."""
    line = [str(w) for w in words]
    print("dialogauge", *(shlex.quote(w) for w in line), flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "dialogauge", *line], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return done.stdout


def against_people(
    name: str, data: Sequence[object], work: Path, modes: Sequence[str], *how: str
) -> Iterator[str]:
    """Judge a data set in each mode, hold all against its ratings, and write the tables.

    The first two of `how` are the rubric and the rule of dissatisfaction; the others go to `agreement`.
    """
    runs, (rubric, rule, *pair) = [], how
    for mode in modes:
        runs.append(work / f"{name}-{mode}")
        dialogauge("judge", *data, "--rubric", rubric, "--mode", mode, "-o", runs[-1])
    out = work / f"agreement-{name}"
    dialogauge("agreement", *runs, "--dissatisfied", rule, *pair, "-o", out)
    yield from tables(json.loads((out / "agreement.json").read_text(encoding="utf-8")))


def tables(found: Mapping[str, Any]) -> Iterator[str]:
    """Write every judge with its controls, and the comparisons."""
    for judge in found["judges"]:
        counts, users = judge["counts"], judge["users"]
        people = f" of {users} users" if users else ""
        yield (
            f"**{judge['mode'].capitalize()}**, {judge['dimension']}: {counts['rated']:,} rated targets, "
            f"{counts['scored']:,} scored ({judge['conversations']:,} conversations{people}), "
            f"{counts['not_applicable']:,} n/a, {counts['failed']:,} failed, "
            f"{counts['not_judged']:,} not judged; "
            f"dissatisfied ({judge['dissatisfied_if']}) {judge['dissatisfied']:,}."
        )
        yield ""
        yield from table(judge)
        yield ""
        yield from sentences(judge)
        yield ""
    for c in found["comparisons"]:
        gain = c["a_better_by"]
        yield (
            f"- {c['measure']}, {c['a']} against {c['b']} ({gain['n']:,} targets): difference "
            f"{number(gain['value'])} {interval(gain)}, "
            f"p {number(c['p_holm'])}: {c['words']}."
        )
    yield ""


def table(judge: Mapping[str, Any]) -> Iterator[str]:
    """Write the measures of one judge."""
    controls = judge["controls"]
    head = ["", "judge", f"by {judge['clustered_by']}", *(c["name"] for c in controls)]
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for name in SHOWN:
        if name not in judge["figures"]:
            continue
        figure = judge["figures"][name]
        cells = [name.replace("_", " "), number(figure["value"]), interval(figure)]
        cells += [number(c["figures"][name]["value"]) for c in controls]
        yield "| " + " | ".join(cells) + " |"


def sentences(judge: Mapping[str, Any]) -> Iterator[str]:
    """Say what the judge is above, for the measures that floor and goal are about."""
    for name in ("auc", "spearman"):
        gains = {c["b"]: c["a_better_by"] for c in judge["against_controls"] if c["measure"] == name}
        if not gains:
            continue
        below = [control for control, gain in gains.items() if not above(gain)]
        word = "above every control" if not below else f"NOT above {', '.join(below)}"
        by = ", ".join(f"{control} {interval(gain)}" for control, gain in gains.items())
        yield f"- {name}: {word} (better by: {by})"


def above(gain: Mapping[str, Any] | None) -> bool:
    """Whether an interval lies above 0."""
    return gain is not None and gain["low"] is not None and gain["low"] > 0


def number(value: float | None) -> str:
    """Write a figure with three decimals."""
    return "–" if value is None else f"{value:.3f}"


def interval(found: Mapping[str, Any] | None) -> str:
    """Write an interval."""
    return "–" if found is None or found["low"] is None else f"[{found['low']:.3f}, {found['high']:.3f}]"


def recllmsim(shared: Path, work: Path) -> Iterator[str]:
    """Chinese: the dev users, of whom nothing was fitted."""
    data = shared / "data" / "recllmsim"
    users = json.loads((data / "split.json").read_text(encoding="utf-8"))["test"]
    folders = [data / "human_exp_V2" / user for user in users]
    yield from against_people("recllmsim", folders, work, MODES, "satisfaction", "3")


def uss(shared: Path, work: Path) -> Iterator[str]:
    """English."""
    yield from against_people(
        "uss", [shared / "data" / "uss" / "MWOZ.txt"], work, MODES, "satisfaction", "<3"
    )


def tau(shared: Path, work: Path) -> Iterator[str]:
    """Task success of agents: the reward of the environment. The whole is read in either mode."""
    folder = shared / "data" / "tdeval" / "tau_trajectories"
    pair = ("--dimension", "task_completion=reward")
    yield from against_people("tau", [folder], work, MODES[:1], "card", "<1", *pair)


def examples(_: Path, work: Path) -> Iterator[str]:
    """Single replies against the dialogue, on the samples with their intended faults."""
    data = ROOT / "src/dialogauge/samples/working.jsonl"
    runs = {"single": work / "examples-single"}
    dialogauge("judge", data, "--rubric", "single", "-o", runs["single"])
    for mode in reversed(MODES):
        runs[mode] = work / f"examples-{mode}"
        dialogauge("judge", data, "--mode", mode, "-o", runs[mode])
    records = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    ratings = work / "intended.csv"
    with ratings.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(intended(records))
    compared = work / "agreement-examples"
    names = ("helpfulness", "context_use", "single_quality")
    pairs = [word for name in names for word in ("--dimension", f"{name}=intended")]
    dialogauge(
        "agreement", *runs.values(), "--ratings", ratings, "--dissatisfied", "faulty", *pairs, "-o", compared
    )
    found = json.loads((compared / "agreement.json").read_text(encoding="utf-8"))
    yield "| judged | dimension | AUC of faulty turns | by conversations | reply length | shuffled |"
    yield "|---|---|---|---|---|---|"
    for judge in found["judges"]:
        figure, controls = judge["figures"]["auc"], {c["name"]: c for c in judge["controls"]}
        beside = [number(controls[c]["figures"]["auc"]["value"]) for c in ("reply length", "shuffled")]
        shown = [
            Path(judge["run"]).name.removeprefix("examples-"),
            judge["dimension"],
            number(figure["value"]),
        ]
        yield "| " + " | ".join([*shown, interval(figure), *beside]) + " |"
    yield ""
    yield from kinds(records, runs)
    yield ""
    for c in found["comparisons"]:
        if "single" in c["a"]:
            gain = interval(c["a_better_by"])
            yield f"- {c['a']} against {c['b']}: {gain}, {c['words']}."
    yield ""


def intended(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Write the intended faults as ratings: one row for every assistant turn."""
    yield ("conversation_id", "turn", "dimension", "score")
    for record in records:
        faulty = record["metadata"]["fault_turn"]
        for turn in range(1, turns_of(record) + 1):
            yield (record["conversation_id"], turn, "intended", "faulty" if turn == faulty else "sound")


def turns_of(record: Mapping[str, Any]) -> int:
    """Count the turns: user messages that follow something of the assistant, and the first."""
    roles = [m["role"] for m in record["messages"] if m["role"] != "system"]
    return sum(role == "user" and (i == 0 or roles[i - 1] != "user") for i, role in enumerate(roles))


def kinds(records: Iterable[Mapping[str, Any]], runs: Mapping[str, Path]) -> Iterator[str]:
    """Write by kind of fault how many of the faulty turns each way of judging scores 3 or less."""
    faults = {r["conversation_id"]: r["metadata"] for r in records}
    seen: dict[str, Counter[str]] = {name: Counter() for name in runs}
    total: Counter[str] = Counter()
    for name, run in runs.items():
        manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        asked = {d["name"] for d in manifest["dimensions"]}
        for line in (run / "judgements.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["level"] != "turn":
                continue
            fault = faults[row["conversation_id"]]
            kind = fault["fault"] if row["turn"] == fault["fault_turn"] else "sound turns"
            scores = [s for d, s in row["scores"].items() if d in asked and not isinstance(s, str)]
            seen[name][kind] += bool(scores) and min(scores) <= LOW
            total[kind] += name == "single"
    yield f"| turns with | n | {' | '.join(f'{name}: {LOW} or less' for name in runs)} |"
    yield "|---" * (2 + len(runs)) + "|"
    for kind, n in sorted(total.items(), key=lambda item: (item[0] == "sound turns", item[0])):
        yield f"| {kind.replace('_', ' ')} | {n} | {' | '.join(str(seen[name][kind]) for name in runs)} |"


PARTS = {"recllmsim": recllmsim, "uss": uss, "tau": tau, "examples": examples}


def main() -> None:
    """Measure what is asked for and put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder that holds data/")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "trust")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    page = PAGE.read_text(encoding="utf-8")
    for name in options.only:
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, _, rest = page.partition(start)
        after = rest.partition(end)[2]
        stamp = f"Measured {datetime.now(UTC).date().isoformat()} with dialogauge {__version__}."
        body = "\n".join([stamp, "", *PARTS[name](options.shared, options.work)]).strip()
        page = f"{before}{start}\n\n{body}\n\n{end}{after}"
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
