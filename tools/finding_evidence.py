"""Measures every kind of finding of the local judge where people rated, and writes the table that ships.

    python tools/finding_evidence.py FOLDER [--check]

FOLDER holds data/ as docs/development/results/trust.md describes it. For each source, mode and kind: how often the kind is
named, the share of dissatisfied turns (failed tasks) there, the same share of all turns of the same users or
domain, and the ratio of both with an interval by users (dialogues where none is known); and what was seen in
all sources together over what their bases lead one to expect. Kinds were chosen on the training users, the
rewards and the blind readings; the last lost their names after the other sources were seen by kind as well.
With --check nothing is written.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from dialogauge.core import Conversation, Judged, Judgement, Score
from dialogauge.data import read_conversations
from dialogauge.judges.local.evidence import BLIND, OF_REPLY, PLANTED, POOLED, TITLES
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.signals import Mode, find_signals, is_fault, read_dialogue
from dialogauge.stats import Estimate
from dialogauge.stats.coefficients import divided
from dialogauge.stats.estimate import Basis
from dialogauge.stats.table import Floats, label_codes

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src" / "dialogauge" / "judges" / "local" / "evidence.json"
PAGES = (ROOT / "docs" / "local-judge.md", ROOT / "docs" / "development" / "results" / "believable.md")
CHOSEN_ON = frozenset({"RecLLMSim train users", "tau rewards, airline", "tau rewards, retail"})

USS = {"MWOZ": "MultiWOZ"}

POINTS = 0.4
"""Points of satisfaction for a natural logarithm of the lift: a deviation of the fitted model or two."""
PRIOR = 5
"""Turns at the base rate that a share is drawn towards."""


@dataclass(frozen=True)
class Read:
    """Replies that were read in their dialogue without the finding."""

    fires: int
    """As drawn: what was mended after the reading is not taken off."""
    real: int
    """Of these really at fault."""
    others: int
    """Replies without a finding, read among them."""
    theirs: int
    """Of these really at fault."""

    def chance(self) -> float:
        """Return Fisher's one-sided p of so many at fault, against the replies without a finding."""
        n, real, all_real = self.fires, self.real, self.real + self.theirs
        ways = (
            math.comb(n, k) * math.comb(self.others, all_real - k) for k in range(real, min(n, all_real) + 1)
        )
        return sum(ways) / math.comb(n + self.others, all_real)

    def lift(self) -> Estimate:
        """Return the ratio of both shares, with the interval of its logarithm."""
        base = self.theirs / self.others
        ratio = self.real / self.fires / base
        variance = 1 / self.real - 1 / self.fires + 1 / self.theirs - 1 / self.others
        spread = math.exp(Z * math.sqrt(variance))
        low, high = ratio / spread, min(ratio * spread, 1 / base)
        return Estimate(ratio, low, high, 0.95, self.fires, self.fires, "logarithm of a ratio of shares")


Z = 1.96
FIRST, SECOND = (15, 1), (50, 12)
"""Replies without a finding, and of these at fault, in the two readings (by language models)."""
READ = {
    "doubted": Read(12, 4, *FIRST),
    "not_answered": Read(12, 3, *FIRST),
    "refuses": Read(12, 4, *FIRST),
    "asks_for_given": Read(23, 20, *SECOND),
    "broken": Read(29, 19, *SECOND),
    "ignores_tool_error": Read(9, 6, *SECOND),
    "left_out": Read(13, 8, *SECOND),
    "other_language": Read(6, 6, *SECOND),
    "reversed": Read(26, 15, *SECOND),
}
"""Of the kinds that have a name; docs/development/results/believable.md has the others."""


@dataclass(frozen=True)
class Plants:
    """Faults that were planted one in a conversation of data that the rule had not seen."""

    planted: int
    detected: int
    sound: int
    flagged: int
    """Sound replies with the finding."""


PLANTS = {
    "cut_off": Plants(502, 422, 2537, 18),
    "echoes": Plants(502, 388, 2537, 1),
    "miscopied": Plants(39, 3, 87, 0),
}
"""By `python -m benchmarks reply_faults`: the sources that are not chosen, at their first run; of codes those
with tools."""


