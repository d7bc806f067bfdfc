"""Training rows from comparisons: of two replies to one state, or of two dialogues, the preferred one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dialogauge.app.pairs.judged import about_row, why_unchecked
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.runs import StoredRun
from dialogauge.runs.run import Row
from dialogauge.studies.arena.stored import led_dialogues
from dialogauge.training import (
    Fork,
    Provenance,
    TrainingRow,
    Why,
    dpo_row,
    pair_of_dialogues,
    plain_message,
    points_of,
    unfit,
)

# Replay


def replay_pairs(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield a pair for any two replies of which one is preferred, masked as the run is shown.

    Raises UsageError where nobody scored the run.
    """
    del options
    from dialogauge.studies.replay.preferred import by_pairs, quality, rows_by_state, winners

    unchecked = bool(why_unchecked(run))
    for state, rows in rows_by_state(run).items():
        talks = {str(talk.candidate): talk for talk in run.conversations([state]) if talk.messages}
        for a, b, winner in winners(run, rows):
            better, worse = (b, a) if winner == "b" else (a, b)
            if winner == "tie":
                left_out["a tie"] += 1
                continue
            if why := unfit(talks[worse].messages[:-1]):
                left_out[why] += 1
                continue
            row, talk = rows.get(worse, {}), talks[worse]
            prompt = tuple(map(plain_message, talk.messages[:-1]))
            fork = Fork(talk.id, next(iter(rows.values()))["turn"], prompt, talk.messages[-1].text, ())
            scored = not by_pairs(run) and {better, worse} <= rows.keys()
            high, low = (quality(run, rows[n]) if scored else None for n in (better, worse))
            provenance = Provenance(
                conversation_id=talk.id,
                turn=fork.turn,
                judge=run.manifest.judge["name"],
                prompt_digest=row.get("prompt_digest"),
                quality=low,
                issues=tuple(row.get("issues", ())),
                scores=None if high is None or low is None else (points_of(high), points_of(low)),
                chosen_from=f"replies of {better}",
                rejected_from=f"replies of {worse}",
                model_chosen=better,
                model_rejected=worse,
                unchecked=unchecked,
                **about_row(run, name, talk),
            )
            yield TrainingRow(dpo_row(fork, talks[better].messages[-1].text), provenance, talk)


# Arena


def majority(choices: Sequence[str]) -> str:
    """Return what more than half of the choices name, `a` or `b`, or why neither is chosen."""
    votes = Counter(choices)
    better = "a" if votes["a"] > votes["b"] else "b"
    if 2 * votes[better] > len(choices):
        return better
    return "a tie" if votes["tie"] == len(choices) else "no reply was chosen by more than half of the raters"


def arena_pairs(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield a pair for any two dialogues that were voted on, masked as the run is shown.

    Two that part at their last reply are a pair of replies; others are a pair of segments.
    """
    unchecked = bool(why_unchecked(run))
    people = run.manifest.judge["name"] == "people"
    meetings: dict[tuple[str, str, str], list[Row]] = {}
    for row in run.rows():
        if row["winner"] is None:
            left_out["no verdict of the judge"] += 1
        elif row["conversation_id"] is None:
            left_out["a vote on no dialogue that is named"] += 1
        else:
            first, second = sorted((row["a"], row["b"]))
            meetings.setdefault((row["conversation_id"], first, second), []).append(row)
    talks = led_dialogues(run)
    for (dialogue, first, second), rows in meetings.items():
        named = ["tie" if row["winner"] == "tie" else row[row["winner"]] for row in rows]
        side = majority([{first: "a", second: "b"}.get(who, "tie") for who in named])
        if side not in ("a", "b"):
            left_out[side] += 1
            continue
        better, worse = (first, second) if side == "a" else (second, first)
        chosen, rejected = talks(dialogue, better), talks(dialogue, worse)
        if chosen is None or rejected is None:
            left_out["what was said is not in the run"] += 1
            continue
        made = pair_of_dialogues(chosen, rejected, segments=options.kind == "segment")
        if isinstance(made, str):
            left_out[made] += 1
            continue
        provenance = Provenance(
            conversation_id=dialogue,
            turn=made.turn,
            source="people" if people else "judge",
            judge=str(rows[0]["judge"]),
            scores=_points(rows, better),
            chosen_from=f"votes: {better}",
            model_chosen=better,
            model_rejected=worse,
            chosen_first=_shown_first(rows, better),
            unchecked=unchecked,
            details={"votes": {n: named.count(n) for n in (better, worse, "tie")}},
            **about_row(run, name, rejected),
        )
        yield TrainingRow(made.row(provenance), provenance, rejected)


def mostly(first: Sequence[bool]) -> bool | None:
    """Say whether most of some hold; None where as many do as do not."""
    return None if 2 * sum(first) == len(first) else 2 * sum(first) > len(first)


def _points(rows: Sequence[Row], better: str) -> tuple[float, float] | None:
    """Return the mean scores that the votes stand on, in points; None where they stand on none."""
    qualities = rows[0]["qualities"]
    if len(rows) != 1 or not qualities or None in qualities:
        return None
    a, b = map(points_of, qualities)
    return (a, b) if rows[0]["a"] == better else (b, a)


def _shown_first(rows: Sequence[Row], better: str) -> bool | None:
    """Say whether most who chose it saw it first; None where it was shown in both orders, or nobody says."""
    if any(row["orders"] for row in rows):
        return None
    return mostly([row[row["shown_first"]] == better for row in rows if row["shown_first"] in ("a", "b")])
