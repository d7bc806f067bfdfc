"""Fits the local judge's weights for role-play to people's ratings, and measures them on characters left out.

    python -m benchmarks.roleplay fit        # writes src/dialogauge/judges/local/roleplay.json
    python -m benchmarks.roleplay figures    # prints what docs/development/results/sessions.md says

Both read data/roleplay below the folder that DIALOGAUGE_SHARED names. Which way a sign points is set by its
meaning (`DIRECTIONS`). A fit finds how much it weighs, and may leave it out: ridge regression towards equal
weights, none below 0. Each rated dimension is standardised by itself. The strength of the ridge is chosen on
characters left out of the fit, among those that are not measured.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dialogauge
from dialogauge.core import Conversation, Message
from dialogauge.data import read_conversations
from dialogauge.judges.local.roleplay import ROLEPLAY_DIMENSIONS
from dialogauge.signals import find_signals, read_dialogue, read_roleplay, roleplay_signs

Floats = NDArray[np.float64]

SHARED = os.environ.get("DIALOGAUGE_SHARED")
PACK = Path(SHARED or ".") / "data" / "roleplay"
FILE = Path(dialogauge.__file__).parent / "judges" / "local" / "roleplay.json"
BENCH, EPISODES = "CharacterBench", "sotopia"
IA, HL, RC, CC = ROLEPLAY_DIMENSIONS
RATED: Mapping[str, str] = {
    "engagement": IA,
    "human_likeness": HL,
    "attribute_consistency_bot": RC,
    "attribute_consistency_human": RC,
    "behavior_consistency_human": RC,
    "memory_consistency": CC,
    "believability": HL,
}
"""The dimension that people rated -> the one that judges it."""
SIX = tuple(RATED)[:6]
DIRECTIONS: Mapping[str, str] = {
    IA: "+question +question_unasked +proposes +new_content +interjections +in_style +exclamations "
    "+callback +new_names +longer +negations +request_taken_up -question_for_question -only_questions "
    "-closes -thanks -echoes_user -uplift -same_shape -same_beginning -repeats -assistant_talk -evades "
    "-hedges -drift -undelivered -silent",
    HL: "+question +question_unasked +interjections +negations +hedges +in_style +exclamations -uplift "
    "-assistant_talk -same_shape -same_beginning -repeats -thanks -echoes_user -speaker_label "
    "-recites_character -undelivered -strange_signs -drift -silent",
    RC: "+grounded +supported +catchphrase +in_style +first_person_first +share_of_directions +known_names "
    "-evades -assistant_talk -speaker_label -hedges -question_for_question -only_questions -new_names "
    "-repeats -uplift -thanks -echoes_user -recites_character -same_beginning -length -contradicts "
    "-undelivered -strange_signs -drift -silent",
    CC: "+grounded +supported +of_history +callback +known_names +request_taken_up +in_style -new_content "
    "-new_names -repeats -same_beginning -same_shape -evades -only_questions -question_for_question "
    "-assistant_talk -speaker_label -hedges -echoes_user -contradicts -undelivered -strange_signs",
}
"""Which way each sign points, by what it means; chosen with a look at the data (see the results)."""
RIDGES = (30.0, 100.0, 300.0, 1000.0, 3000.0)
EQUAL = 0.1
"""The weight of each sign towards which the ridge draws."""
FOLDS, INNER = 10, 5
FAR = 3.0
RARE = 0.1
"""The spread of a sign that no rated reply has: of a fault in one of ten replies."""
DRAWS = 2000


@dataclass(frozen=True)
class Table:
    """Rated replies and sessions: one row each."""

    signs: Floats
    """Shape (n, signs)."""
    rated: NDArray[np.str_]
    """The dimension that people rated."""
    people: Floats
    """The mean of the raters."""
    source: NDArray[np.str_]
    characters: tuple[frozenset[str], ...]
    """Who plays; in an episode both."""
    player: NDArray[np.str_]
    """Whose replies were rated."""
    system: NDArray[np.str_]
    lengths: Floats
    machine: Floats
    """The mean of CharacterJudge's two predictions; NaN of episodes."""
    ratings: tuple[tuple[float, ...], ...]
    """Of each row, by rater."""

    @property
    def target(self) -> Floats:
        """People's scores, standardised within the rated dimension."""
        out = np.empty_like(self.people)
        for name in np.unique(self.rated):
            mine = self.people[self.rated == name]
            out[self.rated == name] = (mine - mine.mean()) / mine.std()
        return out