NO_ANSWER = ("echoes", "miscopied")
"""Kinds too rare in rated data to weigh: no answer at all, or a false one, weighs as the gravest."""


@dataclass(frozen=True)
class RatedTurn:
    """One rated turn, or one rewarded conversation."""

    group: str
    language: str
    bad: bool
    kinds: frozenset[str]
    """Named."""
    fault: bool
    order: float
    """Where to read first: the lowest; infinite for a run without a reply."""
    mean: float
    """Of a rewarded conversation the mean over its turns; of a turn the order itself."""


def sources(shared: Path) -> Iterator[tuple[str, list[Conversation]]]:
    """Yield every rated source."""
    data = shared / "data"
    split = json.loads((data / "recllmsim" / "split.json").read_text(encoding="utf-8"))
    for name, key in (("RecLLMSim train users", "train"), ("RecLLMSim dev users", "test")):
        yield name, read([data / "recllmsim" / "human_exp_V2" / user for user in split[key]])
    for path in sorted((data / "uss").glob("*.txt")):  # MultiWOZ; SGD, ReDial and CCPE where they are present
        yield f"USS {USS.get(path.stem, path.stem)}", read([path])
    runs = read([data / "tdeval" / "tau_trajectories"])
    for domain in ("airline", "retail"):
        yield f"tau rewards, {domain}", [c for c in runs if c.scenario == domain]


def read(paths: Sequence[Path]) -> list[Conversation]:
    """Read conversations; what is none is passed over."""
    reader = read_conversations([str(path) for path in paths])
    return [c for c in reader if isinstance(c, Conversation)]


def rated(name: str, conversations: Iterable[Conversation], mode: Mode) -> list[RatedTurn]:
    """Read findings and ratings of a source; below 3 is dissatisfied on USS, 3 or less on RecLLMSim."""
    limit = 3.0 if name.startswith("RecLLMSim") else 2.999
    judge, out = LocalJudge(mode, rubric_id="satisfaction"), []
    for c in conversations:
        ratings: defaultdict[int, list[float]] = defaultdict(list)
        for r in c.ratings:
            if r.dimension == "satisfaction" and r.turn is not None and not isinstance(r.score, str):
                ratings[r.turn].append(float(r.score))
        rewards = [float(r.score) for r in c.ratings if r.dimension == "reward"]
        dialogue = read_dialogue(c)
        signals = find_signals(dialogue, mode)
        rows = judge.judge_now(c)
        order = {row.target.turn: value for row in rows if (value := expected(row)) is not None}
        group = c.user_id or c.id
        if rewards:
            named = frozenset(s.name for s in signals if s.named)
            fault = any(is_fault([s for s in signals if s.turn == t.number]) for t in dialogue.replied)
            values = list(order.values()) or [math.inf]
            places = min(values), sum(values) / len(values)
            out.append(RatedTurn(group, dialogue.language, rewards[0] < 1, named, fault, *places))
            continue
        for turn in dialogue.replied:
            if scores := ratings.get(turn.number):
                mine = [s for s in signals if s.turn == turn.number]
                named = frozenset(s.name for s in mine if s.named)
                bad = sum(scores) / len(scores) <= limit
                place = order.get(turn.number, 5.0)
                out.append(RatedTurn(group, dialogue.language, bad, named, is_fault(mine), place, place))
    return out


def expected(row: Judged) -> float | None:
    """Return the satisfaction of a turn, unrounded; None where it was not judged."""
    score = row.outcome.scores.get("satisfaction") if isinstance(row.outcome, Judgement) else None
    return score.value if isinstance(score, Score) else None


