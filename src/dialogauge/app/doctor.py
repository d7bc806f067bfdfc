"""Whether an endpoint works and whether its model is fit to judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dialogauge.app.clients import Clients
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.option_groups import LimitOptions
from dialogauge.app.settings import DoctorOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.json_keys import keys
from dialogauge.judges.known_answers import KnownAnswerReport, known_answers, unfit
from dialogauge.llm.doctor import EndpointCheck, EndpointReport, examine

_PATIENCE: Final = 120.0
"""Seconds for a question with all its attempts, unless `timeout_s` of the role says otherwise.

Time for one slow reply, and less than a run waits for an endpoint that answers nobody.
"""


@keys(answers="known_answers", fit="fit", verdict="verdict")
@dataclass(frozen=True, slots=True)
class Examination:
    """What was found of one model at one endpoint."""

    endpoint: EndpointReport
    answers: KnownAnswerReport | None
    """None when the set was not asked, or the endpoint is of no use."""

    @property
    def usable(self) -> bool:
        """Whether the endpoint can be judged with."""
        return self.endpoint.usable

    @property
    def against(self) -> tuple[str, ...] | None:
        """What speaks against judging with it; None when the known answers were not asked for."""
        if not self.usable:
            failed = (c for c in self.endpoint.checks if c.status == "failed")
            return tuple(f"the endpoint fails ({check.name})" for check in failed)
        return None if self.answers is None else unfit(self.answers)

    @property
    def verdict(self) -> str:
        """Whether endpoint and model are fit to judge, in one sentence."""
        against = self.against
        if against is None:
            return "fit to judge: cannot be told without the known answers; the endpoint is of use"
        if against:
            return f"NOT fit to judge: {'; '.join(against)}"
        return (
            "fit to judge: every known conversation answered in form, each thing right more often than by "
            "the best single answer"
        )

    @property
    def fit(self) -> bool | None:
        """To judge; null when the known answers were not asked for."""
        return None if self.against is None else not self.against


def examine_endpoint(
    options: DoctorOptions, tell: Callable[[EndpointCheck], None] = lambda _: None
) -> Examination:
    """Probe the endpoint of a model, then ask the model what we know the answer to.

    Nothing is taken from the response cache. `tell` is called with each check of the endpoint when it is
    done. Raises ConfigError for a key that is not set.
    """
    config = load_config(options.config_file)
    reference = references(options).get("judge")
    if reference is None and "judge" not in config.roles:
        msg = "no model is given"
        raise UsageError(msg, hint="give --model NAME --base-url URL, or [roles.judge] in dialogauge.toml")
    role = model_of(reference, "judge", config.roles)
    patience = role.timeout_s or _PATIENCE
    role = role.model_copy(update={"deadline_s": min(role.deadline_s or patience, patience)})

    async def run() -> Examination:
        clients = Clients(LimitOptions(cache=False))
        try:
            client = clients.build(role, "judge")
            endpoint = await examine(client, tell=tell)
            asked = options.known_answers and endpoint.usable
            return Examination(endpoint, await known_answers(client) if asked else None)
        finally:
            await clients.close()

    return asyncio.run(run())
