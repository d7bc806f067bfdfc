"""What people said of the same conversations: how it goes together, and what the shipped judges see of it.

The dev users of RecLLMSim rated every reply, said of each whether it made something up, and answered four
questions on each conversation. Figures are clustered by user and stand beside controls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.recllmsim import folder
from benchmarks.tables import table

__all__ = ["run"]

QUESTIONS: Mapping[str, Sequence[str]] = {
    "Availability": ("不可用", "有一定参考", "很有用"),
    "Detail": ("简略", "一般", "详细"),
    "Diversity": ("结果单一", "一般", "结果多样"),
    "Memorization": ("是", "否"),
}
"""Answers from the worst to the best; the last asks whether the assistant forgot what was said before."""
MADE_UP = "是"
HONEST = "nothing made up"
MEASURES = ("spearman", "auc", "within_user_spearman")

_Turn = tuple[str, int]
_Columns = dict[str, Mapping[Any, float]]
"""By what is said the number of each turn, or of each conversation; high is good."""


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Print and return the figures of the dev users."""
    del times, quick
    at = folder()
    if at is None:
        print("people needs RecLLMSim: set DIALOGAUGE_SHARED")
        return {}
    talks = _talks(at)
    turns, talk = _of_turns(talks), _of_conversations(talks)
    figures: dict[str, Any] = {"among people": _among(talk, talks)}
    for name, scores in _judged(at, talks).items():
        turns[name], talk[f"{name}, mean"] = scores, _by_talk(scores, fmean)
    figures[HONEST] = _against(HONEST, 2, turns, talks)
    for question, answers in QUESTIONS.items():
        figures[question] = _against(question, len(answers), talk, talks)
    return figures


def _talks(at: Path) -> dict[str, Any]:
    from dialogauge.core import Conversation
    from dialogauge.data import read_conversations, read_split

    dev = read_split(str(at / "split.json")).test
    read = read_conversations([str(at / "human_exp_V2")])
    return {c.id: c for c in read if isinstance(c, Conversation) and c.user_id in dev}


def _of_turns(talks: Mapping[str, Any]) -> _Columns:
    rated = [r for c in talks.values() for r in c.ratings if r.turn is not None]
    return {
        "satisfaction": {
            (r.conversation_id, r.turn): r.score for r in rated if r.dimension == "satisfaction"
        },
        HONEST: {
            (r.conversation_id, r.turn): 1 + (r.score != MADE_UP)
            for r in rated
            if r.dimension == "hallucination"
        },
    }


def _of_conversations(talks: Mapping[str, Any]) -> _Columns:
    turns = _of_turns(talks)
    answered = [r for c in talks.values() for r in c.ratings if r.turn is None]
    return {
        "mean satisfaction": _by_talk(turns["satisfaction"], fmean),
        "lowest satisfaction": _by_talk(turns["satisfaction"], min),
        HONEST: _by_talk(turns[HONEST], min),
        **{
            name: {r.conversation_id: 1 + answers.index(r.score) for r in answered if r.dimension == name}
            for name, answers in QUESTIONS.items()
        },
    }