def conversations() -> list[tuple[str, Conversation]]:
    """Return the rated conversations with their source."""
    files = {BENCH: "characterbench_human_turn.jsonl", EPISODES: "sotopia_pi_human_session.jsonl"}
    read = ((name, item) for name, file in files.items() for item in read_conversations([str(PACK / file)]))
    return [(name, item) for name, item in read if isinstance(item, Conversation)]


def signs_of(conversation: Conversation) -> Floats:
    """Read the signs as the judge does: of what follows the prefix."""
    dialogue = read_dialogue(conversation, "en")
    turns = [t.number for t in conversation.replied_turns if t.stop > conversation.prefix]
    signs = read_roleplay(dialogue, find_signals(dialogue, "foresight"), turns)
    return np.full(len(roleplay_signs()), np.nan) if signs is None else np.array(list(signs.values()))


def table_of(read: Sequence[tuple[str, Conversation]]) -> Table:
    """Lay out the rated conversations; one without a reply to the other side is left out."""
    rows: list[tuple[Any, ...]] = []
    for source, talk in read:
        scores = {d: [float(r.score) for r in talk.ratings if r.dimension == d] for d in RATED}
        both = frozenset(name.strip().lower() for name in talk.metadata.get("agents", [talk.user_id]))
        predicted = [talk.metadata.get(f"judge_pred_{language}", np.nan) for language in ("en", "zh")]
        length = float(
            np.mean([len(t.reply_text) for t in talk.replied_turns[-1 if source == BENCH else 0 :]] or [0])
        )
        signs = signs_of(talk)
        for name, given in scores.items():
            if given and not np.isnan(signs).any():
                about = (source, both, str(talk.user_id).strip().lower(), str(talk.candidate).lower())
                rows.append(
                    (
                        signs,
                        name,
                        float(np.mean(given)),
                        *about,
                        length,
                        float(np.mean(predicted)),
                        tuple(given),
                    )
                )
    signs, rated, people, source, characters, player, system, lengths, machine, ratings = zip(
        *rows, strict=True
    )
    return Table(
        np.array(signs),
        np.array(rated),
        np.array(people),
        np.array(source),
        characters,
        np.array(player),
        np.array(system),
        np.array(lengths),
        np.array(machine),
        ratings,
    )


@cache
def table() -> Table:
    """Return the table of the shared data."""
    return table_of(conversations())


# Fit -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """Weights of one fit."""

    centre: Floats
    spread: Floats
    weights: Mapping[str, Floats]
    """By dimension, shape (signs,): with the direction."""

    def scores(self, signs: Floats) -> Mapping[str, Floats]:
        """Return by dimension the scores, in no unit."""
        near = np.clip((signs - self.centre) / self.spread, -FAR, FAR)
        return {name: near @ weights for name, weights in self.weights.items()}


@cache
def directions(dimension: str) -> tuple[tuple[int, ...], Floats]:
    """Return the places of a dimension's signs, and their directions."""
    words, names = DIRECTIONS[dimension].split(), roleplay_signs()
    return tuple(names.index(w[1:]) for w in words), np.array([1.0 if w[0] == "+" else -1.0 for w in words])


def ridge_from_zero(x: Floats, y: Floats, ridge: float, *, free: bool = False) -> Floats:
    """Return the weights, none below 0, with the least squared error plus ridge times squares off `EQUAL`.

    With `free` they may be of either sign, and are drawn towards 0: the directions are learnt too.
    """
    if free:
        return np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ y)
    squares, products = x.T @ x, x.T @ y
    weights = np.full(x.shape[1], EQUAL)
    for _ in range(300):
        before = weights.copy()
        for i in range(weights.size):
            rest = products[i] - squares[i] @ weights + squares[i, i] * weights[i] + ridge * EQUAL
            weights[i] = max(0.0, rest / (squares[i, i] + ridge))
        if np.abs(weights - before).max() < 1e-6:
            break
    return weights


