"""The checks that need scores alone: averaging, verdicts, the same score for every turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dialogauge.core import NOT_APPLICABLE, Conversation
from dialogauge.signals import cut, read_dialogue, read_repairs
from dialogauge.stats import Floats, cluster_labels, mean_estimate, pearson, spearman
from dialogauge.stats.rows import Row
from dialogauge.studies.rated import SeenRatings, ratings_by_turn
from dialogauge.studies.trust.figures import LONG, NEAR, Sampled, Seen, TrustFigures
from dialogauge.studies.trust.result import Status, TrustCase, TrustCheck, TrustFigure, TrustThresholds
from dialogauge.text import counted, pieces


def only(n: int, one: str, several: str) -> str:
    """Begin a sentence: `No reply was`, `Only 1 reply was`, `Only 4 replies were`."""
    return f"Only {counted(n, one, several)}" if n else f"No {one}"


_ENOUGH: Final = 20
_ENOUGH_LONG: Final = 5
_FAULT: Final = 0.6
_APART: Final = 0.5
"""How far ratings of turns that differ are apart, of their scale: 2 points of 1 to 5."""
_CASES: Final = 20


_CHECKS: Final = {
    "single_turn_aggregation": ("Turn averaging", "aggregation_share"),
    "repair_false_na": ("Missed corrections", "repair_na_share"),
    "scenario_rules": ("Scenario rules", "scenario_rule_share"),
    "length": ("Length bias", "length_correlation"),
    "verdict_mismatch": ("Verdict mismatch", "verdict_mismatch_share"),
    "identical_scores": ("Identical scores", "identical_share"),
}
"""By name: the title, and the threshold from which on a check is flagged."""


def conclude(  # noqa: PLR0913 - what a check comes to
    name: str,
    limits: TrustThresholds,
    status: Status,
    sentence: str,
    n: int,
    figures: tuple[TrustFigure, ...],
    cases: Sequence[TrustCase] = (),
) -> TrustCheck:
    """Return what a check comes to, with its title, its threshold and the first of the cases."""
    title, threshold = _CHECKS[name]
    limit, shown = float(getattr(limits, threshold)), tuple(cases[:_CASES])
    return TrustCheck(name, title, status, sentence, n, limit, threshold, figures, shown, len(cases))


def check_aggregation(read: TrustFigures, limits: TrustThresholds, judge: str) -> TrustCheck:
    """Whether the conversation's scores are more than the average of its turns'."""
    table = read.pairs
    n = len(table)
    r = pearson(table[:, 0], table[:, 1])
    chance = _chance(table)
    figures = (
        share_figure("within half a point of the turns’ mean", read.near),
        TrustFigure("the same between unrelated conversations", chance, n, share=True),
        TrustFigure("correlation with the turns’ mean", r, n),
    )
    status, sentence = _averages(read, figures, limits, judge)
    return conclude("single_turn_aggregation", limits, status, sentence, n, figures)


def _averages(
    read: TrustFigures, figures: Sequence[TrustFigure], limits: TrustThresholds, judge: str
) -> tuple[Status, str]:
    (share, chance, r), n = (f.value for f in figures), figures[0].n
    if not read.whole or not read.turn:
        return "cannot tell", "The rubric does not score both turns and conversations."
    if n < _ENOUGH or share is None or chance is None:
        return (
            "cannot tell",
            f"{only(n, 'conversation has', 'conversations have')} turns with different scores; "
            f"{_ENOUGH} are needed.",
        )
    near = (
        f"{_percent(share)} of {n:,} conversation scores lie within half a point of the mean of their turns"
    )
    if r is not None and r >= limits.aggregation_correlation:
        return "flagged", f"{judge} only averages: {near}, and the two correlate at {r:z.2f}."
    if share < limits.aggregation_share:
        end = "" if r is None else f"; the two correlate at {r:z.2f}"
        return "ok", f"Conversation scores are more than the average of the turns: {near}{end}."
    if chance >= limits.aggregation_share:
        return (
            "cannot tell",
            f"{near.capitalize()}, but so would those of unrelated conversations: the scores hardly vary.",
        )
    return (
        "flagged",
        f"{judge} only averages: {near}; for unrelated conversations it would be {_percent(chance)}.",
    )


def _chance(table: Floats) -> float | None:
    """Share of near pairs when each conversation's score meets the turns of another one."""
    n = len(table)
    if n < 2:
        return None
    whole, ordered = table[:, 0], np.sort(table[:, 1])
    low = np.searchsorted(ordered, whole - NEAR, side="left")
    high = np.searchsorted(ordered, whole + NEAR, side="right")
    own = int((np.abs(table[:, 0] - table[:, 1]) <= NEAR).sum())
    return float((int((high - low).sum()) - own) / (n * (n - 1)))