def lift(turns: Sequence[RatedTurn], fires: Sequence[bool]) -> tuple[float, float, Estimate]:
    """Return the share where it fires, the share of all, and their ratio."""
    codes, groups = label_codes([t.group for t in turns])
    bad, fired = np.array([t.bad for t in turns], float), np.array(fires, float)
    columns = (fired * bad, fired, bad, np.ones(bad.size))
    sums: list[Floats] = [np.bincount(codes, weights=w, minlength=groups).astype(float) for w in columns]

    def ratio(hits: Floats, fire: Floats, all_bad: Floats, n: Floats) -> Floats:
        return divided(divided(hits, fire), divided(all_bad, n))

    value = float(ratio(*(np.array([s.sum()]) for s in sums))[0])
    unit = "users" if len({t.group for t in turns}) < 200 else "conversations"
    # Groups in which it never fires move the base alone; those in which it does make the figure.
    firing = int((sums[1] > 0).sum())
    basis, most = Basis(int(fired.sum()), groups, unit), bad.size / float(bad.sum())
    estimate = basis.estimate(value, ratio(*(s.sum() - s for s in sums)), (0.0, most), support=firing)
    return float((fired * bad).sum() / fired.sum()), float(bad.mean()), estimate


def pooled(kind: str, mode: Mode, seen: dict[str, list[RatedTurn]]) -> dict[str, Any] | None:
    """Return the evidence of all sources together: seen over expected; None for a kind of one source."""
    hits: defaultdict[tuple[str, str], float] = defaultdict(float)
    expected_hits: defaultdict[tuple[str, str], float] = defaultdict(float)
    fires, named_in = 0, set()
    for name, turns in seen.items():
        base = sum(t.bad for t in turns) / len(turns)
        for t in (t for t in turns if kind in t.kinds):
            place = name.partition(",")[0], t.group
            hits[place] += t.bad
            expected_hits[place] += base
            fires += 1
            named_in.add(name)
    if len(named_in) < 2:
        return None
    bad, usual = np.array(list(hits.values())), np.array(list(expected_hits.values()))
    value = float(bad.sum() / usual.sum())
    moved = divided(bad.sum() - bad, usual.sum() - usual)
    most = fires / float(usual.sum())
    estimate = Basis(fires, bad.size, "users").estimate(value, moved, (0.0, most), support=bad.size)
    row = {"source": POOLED, "mode": mode, "language": "mixed", "fires": fires}
    shares = {"share": float(bad.sum()) / fires, "base": float(usual.sum()) / fires}
    return {**row, **shares, "lift": asdict(estimate), "chosen_on": True}