def fit(data: Table, rows: NDArray[np.bool_], ridges: Mapping[str, float], *, free: bool = False) -> Fitted:
    """Fit to some rows; signs are centred within each source, so that only differences within it count."""
    of = {name: rows & (data.source == name) for name in (BENCH, EPISODES)}
    means = {name: data.signs[mine].mean(axis=0) for name, mine in of.items()}
    within = data.signs - np.array([means[name] for name in data.source])
    spread = np.sqrt((within[rows] ** 2).mean(axis=0))
    spread[spread < 1e-6] = RARE
    near, target = np.clip(within / spread, -FAR, FAR), data.target
    weights = {}
    for name in ROLEPLAY_DIMENSIONS:
        places, signs = directions(name)
        if free:
            places, signs = tuple(range(spread.size)), np.ones(spread.size)
        mine = rows & np.array([RATED[r] == name for r in data.rated])
        weights[name] = np.zeros(spread.size)
        weights[name][list(places)] = signs * ridge_from_zero(
            near[mine][:, places] * signs, target[mine], ridges[name], free=free
        )
    return Fitted((means[BENCH] + means[EPISODES]) / 2, spread, weights)


def folds_of(data: Table, rows: NDArray[np.bool_], parts: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows to fit to and those to predict, which share no character."""
    every = sorted({name for i in np.flatnonzero(rows) for name in data.characters[i]})
    dealt = np.random.default_rng(seed).permutation(len(every)) % parts
    part = dict(zip(every, dealt, strict=True))
    for k in range(parts):
        here = rows & np.array([part.get(name) == k for name in data.player])
        away = rows & np.array([all(part.get(c) != k for c in both) for both in data.characters])
        yield away, here


def predicted(
    data: Table,
    rows: NDArray[np.bool_],
    ridges: Mapping[str, float],
    parts: int,
    seed: int,
    *,
    free: bool = False,
) -> Floats:
    """Return the scores of left-out rows by the dimension that judges each; NaN elsewhere."""
    out = np.full(data.people.size, np.nan)
    for away, here in folds_of(data, rows, parts, seed):
        scores = fit(data, away, ridges, free=free).scores(data.signs[here])
        out[here] = [scores[RATED[r]][i] for i, r in enumerate(data.rated[here])]
    return out


def choose(data: Table, rows: NDArray[np.bool_], seed: int) -> dict[str, float]:
    """Choose by dimension the strength that orders characters left out of the fit best."""
    tried = {
        ridge: predicted(data, rows, dict.fromkeys(ROLEPLAY_DIMENSIONS, ridge), INNER, seed)
        for ridge in RIDGES
    }

    def worth(ridge: float, dimension: str) -> float:
        rated = [name for name, of in RATED.items() if of == dimension]
        of = [rows & (data.rated == name) for name in rated]
        return float(np.mean([pearson(tried[ridge][mine], data.people[mine]) for mine in of]))

    return {name: max(RIDGES, key=lambda ridge: worth(ridge, name)) for name in ROLEPLAY_DIMENSIONS}


def nested(data: Table, seed: int) -> Floats:
    """Return the scores of every row by a fit, and settings, that saw none of its characters."""
    every = np.ones(data.people.size, dtype=bool)
    out = np.full(data.people.size, np.nan)
    for away, here in folds_of(data, every, FOLDS, seed):
        scores = fit(data, away, choose(data, away, seed)).scores(data.signs[here])
        out[here] = [scores[RATED[r]][i] for i, r in enumerate(data.rated[here])]
    return out


# Figures ---------------------------------------------------------------------------------------------------


def pearson(x: Floats, y: Floats, weights: Floats | None = None) -> Any:  # noqa: ANN401 - one, or one for each row of weights
    """Return Pearson's correlation, 0 for a constant; with weights, shape (draws, n), one for each draw."""
    w = np.ones((1, x.size)) if weights is None else weights
    total = w.sum(axis=1)
    mx, my = w @ x / total, w @ y / total
    xy = w @ (x * y) / total - mx * my
    xx, yy = w @ (x * x) / total - mx**2, w @ (y * y) / total - my**2
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where((xx > 1e-12) & (yy > 1e-12), xy / np.sqrt(np.maximum(xx * yy, 1e-24)), 0.0)
    return float(r[0]) if weights is None else r


Order = Mapping[str, Floats]
"""Rated dimension -> its figure in each draw; the first is that of the data."""


class Draws:
    """Draws of characters with replacement; the first draw is the data itself."""

    def __init__(self, data: Table, seed: int = 0) -> None:
        """Draw."""
        self.data = data
        names, place = np.unique(data.player, return_inverse=True)
        times = np.random.default_rng(seed).multinomial(
            names.size, np.full(names.size, 1 / names.size), DRAWS
        )
        self.weights = np.vstack([np.ones(data.people.size), times[:, place]]).astype(float)

    def of(self, *orders: Floats) -> dict[str, Floats]:
        """Return by rated dimension, and of the six together, the mean over some orders in each draw."""
        out = {}
        for name in (*SIX, "believability"):
            mine = self.data.rated == name
            each = [pearson(o[mine], self.data.people[mine], self.weights[:, mine]) for o in orders]
            out[name] = np.mean(each, axis=0)
        out["six"] = np.mean([out[name] for name in SIX], axis=0)
        return out


def in_words(draws: Floats) -> str:
    """Write a figure with its interval."""
    low, high = np.nanquantile(draws[1:], (0.025, 0.975))
    return f"{draws[0]:.3f} [{low:.3f}, {high:.3f}]"


def who_wrote_it(data: Table, seed: int) -> Floats:
    """Return the mean score of the system on other characters: the reply is not read."""
    out, target = np.zeros(data.people.size), data.target
    for away, here in folds_of(data, np.ones(data.people.size, dtype=bool), FOLDS, seed):
        for i in np.flatnonzero(here):
            same = away & (data.rated == data.rated[i]) & (data.system == data.system[i])
            out[i] = target[same].mean() if same.any() else 0.0
    return out


def controls(data: Table) -> dict[str, Sequence[Floats]]:
    """Return the controls by name, and what other judges say."""
    question = data.signs[:, roleplay_signs().index("question")]
    rng = np.random.default_rng(1)
    return {
        "has a question mark": [question],
        "reply length": [data.lengths],
        "constant": [np.zeros_like(data.people)],
        "shuffled": [rng.permutation(data.people) for _ in range(20)],
        "who wrote it, the reply unread": [who_wrote_it(data, seed) for seed in range(3)],
        "CharacterJudge": [np.nan_to_num(data.machine)],
    }


def of_another_character(
    read: Sequence[tuple[str, Conversation]], seed: int = 0
) -> list[tuple[str, Conversation]]:
    """Return the replies each with the text of another character, to see what the text itself contributes."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(read))
    after = {int(order[i]): int(order[(i + 1) % len(read)]) for i in range(len(read))}
    swapped = []
    for i, (source, talk) in enumerate(read):
        text = read[after[i]][1].messages[0].text
        swapped.append((source, replace(talk, messages=(Message("system", text), *talk.messages[1:]))))
    return swapped


def people_among_themselves(data: Table) -> Floats:
    """Return pairs of ratings of one session, both ways round, shape (pairs, 2)."""
    pairs = [(a, b) for of in data.ratings for i, a in enumerate(of) for j, b in enumerate(of) if i != j]
    return np.array(pairs)


def fitted_file(data: Table) -> dict[str, Any]:
    """Fit to everything, and return what the file that ships holds, but for what was measured."""
    every = np.ones(data.people.size, dtype=bool)
    ridges = choose(data, every, 0)
    left_out = predicted(data, every, ridges, FOLDS, 0)
    fitted, names, target = fit(data, every, ridges), roleplay_signs(), data.target
    weights = {}
    for dimension, values in fitted.weights.items():
        mine = np.array([RATED[r] == dimension for r in data.rated])
        # a point of the score is a standard deviation of people's ratings, as far as it foresees them
        slope = max(0.0, float((left_out[mine] * target[mine]).mean() / left_out[mine].var()))
        rounded = {name: round(float(v) * slope, 4) for name, v in zip(names, values, strict=True)}
        weights[dimension] = {name: weight for name, weight in rounded.items() if weight}
    return {
        "centre": dict(zip(names, (round(float(v), 6) for v in fitted.centre), strict=True)),
        "spread": dict(zip(names, (round(float(v), 6) for v in fitted.spread), strict=True)),
        "weights": weights,
        "fitted_on": {
            "rated": dict(Counter(map(str, data.rated))),
            "characters": len(set(data.player)),
            "languages": ["en"],
            "ridges": ridges,
        },
    }


def write(data: Table) -> None:
    """Write the file that ships."""
    orders = [nested(data, seed) for seed in range(3)]
    value = {**fitted_file(data), "measured": measured(Draws(data), orders)}
    FILE.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE}: {sum(map(len, value['weights'].values()))} weights")


def measured(draws: Draws, orders: Sequence[Floats]) -> dict[str, Any]:
    """Return by dimension the figure on characters left out, and whether it is above every control."""
    judge, out = draws.of(*orders), {}
    others = {name: draws.of(*of) for name, of in controls(draws.data).items() if name != "CharacterJudge"}
    for dimension in ROLEPLAY_DIMENSIONS:
        rated = [name for name in SIX if RATED[name] == dimension]
        mine = np.mean([judge[name] for name in rated], axis=0)
        gains = {n: mine - np.mean([of[name] for name in rated], axis=0) for n, of in others.items()}
        low, high = (round(float(end), 3) for end in np.quantile(mine[1:], (0.025, 0.975)))
        out[dimension] = {
            "pearson": round(float(mine[0]), 3),
            "interval": [low, high],
            "not_above": [n for n, gain in gains.items() if np.quantile(gain[1:], 0.025) <= 0],
        }
    return out


def figures() -> None:
    """Print every figure of the results."""
    read = conversations()
    data = table_of(read)
    draws, names = Draws(data), roleplay_signs()
    columns = (*SIX, "six", "believability")
    print("n", {name: int((data.rated == name).sum()) for name in columns if name != "six"})
    print(
        "characters",
        len(set(data.player[data.source == BENCH])),
        len(set(data.player[data.source == EPISODES])),
    )

    def row(name: str, of: Mapping[str, Floats]) -> None:
        print(f"| {name} | " + " | ".join(in_words(of[c]) for c in columns) + " |", flush=True)

    print("| | " + " | ".join(columns) + " |")
    orders = [nested(data, seed) for seed in range(3)]
    judge = draws.of(*orders)
    row("local", judge)
    known = {name: draws.of(*of) for name, of in controls(data).items()}
    for name, of in known.items():
        row(name, of)
    for name in names:
        row(name, draws.of(data.signs[:, names.index(name)]))
    for name, of in known.items():
        print(
            f"local less {name}: six {in_words(judge['six'] - of['six'])}, believability "
            f"{in_words(judge['believability'] - of['believability'])}"
        )
    print("by dimension", json.dumps(measured(draws, orders), indent=1))
    equal = dict.fromkeys(ROLEPLAY_DIMENSIONS, 1e9)
    every = np.ones(data.people.size, dtype=bool)
    row("equal weights", draws.of(*[predicted(data, every, equal, FOLDS, seed) for seed in range(3)]))
    for ridge in RIDGES[:3]:
        learnt = dict.fromkeys(ROLEPLAY_DIMENSIONS, ridge)
        free = [predicted(data, every, learnt, FOLDS, seed, free=True) for seed in range(3)]
        row(f"directions learnt too, ridge {ridge:g}", draws.of(*free))
    swapped = replace(table_of(of_another_character(read)), people=data.people)
    row("with another character's text", draws.of(*[nested(swapped, seed) for seed in range(3)]))
    within = [_within(order, data) for order in orders]
    row("within the system", Draws(replace(data, people=_within(data.people, data))).of(*within))
    pairs = people_among_themselves(data)
    print(
        "people among themselves, believability", len(pairs) // 2, round(pearson(pairs[:, 0], pairs[:, 1]), 3)
    )


def _within(values: Floats, data: Table) -> Floats:
    """Take off the mean of the system in the rated dimension."""
    out = values.copy()
    for key in set(zip(data.rated, data.system, strict=True)):
        mine = (data.rated == key[0]) & (data.system == key[1])
        out[mine] -= values[mine].mean()
    return out


if __name__ == "__main__":
    if sys.argv[1:] == ["fit"]:
        write(table())
    else:
        figures()