def check_verdicts(read: TrustFigures, limits: TrustThresholds) -> TrustCheck:
    """Whether the verdict that the model gives itself follows from its own scores."""
    compared, mismatched = read.mismatched.n, read.mismatched.hits
    figure = share_figure("own verdict differs from the computed one", read.mismatched)
    status: Status = "cannot tell"
    sentence = "There are no verdicts."
    if read.decided:
        sentence = "The judge gives no verdict of its own; the verdict is computed from its scores."
    if figure.value is not None:
        status = "flagged" if figure.value > limits.verdict_mismatch_share else "ok"
        sentence = (
            f"The model’s own verdict differs from the one computed from its scores in {mismatched:,} of "
            f"{compared:,} conversations. The computed one counts."
        )
    return conclude("verdict_mismatch", limits, status, sentence, compared, (figure,))


def check_identical(
    read: TrustFigures,
    limits: TrustThresholds,
    conversations: Callable[[list[tuple[str, str | None]]], Iterable[Conversation]],
    *,
    by_findings: bool,
) -> TrustCheck:
    """Whether long conversations get the same scores at every turn although the turns differ.

    Turns differ where people's ratings of them do by half of their scale or more; in a conversation whose
    turns nobody rated, where some have a finding and others none, unless the scores were made of findings.
    """
    of_long, of_short = read.identical["long"], read.identical["short"]
    long, alike, short, short_alike = of_long.n, of_long.hits, of_short.n, of_short.hits
    talks = list(conversations(list(read.alike)))
    lowest = _lowest_by_ratings(talks)
    if by_findings:
        lowest = {at: lowest[at] if at in lowest else _gravest(c) for at, c in enumerate(talks)}
    cases, looked = [case for case in lowest.values() if case is not None], len(lowest)
    differing = alike * len(cases) / looked if looked else 0.0
    share = differing / long if long else None
    figures = (
        share_figure("long, all turns alike", of_long),
        TrustFigure("long, alike although the turns differ", share, long, share=True),
        share_figure("shorter, all turns alike", of_short),
    )
    status: Status = "cannot tell"
    seen = only(long, "conversation has", "conversations have")
    sentence = f"{seen} over {LONG} scored turns; {_ENOUGH_LONG} are needed."
    if long >= _ENOUGH_LONG and alike and not lowest:
        sentence = (
            f"{alike:,} of {long:,} conversations with over {LONG} turns have the same scores at every turn. "
            "Ratings by people would show whether their turns differ."
        )
    elif share is not None and long >= _ENOUGH_LONG:
        status = "flagged" if share > limits.identical_share else "ok"
        differ = f"; in {_percent(share)} of all, the turns themselves differ" if alike else ""
        if looked < alike:
            differ += f" ({len(cases):,} of {looked:,} checked)"
        others = f"; {_percent(short_alike / short)} of {counted(short, 'shorter one')} do" if short else ""
        sentence = (
            f"{alike:,} of {long:,} conversations with over {LONG} turns have the same scores at every turn"
            f"{differ}{others}."
        )
    return conclude("identical_scores", limits, status, sentence, long, figures, cases)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def share_figure(name: str, seen: Seen) -> TrustFigure:
    """Return the share of which something holds, with its interval."""
    return TrustFigure(name, seen.share.value, seen.n, seen.share.interval, share=True)


