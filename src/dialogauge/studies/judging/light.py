"""One light for the judge: it agrees with people, it tells which users only, it does not, or we cannot tell.

The light stands on the AUC of dissatisfied: of a target that people were dissatisfied with and one that they
were not, how often the judge puts the first before the second. It is compared with every control, paired, on
the same clusters. Beside it stands the same figure over pairs of one user, and over pairs of one
conversation: a judge that gives each user one score is above chance over all, and at .5 within users.

- *agrees*: within users and within conversations above chance, reply length and position, each by its
  interval, and over all targets above every control. Where targets share neither, over all by intervals.
- *which users*, *which conversations*: above chance and the controls over all targets, but not shown to be
  above chance within users, or within conversations.
- *does not*: the interval lies at or below chance or a control, or leaves no room for a gain worth having; or
  the judge gives all of them the same score.
- *cannot tell*: everything else, whatever stands on too little, and what would agree where most targets are
  of conversations with a look at which the judge's signals were chosen.

`judge`, `agreement` and `satisfaction` take their answer from here: `people_of` of a run that passes,
`people_in` of a stored one, `agreement_of` of one dimension of the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from dialogauge.core import Conversation, DimensionSpec, Level, Scale
from dialogauge.core.values import Value
from dialogauge.report import words
from dialogauge.stats import (
    MIN_CLUSTERS,
    Comparison,
    DissatisfiedRule,
    Estimate,
    Scores,
    ScoreTable,
    compare_pairs,
    control_columns,
    controls_of,
    figures_of,
    label_codes,
    scores_of,
    whole_scores,
)
from dialogauge.stats.reading import table_of
from dialogauge.stats.rows import Row
from dialogauge.studies.judging.people import Agreement, Grouping, Light, People, Within
from dialogauge.studies.judging.people_figures import figure_of, rectified_of
from dialogauge.studies.judging.people_tally import LEVELS, PeopleTally, judges_by_signals
from dialogauge.studies.judging.rated_targets import (
    LEAST_EACH,
    NOTHING,
    JudgeFigure,
    RatedTargets,
    clusters_of,
    figure_named,
    judged_by,
    rated_targets,
    rule_words,
    users_of,
)
from dialogauge.studies.rated import UNRANKED, SeenRatings, preference, ratings_by_turn
from dialogauge.text import counted

WORTH: Final = 0.02
"""A gain in AUC over a control below which the judge is of no use beside that control."""
CHANCE: Final = 0.55
"""An AUC below which it is of no use at all."""
CEILING: Final = 0.95
"""An AUC of a control above which it leaves nobody room to be better: so it shows nothing of a judge."""
_JUDGE, _PEOPLE = "judge", "people"
_NAMES: Final = "The ratings are names, and nothing says which one means dissatisfied (--dissatisfied NAME)"
_ALL_ONE: Final = (
    "Every rating is 1: that is a thumb up, or the worst of 5, and nothing says which "
    "(--dissatisfied '<1', or '<=3')"
)
_CONTROLS: Final = {
    "constant": "always giving the same score",
    "always dissatisfied": "always predicting dissatisfied",
    "reply length": "ranking by reply length",
    "position": "ranking by position in the conversation",
    "shuffled": "shuffling its own scores",
}
_WITHIN: Final = ("reply length", "position")
"""The controls that rank targets of one user, or of one conversation."""
_MEASURES: Final[dict[Grouping, str]] = {"users": "within_user_auc", "conversations": "within_block_auc"}


def people_of(
    tally: PeopleTally, rule: DissatisfiedRule | None = None, *, unusable: str = ""
) -> People | None:
    """Return what people said and whether the judge agrees with them; None where they said nothing.

    Args:
        tally: Through which the run has passed.
        rule: What counts as dissatisfied, where it was asked for.
        unusable: What is wrong with ratings of which none counts.
    """
    rated = [
        rated_targets(tally, level, dimension, rule)
        for level in LEVELS
        for dimension in sorted(tally.levels[level].ratings, key=preference)
    ]
    if not rated and unusable:
        light = Light("cannot tell", unusable, "", "conversation", "", "auc", NOTHING, "", NOTHING)
        return People((), light)
    if not rated:
        return None
    # The light stands on ratings of the level where most were given, the first by name. Those that say
    # who was dissatisfied come first, and of these the ones of targets that the judge scored.
    able = [one for one in rated if one.rule is not None] or list(rated)
    able = [one for one in able if np.isfinite(judged_by(tally, one).values[list(one.places)]).any()] or able
    first = min(
        able,
        key=lambda one: (
            -max(len(o.places) for o in able if o.level == one.level),
            one.level != "turn",
            preference(one.dimension),
        ),
    )
    ordered = sorted(rated, key=lambda one: (one is not first, LEVELS.index(one.level) != 0))
    rectified = (rectified_of(tally, one) for one in ordered)
    return People(
        tuple(figure_of(tally, one) for one in ordered),
        _light(tally, first, judged_by(tally, first)),
        tuple(one for one in rectified if one is not None),
    )


# The light -------------------------------------------------------------------------------------------------


_OPPOSITE: Final = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}


def _opposite(rule: DissatisfiedRule, scale: Scale) -> DissatisfiedRule:
    """Return what a rule becomes where a scale is read from its other end: of 1 to 5 `>=4` becomes `<=2`."""
    return DissatisfiedRule(_OPPOSITE[rule.sign], scale.low + scale.high - rule.threshold)


def _table(tally: PeopleTally, one: RatedTargets, figure: JudgeFigure) -> ScoreTable:
    """Return the table of the rated targets that the judge scored; its blocks are the conversations."""
    targets, left_out = one.targets, _left_out(one)
    numbers, turns = targets.conversations, targets.turns
    # by name, so that the same targets are dealt alike in whatever order a run holds them
    of = {at: (tally.names[numbers[at]], numbers[at], turns[at]) for at in one.places if at not in left_out}
    kept = [k for k, at in enumerate(one.places) if at in of and np.isfinite(figure.values[at])]
    kept.sort(key=lambda k: of[one.places[k]])
    places = [one.places[k] for k in kept]
    clusters, unit = clusters_of(tally, one, places)
    column = {
        name: np.array(getattr(targets, name), dtype=np.float64)[places] for name in ("turns", "lengths")
    }
    ratings = [one.scores[k] for k in kept]
    return ScoreTable(
        {_JUDGE: scores_of(figure.values[places], scale=figure.scale), _PEOPLE: _people_scores(ratings, one)},
        clusters,
        unit,
        users=None if unit == "conversations" else clusters,
        blocks=tuple(targets.conversations[place] for place in places),
        positions=column["turns"] if one.level == "turn" else None,
        lengths=column["lengths"],
        weights=None if one.weights is None else one.weights[kept],
    )


def _left_out(one: RatedTargets) -> Set[int]:
    """Return the rated targets that speak for the judge too well: those that it was fitted to.

    Those of conversations that were looked at when its signals were chosen likewise, unless they are most.
    """
    rest = set(one.places) - one.targets.seen
    looked_at = rest & one.targets.looked_at
    return one.targets.seen if 2 * len(looked_at) > len(rest) else one.targets.seen | looked_at


def _people_scores(ratings: Sequence[float | str], one: RatedTargets) -> Scores:
    if one.scale is None:
        classes = [one.rule is not None and one.rule.holds(score) for score in ratings]
        return scores_of(np.full(len(ratings), np.nan), dissatisfied=classes)
    values = np.array(ratings, dtype=np.float64)
    return scores_of(values, whole=whole_scores(values, one.scale), scale=one.scale)


def people_in(
    rated: tuple[PeopleTally, SeenRatings] | None,
    *,
    rule: DissatisfiedRule | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> list[People]:
    """Return what people said of stored judgements, and the light: one for the run, or for each named pair.

    Args:
        rated: What `rated_tally` read.
        rule: What counts as dissatisfied, where it was asked for.
        pairs: A dimension of the judge and the rated one that it is to be compared with; empty for the light
            that `judge` shows.

    Returns:
        Empty where nobody rated.
    """
    if rated is None:
        return []
    tally, seen = rated
    every = [people_of(tally, rule, unusable=seen.unusable)] if not pairs else []
    every += [_compared_by(tally, *pair, level, rule) for pair in pairs for level in LEVELS]
    return [people for people in every if people is not None]


def rated_tally(
    judged: Callable[[], Iterable[tuple[Conversation, Sequence[Row]]]],
    dimensions: Sequence[DimensionSpec],
    judge: Mapping[str, Any],
) -> tuple[PeopleTally, SeenRatings] | None:
    """Let stored judgements pass, with what people said of them; None where nobody rated.

    Args:
        judged: Returns every conversation with its ratings, each with its rows of all repeats.
        dimensions: Of the judge.
        judge: What it says of itself: which conversations it was fitted to, and what it judges by.
    """
    seen = SeenRatings({(d.level, d.name): d.scale for d in dimensions})
    for conversation, _ in judged():
        seen.add(conversation)
    if not seen.counts:
        return None
    tally = PeopleTally(
        dimensions,
        (judge.get("fitted_on") or {}).get("seen", ()),
        by_signals=judges_by_signals(judge),
    )
    admissions = seen.admissions()

    def rows() -> Iterator[Row]:
        for conversation, of_conversation in judged():
            if conversation.ratings:
                tally.rate(conversation, ratings_by_turn(conversation, admissions))
            yield from of_conversation

    return tally.read(table_of(rows())), seen


def _compared_by(
    tally: PeopleTally, dimension: str, rated: str, level: Level, rule: DissatisfiedRule | None
) -> People | None:
    if rated not in tally.levels[level].ratings:
        return None
    one = rated_targets(tally, level, rated, rule)
    return People((figure_of(tally, one),), _light(tally, one, figure_named(tally, one, dimension)))


def agreement_of(
    tally: PeopleTally, dimension: str, level: Level, rule: DissatisfiedRule | None = None
) -> Light | None:
    """Say whether one dimension of the judge agrees with people; None where nobody rated the level.

    It is compared with the rated dimension of its name, else with the one that speaks for the whole:
    satisfaction, rating, thumbs, reward.

    Args:
        tally: Through which the run has passed.
        dimension: That the judge scores.
        level: Of it.
        rule: What counts as dissatisfied, where it was asked for.
    """
    names = tally.levels[level].ratings
    every = [dimension] if dimension in names else sorted(names, key=preference)
    whole = [name for name in every if name == dimension or preference(name)[0] <= UNRANKED]
    rated = [rated_targets(tally, level, name, rule) for name in whole]
    if not rated:
        return None
    one = next((one for one in rated if one.rule is not None), rated[0])
    return _light(tally, one, figure_named(tally, one, dimension))


def _light(tally: PeopleTally, one: RatedTargets, figure: JudgeFigure) -> Light:
    # Ratings are read from the end that is the better one on the judge's scale.
    scale, rule = one.scale, one.rule
    if scale is None or rule is None or scale.higher_is_better == figure.scale.higher_is_better:
        facing = one
    else:
        scores = tuple(scale.low + scale.high - s for s in one.scores if not isinstance(s, str))
        turned = replace(scale, higher_is_better=figure.scale.higher_is_better)
        facing = replace(one, scores=scores, scale=turned, rule=_opposite(rule, scale))
    table = _table(tally, facing, figure)
    opening = _opening(one, alone=table.unit == "conversations" and len(users_of(tally, one) - {None}) == 1)
    about = (one.dimension, one.level, figure.words, "auc")
    if why := _too_little(table, facing):
        return Light("cannot tell", f"{opening}. {why}.", *about, NOTHING, "", NOTHING)
    controls = controls_of(replace(table, blocks=None), _JUDGE, _PEOPLE, rule=facing.rule)
    columns = {_JUDGE: (table.sources[_JUDGE],), **control_columns(controls)}
    of_all = _compared(table, columns, "auc", facing.rule)
    over_all, closest = _answer(of_all.judge, of_all.pairs)
    within = tuple(_within(table, columns, of, facing.rule) for of in _groupings(table, one))
    answer, more = over_all, ""
    if within and (over_all == "agrees" or (over_all == "cannot tell" and _leads(of_all))):
        answer, more = _among(over_all, of_all.judge, within, one, table)
    by_chance = answer == "agrees" != over_all
    clause = (
        _clause("leads" if by_chance else over_all, closest, of_all.judge, figure.words, table, one) + more
    )
    # A judge that gives every target the same score is a control, whatever an interval says.
    order = table.sources[_JUDGE].order
    if bool((order == order[0]).all()):
        answer = "does not"
        clause = f"The judge gives all of these the same score (by {figure.words}): it puts none first."
    looked_at = one.targets.looked_at.intersection(one.places) - one.targets.seen
    if fitted := len(one.targets.seen.intersection(one.places)):
        clause += f" This leaves out {counted(fitted, one.level)} that the judge was fitted to."
    if looked_at <= _left_out(one):
        left = counted(len(looked_at), one.level)
        clause += f" It leaves out {left} with a look at which its signals were chosen." if looked_at else ""
    else:
        answer = "cannot tell" if answer == "agrees" else answer
        clause += " Its signals were chosen with a look at these conversations: only others can show it."
    return Light(
        answer,
        f"{opening}. {clause}",
        *about,
        of_all.judge,
        _CONTROLS.get(closest.b, closest.b),
        closest.difference,
        of_all.controls,
        within,
        len(looked_at),
    )


class _Compared(Value):
    """The judge beside its controls, by one measure."""

    judge: Estimate
    pairs: tuple[Comparison, ...]
    controls: dict[str, Estimate]
    """By what they do, in words."""


def _compared(
    table: ScoreTable,
    columns: Mapping[str, Sequence[Scores]],
    measure: str,
    rule: DissatisfiedRule | None,
) -> _Compared:
    figures = figures_of(table, columns, _PEOPLE, [measure], rule=rule)
    controls = [name for name in columns if name != _JUDGE]
    pairs = compare_pairs(figures, [(_JUDGE, name) for name in controls], [measure])
    by_words = {_CONTROLS.get(name, name): figures[name].estimate(measure) for name in controls}
    return _Compared(figures[_JUDGE].estimate(measure), pairs, by_words)


# Which users, which conversations, which turns -------------------------------------------------------------


def _groupings(table: ScoreTable, one: RatedTargets) -> list[Grouping]:
    """Return what most targets share with another one: a user, a conversation.

    Where they share none, which user and which target is the same question.
    """
    shared: list[tuple[Grouping, Sequence[Hashable] | None]] = [
        ("users", table.users),
        ("conversations", table.blocks if one.level == "turn" else None),
    ]
    out: list[Grouping] = []
    for of, labels in shared:
        if labels is None or (out and label_codes(labels)[1] == label_codes(table.users or ())[1]):
            continue  # of each user one conversation
        codes, groups = label_codes(labels)
        alone = np.bincount(codes, minlength=groups)[codes] == 1
        out += [of] if groups > 1 and alone.mean() <= 0.5 else []
    return out


def _within(
    table: ScoreTable, columns: Mapping[str, Sequence[Scores]], of: Grouping, rule: DissatisfiedRule | None
) -> Within:
    kept = {name: column for name, column in columns.items() if name in (_JUDGE, *_WITHIN)}
    made = _compared(table, kept, _MEASURES[of], rule)
    closest = min(made.pairs, key=lambda pair: _or(pair.difference.low, -1.0), default=None)
    name = "" if closest is None else _CONTROLS[closest.b]
    return Within(of, made.judge, name, NOTHING if closest is None else closest.difference, made.controls)


def _leads(of_all: _Compared) -> bool:
    """Say whether the judge is above chance and every control, be it by chance."""
    gains = [_or(pair.difference.value, -1.0) for pair in of_all.pairs]
    return _or(of_all.judge.value, 0.0) > 0.5 and min(gains) > 0


def _among(
    over_all: Agreement, judge: Estimate, within: Sequence[Within], one: RatedTargets, table: ScoreTable
) -> tuple[Agreement, str]:
    """Return the answer of a judge that leads over all targets, and what is to be added to its reason."""
    for each in within:
        figure, above = each.judge, _or(each.judge.low, 0.0) > 0.5
        there = f"within one {each.of.removesuffix('s')} it does so in {_pairs(figure)}"
        if above and (not each.control or _or(each.difference.low, -1.0) > 0):
            continue
        if over_all != "agrees":
            return over_all, ""
        if above:
            reached = _share(each.controls[each.control].value)
            return "cannot tell", f" But {there}, and {each.control} in {reached}: too close to tell."
        # The judge may give all targets of one user, or of one conversation, the same score.
        codes, groups = label_codes((table.users if each.of == "users" else table.blocks) or ())
        order = table.sources[_JUDGE].order
        low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
        np.minimum.at(low, codes, order)
        np.maximum.at(high, codes, order)
        if bool((low == high).all()) or _or(figure.high, 1.0) < _or(judge.value, 0.0):
            answer: Agreement = "which users" if each.of == "users" else "which conversations"
            return answer, f" But {there}: it tells which {each.of}, not which {one.level}s."
        return "cannot tell", f" But {there}, which could be chance."
    more = f" {there[0].upper()}{there[1:]}, more than by"
    return "agrees", f"{more} {'length or position' if one.level == 'turn' else 'reply length'}."


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _too_little(table: ScoreTable, one: RatedTargets) -> str:
    """Say what is missing for a comparison; nothing where nothing is."""
    bad_word, good_word = _kinds(one)
    if one.rule is None:
        return _ALL_ONE if set(one.scores) == {1} else _NAMES
    if not table.n:
        fitted = " that it was not fitted to" if one.targets.seen else ""
        return f"The judge scored none of these{fitted}"
    if len(one.scores) > 1 == len(set(one.scores)):
        alike = one.scores[0] if isinstance(one.scores[0], str) else f"{one.scores[0]:g}"
        what = (
            f"{one.level}, by the mean of its raters," if one.targets.apart.get(one.dimension) else "rating"
        )
        return f"Every {what} is {alike}: no order can be measured"
    people, clusters = table.sources[_PEOPLE], table.cluster_codes[1]
    classes = one.rule.classes(people.values) if people.dissatisfied is None else people.dissatisfied
    bad = int(classes.sum())
    fewer, word = (bad, bad_word) if bad <= table.n - bad else (table.n - bad, good_word)
    if fewer < LEAST_EACH:
        some = f"Only {fewer:,}" if fewer else "None"
        word = word if word == "failed" else f"{'is' if fewer < 2 else 'are'} {word}"
        those = "these" if table.n == len(one.places) else f"the {table.n:,} that the judge scored"
        return f"{some} of {those} {word}, and {LEAST_EACH} are needed"
    if clusters < MIN_CLUSTERS:
        return f"They come from {_units(table)}, and {MIN_CLUSTERS} are needed"
    return ""


def _answer(judge: Estimate, pairs: Sequence[Comparison]) -> tuple[Agreement, Comparison]:
    """Return the answer and the control that it hangs on."""
    closest = min(pairs, key=lambda pair: pair.difference.value or 0.0)
    if judge.low is None or judge.high is None or any(p.difference.low is None for p in pairs):
        return "cannot tell", closest
    beaten = [p for p in pairs if _worthless(p)]
    if beaten or judge.high < CHANCE:
        return "does not", min(beaten or pairs, key=lambda pair: pair.difference.value or 0.0)
    if judge.low > 0.5 and all((p.difference.low or 0.0) > 0 for p in pairs):
        return "agrees", closest
    return "cannot tell", min(pairs, key=lambda pair: pair.difference.low or 0.0)


def _worthless(pair: Comparison) -> bool:
    """Say whether a judge is of no use beside a control: below it, or no better where better was possible."""
    high, control = pair.difference.high, pair.figure_b or 0.0
    return high is not None and high < (WORTH if control <= CEILING else 0.0)


# In words --------------------------------------------------------------------------------------------------


def _kinds(one: RatedTargets) -> tuple[str, str]:
    return ("failed", "successful") if one.dimension == "reward" else ("poorly rated", "well rated")


def _opening(one: RatedTargets, *, alone: bool = False) -> str:
    """Say what people said: `Your users rated 2,873 turns; 18 % of these were rated poorly (3 or less)`.

    Args:
        one: The rated targets.
        alone: Whether they are all of one user.
    """
    targets = counted(len(one.places), one.level)
    if one.dimension == "reward":
        opening, how = f"{targets} {'carries' if len(one.places) == 1 else 'carry'} a reward", "failed"
    else:
        of_all = preference(one.dimension)[0] < UNRANKED  # a name that says nothing beyond `rated`
        what = "" if of_all else f" in {one.dimension.replace('_', ' ')}"
        opening, how = (
            f"{'Your users' if one.raters == 'users' else 'People'} rated {targets}{what}",
            "were rated poorly",
        )
    if one.rule is None:
        return opening
    opening += f"; {words.percent(float(one.classes.mean()))} of these {how} ({rule_words(one.rule)})"
    return f"{opening}. One user gave all of them, so intervals are by conversation" if alone else opening


def _clause(
    answer: Agreement | Literal["leads"],
    closest: Comparison,
    judge: Estimate,
    judged_by: str,
    table: ScoreTable,
    one: RatedTargets,
) -> str:
    bad, good = _kinds(one)
    first = (
        f"Given one {bad} and one {good} {one.level}, the judge ranks the {bad} one worse in "
        f"{_pairs(judge)} (by {judged_by})"
    )
    control = _CONTROLS.get(closest.b, closest.b)
    reached = f"{control}, reaches {_share(closest.figure_b)}"
    if answer == "agrees":
        return f"{first}. That beats chance, 50 %, and every control; the closest, {reached}."
    if answer == "leads":
        return f"{first}. The closest control, {reached}."
    if answer == "does not" and closest.b in ("constant", "always dissatisfied", "shuffled"):
        return f"{first}. That is hardly better than chance, 50 %."
    if answer == "does not" and judge.high is not None and judge.high < CHANCE:
        return f"{first}. Chance is 50 %, and the closest control, {reached}.{_turned_round(judge, one)}"
    if answer == "does not":
        worse = closest.difference.high is not None and closest.difference.high < 0
        beside = "worse than" if worse else "no better than"
        return f"{first}. That is {beside} {control}, {_share(closest.figure_b)}."
    return (
        f"{first}. The closest control, {reached}; ratings from {_units(table)} do not show which is better."
    )


def _turned_round(judge: Estimate, one: RatedTargets) -> str:
    """Say how to read the ratings the other way round, where the judge puts the liked ones first."""
    rule, scale = one.rule, one.scale
    if judge.high is None or judge.high >= 0.5 or rule is None or scale is None or one.dimension == "reward":
        return ""
    which = "low" if rule.lower else "high"
    return (
        f" If a {which} number is the better one in these ratings, say so: --dissatisfied "
        f"'{_opposite(rule, scale)}'."
    )


def _units(table: ScoreTable) -> str:
    """Count the clusters: `20 users`, `31 users and conversations`."""
    clusters, unit = table.cluster_codes[1], table.unit
    return f"{clusters:,} {unit}" if " " in unit else counted(clusters, unit.removesuffix("s"))


def _share(value: float | None) -> str:
    return "nothing" if value is None else f"{100 * value:.0f} %"


def _pairs(judge: Estimate) -> str:
    interval = judge.interval
    between = "" if interval is None else f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
    return f"{_share(judge.value)} of pairs{between}"
