"""All checks of a finished run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dialogauge.core import Conversation
from dialogauge.studies.trust.checks import (
    check_aggregation,
    check_identical,
    check_length,
    check_repair,
    check_verdicts,
    read_texts,
)
from dialogauge.studies.trust.result import Calibration, Trust, TrustCheck, TrustThresholds
from dialogauge.studies.trust.scenario import RuleFindings, check_rules, not_checked
from dialogauge.studies.trust.tally import TrustTally

Fetch = Callable[[Collection[str]], Iterable[Conversation]]

_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Extra:
    """What other steps found, to stand among the checks."""

    scenario: TrustCheck | None = None
    """Of judging again without the scenario; None when that was not done."""
    scenario_shown: bool = True
    """Whether the rubric shows the judge a scenario at all."""
    rules: RuleFindings | None = None
    """None when the rubric has no scenario rules."""
    calibration: Calibration | None = None
    """None without people's ratings."""


def examine(
    tally: TrustTally, fetch: Fetch, *, judge: str, limits: TrustThresholds, extra: Extra | None = None
) -> Trust:
    """Draw up the checks from what the tally holds.

    Args:
        tally: Through which the rows have passed.
        fetch: Returns the conversations of these ids; asked for a few at a time.
        judge: What sentences call the judge.
        limits: From which figure on a check is flagged.
        extra: What was found besides.
    """
    extra = extra or Extra()
    sampled = tally.sampled()

    def conversations(keys: Sequence[tuple[str, str | None]]) -> Iterator[Conversation]:
        wanted = set(keys)
        ids = iter(dict.fromkeys(key[0] for key in keys))
        while block := list(islice(ids, _AT_ONCE)):
            yield from (c for c in fetch(block) if (c.id, c.candidate) in wanted)

    texts = read_texts(sampled, conversations([(s.conversation_id, s.candidate) for s in sampled]))
    checks = (
        check_aggregation(tally, limits, judge),
        check_repair(texts, tally, limits),
        extra.scenario or not_checked(shown=extra.scenario_shown),
        *([] if extra.rules is None else [check_rules(extra.rules, limits)]),
        check_length(texts, tally, limits),
        check_verdicts(tally, limits),
        check_identical(tally, limits, conversations),
    )
    return Trust(checks, limits, extra.calibration)