def _lowest_by_ratings(talks: Sequence[Conversation]) -> dict[int, TrustCase | None]:
    """Return of each conversation with rated turns, by its place, the turn rated lowest; None if none differ.

    Of the dimension that most of its turns are rated by, in numbers on a scale that is known.
    """
    seen = SeenRatings({})
    for talk in talks:
        seen.add(talk)
    admissions = seen.admissions()
    out: dict[int, TrustCase | None] = {}
    for at, talk in enumerate(talks):
        of: dict[str, dict[int, float]] = {}
        for turn, ratings in ratings_by_turn(talk, admissions).items():
            for one in ratings:
                if turn is not None and not isinstance(one.score, str):
                    of.setdefault(one.dimension, {})[turn] = one.score
        name, rated = max(of.items(), key=lambda item: len(item[1]), default=("", {}))
        scale = admissions["turn", name].scale if len(rated) > 1 else None
        if scale is not None:
            low, high = min(rated, key=rated.__getitem__), max(rated, key=rated.__getitem__)
            note = f"People rated it {rated[low]:.3g}, and turn {high} {rated[high]:.3g}."
            apart = rated[high] - rated[low] >= _APART * (scale.high - scale.low)
            out[at] = TrustCase(talk.id, low, note) if apart else None
    return out


def _gravest(conversation: Conversation) -> TrustCase | None:
    """Return the turn with the gravest finding, where some turns have one and others none."""
    from dialogauge.signals import find_signals  # many patterns, and hardly ever asked for

    faults = [s for s in find_signals(read_dialogue(conversation), "hindsight") if s.strength >= _FAULT]
    turns = {s.turn for s in faults}
    if not turns or len(turns) == len(conversation.replied_turns):
        return None
    worst = max(faults, key=lambda s: s.strength)
    return TrustCase(conversation.id, worst.turn, f"{worst.note} “{worst.quote}”")


_ENOUGH_REPLIES: Final = 30
_ENOUGH_REPAIRS: Final = 5
_PARTS: Final = ("short replies", "middling replies", "long replies")


@dataclass(slots=True)
class TextFindings:
    """What was read in the sampled conversations."""

    scores: list[float] = field(default_factory=list)
    """Helpfulness of each scored turn."""
    tokens: list[float] = field(default_factory=list)
    """Words and Chinese characters of its reply."""
    characters: list[float] = field(default_factory=list)
    users: list[str | None] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)
    corrected: list[tuple[str | None, str, bool]] = field(default_factory=list)
    """User and id of conversations with a correction of the assistant and something said of repair handling,
    and whether that is n/a."""
    passed_over: list[TrustCase] = field(default_factory=list)
    """... where that is n/a."""


def read_texts(
    sampled: Sequence[Sampled],
    conversations: Iterable[Conversation],
    rows_of: Callable[[Collection[str]], Iterable[Row]],
) -> TextFindings:
    """Read the sampled conversations, one after the other; what the judge noted stands in their rows."""
    texts = TextFindings()
    known = {(s.conversation_id, s.candidate): s for s in sampled}
    over: dict[tuple[str, str | None], tuple[int, str]] = {}
    for conversation in conversations:
        key = conversation.id, conversation.candidate
        if (sample := known.get(key)) is None:
            continue
        for turn in conversation.replied_turns:
            if turn.number in sample.helpfulness:
                text = turn.reply_text
                texts.scores.append(sample.helpfulness[turn.number])
                texts.tokens.append(pieces(text).units)
                texts.characters.append(len(text))
                texts.users.append(conversation.user_id)
                texts.conversations.append(conversation.id)
        if sample.repair is None:
            continue
        # Corrections are read alike in every language; to detect it would take a quarter of the time.
        repairs = [r for r in read_repairs(read_dialogue(conversation, "en")) if r.on_assistant]
        if repairs:
            texts.corrected.append((conversation.user_id, conversation.id, sample.repair == NOT_APPLICABLE))
        if repairs and sample.repair == NOT_APPLICABLE:
            at = repairs[0].turn
            over[key] = at, f"“{cut(conversation.turn(at).user_text)}”"
    notes: dict[tuple[str, str | None], str] = {}
    for row in rows_of({id for id, _ in over}) if over else ():
        note = (row["details"] or {}).get("notes", {}).get("repair_handling")
        if row["level"] == "conversation" and row["repeat"] == 1 and note is not None:
            notes[row["conversation_id"], row["candidate"]] = f" The judge notes: {cut(str(note))}"
    texts.passed_over += [
        TrustCase(key[0], at, quote + notes.get(key, "")) for key, (at, quote) in over.items()
    ]
    return texts