def reading(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the evidence of the blind reading, in both modes for what is seen in the reply itself."""
    read_blind = READ[kind]
    shares = {"share": read_blind.real / read_blind.fires, "base": read_blind.theirs / read_blind.others}
    for mode in get_args(Mode) if kind in OF_REPLY else ("hindsight",):
        row = {"source": BLIND, "mode": mode, "language": "mixed", "fires": read_blind.fires}
        yield {**row, **shares, "lift": asdict(read_blind.lift()), "chosen_on": True}


def planting(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the evidence of planted faults, in both modes."""
    plants = PLANTS[kind]
    shares = {"share": plants.detected / plants.planted, "base": plants.flagged / plants.sound}
    nothing = Estimate(None, None, None, 0.95, plants.planted, 0, "planted", "counts alone")
    for mode in get_args(Mode):
        row = {"source": PLANTED, "mode": mode, "language": "mixed", "fires": plants.detected}
        yield {**row, **shares, "lift": asdict(nothing), "chosen_on": False}


def missing(name: str, mode: Mode, turns: Sequence[RatedTurn]) -> dict[str, Any]:
    """Return of how many poor turns, or failed runs, nothing was found."""
    poor = [t for t in turns if t.bad]
    what = "runs" if name.startswith("tau") else "turns"
    language = max({t.language for t in turns}, key=[t.language for t in turns].count)
    row = {"source": name, "mode": mode, "language": language, "what": what, "poor": len(poor)}
    return {**row, "without": sum(not t.kinds for t in poor), "chosen_on": name in CHOSEN_ON}


def is_borne_out(kind: str, rows: Iterable[dict[str, Any]]) -> bool:
    """Say whether a lift is above 1 by its interval, or more were at fault in the reading than by chance."""
    rated_above = any((r["lift"]["low"] or 0) > 1 for r in rows if r["source"] != BLIND)
    return kind in PLANTS or rated_above or (kind in READ and READ[kind].chance() <= 0.05)


def ratio_of(share: float, fires: int, base: float) -> float:
    """Return how many times the base a share is, drawn towards it."""
    return (share * fires + PRIOR * base) / (fires + PRIOR) / base


def weight(kind: str, rows: Sequence[dict[str, Any]]) -> float:
    """Return what a kind weighs: by the training users, else by the reading, else by the rewards.

    The base of a reading is drawn towards that of both, since fifteen replies say little of it.
    """
    of_hindsight = [r for r in rows if r["mode"] == "hindsight" and r["source"] in CHOSEN_ON]
    ratios = {r["source"]: ratio_of(r["share"], r["fires"], r["base"]) for r in of_hindsight}
    fires = {r["source"]: r["fires"] for r in of_hindsight}
    if fires.get("RecLLMSim train users", 0) >= 3:
        ratio = ratios["RecLLMSim train users"]
    elif one := READ.get(kind):
        usual = (FIRST[1] + SECOND[1]) / (FIRST[0] + SECOND[0])
        base = (one.theirs + PRIOR * usual) / (one.others + PRIOR)
        ratio = ratio_of(one.real / one.fires, one.fires, base)
    else:
        ratio = sum(ratios[s] * fires[s] for s in fires) / sum(fires.values()) if fires else 1.0
    return round(max(0.0, POINTS * math.log(ratio)), 3)


def measure(shared: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the table, and the lines of figures of all named findings together."""
    kinds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in TITLES}
    lines: list[str] = []
    missed: list[dict[str, Any]] = []
    seen: dict[Mode, dict[str, list[RatedTurn]]] = {mode: {} for mode in get_args(Mode)}
    for name, conversations in sources(shared):
        for mode in get_args(Mode):
            turns = seen[mode][name] = rated(name, conversations, mode)
            language = max({t.language for t in turns}, key=[t.language for t in turns].count)
            place = {"source": name, "mode": mode, "language": language}
            for kind in TITLES:
                fires = [kind in t.kinds for t in turns]
                if any(fires):
                    share, base, ratio = lift(turns, fires)
                    row = {**place, "fires": sum(fires), "share": share, "base": base}
                    kinds[kind].append({**row, "lift": asdict(ratio), "chosen_on": name in CHOSEN_ON})
            lines.append(overall(name, mode, turns))
            missed.append(missing(name, mode, turns))
    for kind, rows in kinds.items():
        rows += [row for mode in get_args(Mode) if (row := pooled(kind, mode, seen[mode]))]
    for kind in READ:
        kinds[kind] += reading(kind)
    for kind in PLANTS:
        kinds[kind] += planting(kind)
    borne_out = [kind for kind, rows in kinds.items() if is_borne_out(kind, rows)]
    weights = {kind: weight(kind, rows) for kind, rows in kinds.items() if kind not in NO_ANSWER}
    weights |= dict.fromkeys(NO_ANSWER, max(weights.values()))
    return {"kinds": kinds, "weights": weights, "borne_out": borne_out, "missed": missed}, lines


def overall(name: str, mode: str, turns: Sequence[RatedTurn]) -> str:
    """Write the figures of all findings together, and of the tenth that is put first."""
    ranked = sorted(range(len(turns)), key=lambda i: turns[i].order)
    first = set(ranked[: round(len(turns) / 10)])
    cells = [name, mode, f"{len(turns):,}", f"{sum(t.bad for t in turns) / len(turns):.3f}"]
    for fires in (
        [t.fault for t in turns],
        [bool(t.kinds) for t in turns],
        [i in first for i in range(len(turns))],
    ):
        cells.append(figures(turns, fires))
    orders = [[t.order for t in turns], [t.mean for t in turns]]
    cells.append(
        ", mean ".join(area(turns, order) for order in (orders if orders[0] != orders[1] else orders[:1]))
    )
    return "| " + " | ".join(cells) + " |"


def area(turns: Sequence[RatedTurn], order: Sequence[float]) -> str:
    """Write how often the worse of two has the lower place, with the interval by groups."""
    codes, groups = label_codes([t.group for t in turns])
    values, bad = np.round(order, 6), np.array([t.bad for t in turns])
    judged = np.isfinite(values)

    def auc(kept: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
        good, worse = np.sort(values[kept & judged & ~bad]), values[kept & judged & bad]
        below = np.searchsorted(good, worse, "left") + np.searchsorted(good, worse, "right")
        return 1 - float(np.mean(below)) / (2 * len(good))

    unit = "users" if groups < 200 else "conversations"
    moved = np.array([auc(codes != group) for group in range(groups)])
    value = auc(np.ones(bad.size, bool))
    estimate = Basis(bad.size, groups, unit).estimate(value, moved, (0.0, 1.0))
    return f"{value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def figures(turns: Sequence[RatedTurn], fires: Sequence[bool]) -> str:
    """Write how often, the share and the lift."""
    if not any(fires):
        return "–"
    share, _, ratio = lift(turns, fires)
    return f"{sum(fires):,}: {share:.3f}, {ratio.value:.2f} {interval(ratio)}"


def interval(estimate: Estimate) -> str:
    """Write an interval."""
    return "" if estimate.low is None else f"[{estimate.low:.2f}, {estimate.high:.2f}]"


def brief(value: dict[str, Any]) -> Iterator[str]:
    """Write the table for users, in hindsight: of each kind the unseen source with the most, else the reading."""
    yield "| finding | seen | faulty | usually | ratio | evidence |"
    yield "|---|---|---|---|---|---|"
    for kind, every in value["kinds"].items():
        rows = [row for row in every if row["mode"] == "hindsight"]
        unseen = [r for r in rows if not r["chosen_on"] and (r["fires"] >= 5 or r["source"] == PLANTED)]
        row = max(
            (r for r in unseen if r["source"] == PLANTED or kind not in PLANTS),
            key=lambda r: r["fires"],
            default=next((r for r in rows if r["source"] == BLIND), None),
        )
        if row is None:
            yield f"| `{kind}` | 0 | – | – | – | a plain fact |"
            continue
        ratio = Estimate(**row["lift"])
        cells = [row["fires"], f"{100 * row['share']:.0f} %", f"{100 * row['base']:.1f} %"]
        cells += [f"{ratio.value:.2f} {interval(ratio)}".strip() if ratio.value else "–", row["source"]]
        yield f"| `{kind}` | " + " | ".join(map(str, cells)) + " |"


def table(value: dict[str, Any]) -> Iterator[str]:
    """Write the whole table, in hindsight: all sources together, the only one, or the reading."""
    yield "| finding | source | named | share | base | lift | weight |"
    yield "|---|---|---|---|---|---|---|"
    for kind, every in value["kinds"].items():
        weighs = value["weights"][kind]
        rows = [row for row in every if row["mode"] == "hindsight"]
        if not rows:
            yield f"| `{kind}` | never seen where people rated | 0 | – | – | – | {weighs} |"
        several = any(row["source"] == POOLED for row in rows)
        for row in rows:
            if several and row["source"] not in {POOLED, BLIND}:
                continue
            ratio = Estimate(**row["lift"])
            cells = [row["source"], row["fires"], f"{row['share']:.3f}", f"{row['base']:.3f}"]
            cells += [f"{ratio.value:.2f} {interval(ratio)}".strip() if ratio.value else "–", weighs]
            yield f"| `{kind}` | " + " | ".join(map(str, cells)) + " |"


def put(page: Path, name: str, body: str) -> None:
    """Put a text between its markers on a page."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(start)
    page.write_text(f"{before}{start}\n\n{body}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")


HEAD = (
    "| source | mode | n | base | named as faulty | any finding | first tenth to read | AUC |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Measure, and write table and pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--check", action="store_true", help="print, and write nothing")
    options = parser.parse_args()
    value, lines = measure(options.shared)
    body, total = "\n".join(table(value)), "\n".join([HEAD, *lines])
    print(body, total, sep="\n\n")
    if not options.check:
        TABLE.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        put(PAGES[0], "evidence", "\n".join(brief(value)))
        put(PAGES[1], "evidence", body)
        put(PAGES[1], "findings", total)


if __name__ == "__main__":
    main()