def _by_talk(scores: Mapping[_Turn, float], of: Callable[[list[float]], float]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for (talk, _), score in scores.items():
        found[talk].append(score)
    return {talk: of(values) for talk, values in found.items()}


def _judged(at: Path, talks: Mapping[str, Any]) -> dict[str, dict[_Turn, float]]:
    """By judge its score of each turn, with fractions where it gives them."""
    import dialogauge

    source = list(talks.values())
    runs = {
        f"local, {mode}": dialogauge.judge(source, rubric="satisfaction", mode=mode, progress=False)
        for mode in ("foresight", "hindsight")
    }
    runs["local-user"] = dialogauge.run(
        "satisfaction",
        str(at / "human_exp_V2"),
        judge="local-user",
        split_file=str(at / "split.json"),
        progress=False,
    )
    return {
        name: {(row["conversation_id"], row["turn"]): row["scores"]["satisfaction"] for row in run.rows()}
        for name, run in runs.items()
    }


def _table_of(columns: _Columns, talks: Mapping[str, Any], levels: Mapping[str, int]) -> Any:  # noqa: ANN401
    """Return the table of scores: turns or conversations by what is said of them."""
    import numpy as np

    from dialogauge.core import Scale
    from dialogauge.stats import ScoreTable, reply_length, scores_of

    keys = sorted(set.intersection(*(set(c) for c in columns.values())))
    places = [(key, None) if isinstance(key, str) else key for key in keys]
    users = tuple(talks[name].user_id for name, _ in places)
    lengths = [
        sum(reply_length(t.reply_text) for t in talks[name].turns if turn in (None, t.number))
        for name, turn in places
    ]
    sources = {
        name: scores_of([float(of[key]) for key in keys], scale=Scale(1, levels.get(name, 5)))
        for name, of in columns.items()
    }
    return ScoreTable(sources, users, "users", users, lengths=np.array(lengths, dtype=float))


def _against(reference: str, levels: int, columns: _Columns, talks: Mapping[str, Any]) -> dict[str, Any]:
    """Hold what was said of satisfaction against one thing that people said, beside controls."""
    from dialogauge.stats import adjusted, compare_pairs, control_columns, controls_of, figures_of, parse_rule

    scores, rule = _table_of(columns, talks, {reference: levels}), parse_rule(f"<{levels}")
    found, sides = {}, []
    for name in (n for n in columns if n not in (HONEST, *QUESTIONS)):
        controls = controls_of(scores, name, reference, rule=rule)
        of = {name: scores.sources[name], **control_columns(controls)}
        found[name] = figures_of(scores, of, reference, MEASURES, rule=rule)
        sides += compare_pairs(found[name], [(name, control) for control in controls], ["auc"])
    beaten = {(c.a, c.b): c.side == "above" for c in adjusted(sides)}
    rows = []
    for name, figures in found.items():
        own = (_shown(figures[name].estimate(m)) for m in MEASURES)
        dealt = (f"{figures[control].values['auc']:.3f}" for control in ("reply length", "shuffled"))
        left = [control for (a, control), above in beaten.items() if a == name and not above]
        rows.append([name, *own, *dealt, ", ".join(left) or "–"])
    low = int((scores.sources[reference].values < levels).sum())
    head = ("", "Spearman", "AUC", "Spearman within users", "AUC: reply length", "shuffled", "AUC not above")
    print(table(f"{reference}: {scores.n:,} targets, {low:,} without the best answer", head, rows))
    return {
        name: {who: {m: e.to_json() for m, e in f.estimates.items()} for who, f in figures.items()}
        for name, figures in found.items()
    }


def _among(columns: _Columns, talks: Mapping[str, Any]) -> dict[str, Any]:
    """Correlate what people said of the same conversations, two by two."""
    from dialogauge.stats import figures_of

    scores = _table_of(columns, talks, {HONEST: 2, **{q: len(a) for q, a in QUESTIONS.items()}})
    names = list(columns)
    found = {}
    for one, other in combinations(names, 2):
        of = figures_of(scores, {one: scores.sources[one]}, other, ("spearman",))[one]
        found[one, other] = of.estimate("spearman")
    rows = [[a, *(_shown(found[b, a]) if (b, a) in found else "" for b in names[:-1])] for a in names[1:]]
    print(table(f"Spearman, {scores.n:,} conversations", ("", *names[:-1]), rows))
    return {f"{a} · {b}": e.to_json() for (a, b), e in found.items()}


def _shown(e: Any) -> str:  # noqa: ANN401
    value = "–" if e.value is None else f"{e.value:.3f}"
    return value if e.interval is None else f"{value} [{e.low:.2f}, {e.high:.2f}]"