def check_repair(texts: TextFindings, read: TrustFigures, limits: TrustThresholds) -> TrustCheck:
    """Whether corrections by the user are passed over as not applicable."""
    n, passed = len(texts.corrected), len(texts.passed_over)
    figure = share_figure("repair handling n/a although the user corrects", Seen.of_each(texts.corrected))
    status: Status = "cannot tell"
    if "repair_handling" not in read.whole:
        sentence = "The rubric has no repair_handling."
    elif n < _ENOUGH_REPAIRS or figure.value is None:
        seen = only(n, "conversation that was read has", "conversations that were read have")
        sentence = f"{seen} a correction; {_ENOUGH_REPAIRS} are needed."
    else:
        status = "flagged" if figure.value > limits.repair_na_share else "ok"
        sentence = (
            f"Repair handling is n/a in {passed:,} of {n:,} conversations in which the user corrects or "
            "objects."
        )
    return conclude("repair_false_na", limits, status, sentence, n, (figure,), texts.passed_over)


def check_length(texts: TextFindings, read: TrustFigures, limits: TrustThresholds) -> TrustCheck:
    """Whether long replies are scored as more helpful."""
    name, n = read.helpful_name, len(texts.scores)
    coefficients = (
        ("Pearson, tokens", pearson(texts.scores, texts.tokens)),
        ("Spearman, tokens", spearman(texts.scores, texts.tokens)),
        ("Pearson, characters", pearson(texts.scores, texts.characters)),
        ("Spearman, characters", spearman(texts.scores, texts.characters)),
    )
    figures = tuple(TrustFigure(label, value, n) for label, value in coefficients)
    known = [value for _, value in coefficients if value is not None]
    status: Status = "cannot tell"
    if n < _ENOUGH_REPLIES:
        sentence = f"{only(n, 'scored reply was', 'scored replies were')} read; {_ENOUGH_REPLIES} are needed."
    elif not known:
        sentence = f"Every reply read has the same {name}, so nothing can go along with its length."
    else:
        limit, most, least = limits.length_correlation, max(known), min(known)
        status = "flagged" if most > limit else "ok"
        leaning, at = "hardly rewards length", f"{most:z.2f} at most"
        if most > limit:
            leaning = "rewards length"
        elif most > limit / 2:
            leaning = "slightly favours long replies"
        elif least < -limit / 2:
            leaning = "slightly favours short replies" if least >= -limit else "scores long replies lower"
            at = f"{least:z.2f} at the lowest"
        sentence = f"The judge {leaning}: {name} correlates with reply length at {at} ({n:,} replies)."
    return conclude("length", limits, status, sentence, n, figures + _terciles(texts, read))


def _terciles(texts: TextFindings, read: TrustFigures) -> tuple[TrustFigure, ...]:
    """Mean score of the shortest, the middling and the longest third of the replies."""
    if not texts.scores:
        return ()
    tokens = np.array(texts.tokens)
    scores, (labels, unit) = np.array(texts.scores), cluster_labels(texts.users, texts.conversations)
    low, high = np.quantile(tokens, [1 / 3, 2 / 3])
    out = []
    for label, here in zip(
        _PARTS, (tokens <= low, (tokens > low) & (tokens <= high), tokens > high), strict=True
    ):
        clusters = [label for label, there in zip(labels, here.tolist(), strict=True) if there]
        mean = mean_estimate(scores[here], clusters, limits=read.range_of_helpful, unit=unit)
        out.append(TrustFigure(f"{read.helpful_name}, {label}", mean.value, mean.n, mean.interval))
    return tuple(out)
