"""Which requests a test server gets wrong, and how: decided by a script and by seeded chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: `NAME` or `NAME:ARGUMENT`.
#:
#: 429[:SECONDS|:date]   too many requests, with Retry-After where given
#: 500, 502, 503[:S]     an error in JSON; html502 one as an HTML page
#: 401, 402, 403, 404    refused; also `400:MESSAGE`, `429:MESSAGE` ...
#: hang                  never answers
#: drop                  closes in the middle of the reply
#: reset                 closes without any reply
#: close                 replies, then closes the connection without saying so
#: drip[:SECONDS]        sends the reply in small pieces over that time
#: html                  200 with an HTML page
#: error200[:CODE]       200 with an error inside
#: no_choices, empty, null    a reply without choices, without text, with null as its text
#: cut                   the text in the middle, finish reason "length"
#: cut_stop              the text in the middle, finish reason "stop"
#: filter, refusal       declined by a filter, by the model
#: wrong_schema          JSON of another kind
#: prose                 no JSON
#: think, think_field, think_orphan   reasoning in the text, in its own field, without its opening tag
#: two_objects           another object in front
#: two_verdicts          the same object with other whole numbers in front
#: verdict_again         the same object twice
#: value:TEXT            the last number replaced by the text, in which N stands for it
#: two_keys              the member of the last number twice, with different numbers
#: fenced                in a code fence with prose around
#: faulty                JSON with a trailing comma and single quotes
#:
#: Further names are those of `servers.broken_http`.
Fault = str


class FaultPlan:
    """Says which fault a request meets.

    Args:
        script: For the first chat requests in order; None for none.
        rates: After the script, the probability of each fault.
        always: After the script, a fault for every request.
        choose: After the script, takes the JSON of the request and says its fault; None for none.
        seed: For the rates.
    """

    def __init__(
        self,
        script: Sequence[Fault | None] = (),
        *,
        rates: Mapping[Fault, float] | None = None,
        always: Fault | None = None,
        choose: Callable[[Mapping[str, Any]], Fault | None] | None = None,
        seed: int = 0,
    ) -> None:
        self._script = list(script)
        self._rates = dict(rates or {})
        self._always = always
        self._choose = choose
        self._rng = random.Random(seed)

    def next(self, body: Mapping[str, Any]) -> tuple[str, str]:
        """Return name and argument of the fault of the next request, two empty strings for none."""
        if self._script:
            fault = self._script.pop(0)
        elif self._choose is not None:
            fault = self._choose(body)
        else:
            fault = self._always or self._by_chance()
        name, _, argument = (fault or "").partition(":")
        return name, argument

    def _by_chance(self) -> Fault | None:
        draw = self._rng.random()
        for fault, rate in self._rates.items():
            draw -= rate
            if draw < 0:
                return fault
        return None
