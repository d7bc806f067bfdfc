"""Who plays with a model that is trained, and who scores: users and judges of the roles, on one budget."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from dialogauge.agents import SimulatedUser
from dialogauge.app.build import build_judge, session_dimensions
from dialogauge.app.clients import Clients
from dialogauge.app.config import RoleSettings, model_of
from dialogauge.app.judge import stored_checks
from dialogauge.app.merging import load_config, named_roles
from dialogauge.app.settings import JudgeOptions
from dialogauge.app.tune.settings import OnlineOptions, TuneOptions
from dialogauge.core import UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_line
from dialogauge.studies.evidence import NOTHING_CHECKED
from dialogauge.training import (
    HELD_OUT_FILE,
    HeldOutPersonas,
    OnlineTrainer,
    PlayedGain,
    PlaySettings,
    SessionPlayer,
    SessionScorer,
    TuneJob,
    gains_of,
    load_policy,
    memory_named,
    read_prompts,
)

_DOES: Final = (("simulator", "plays the users"), ("judge", "scores the sessions"))


@dataclass(frozen=True, slots=True)
class Playing:
    """Users and judges, in a loop of their own."""

    options: TuneOptions
    runner: asyncio.Runner
    player: SessionPlayer
    rests_on: dict[str, Any]
    """What the scores are by; a run that goes on must have the same."""

    def trainer(self, *, single_turn: bool) -> OnlineTrainer:
        """Return what trains on played sessions."""
        prompts = read_prompts(self.options.data)
        return OnlineTrainer(prompts, self.player, self.runner.run, single_turn)

    def asked(self, job: TuneJob) -> dict[str, Any]:
        """Return what must be the same for sessions with held-out personas to be compared."""
        played = recorded(narrowed(PlaySettings, self.options))
        return {**played, "max_length": job.settings.max_length, **self.rests_on}

    def gains(self, job: TuneJob, personas: str, out: Path) -> tuple[PlayedGain, ...]:
        """Play with held-out personas before and after, keep the sessions, and return what was gained."""
        held_out = HeldOutPersonas(
            prompts=read_prompts(personas),
            player=self.player,
            run=self.runner.run,
            settings=narrowed(PlaySettings, self.options),
            each=self.options.held_out_sessions,
            seed=job.settings.seed,
        )
        arms = (("before", job.model), (out.resolve().name, out))
        with memory_named():
            before, after = (
                list(held_out.play(load_policy(folder, job.settings, job.device), arm))
                for arm, folder in arms
            )
        write_whole(out / HELD_OUT_FILE, (json_line(row) for row in (*before, *after)))
        names: dict[Any, str] = {"reward": self.player.scorer.judge.name}
        if self.player.second is not None:
            names["second"] = self.player.second.judge.name
        return gains_of(before, after, names, self.player.scorer.limits)


@contextmanager
def playing_for(options: TuneOptions) -> Iterator[Playing]:
    """Build users and judges, and free them at the end.

    Raises UsageError where a role is missing, and where the reward would rest on a judge that is not checked.
    """
    config, named = load_config(options.config_file), named_roles(options.models, options.asks)
    roles = dict[str, RoleSettings]()
    for role in options.asks:
        if role in named or role in config.roles:
            roles[role] = model_of(named.get(role), role, config.roles)
    for role, what in _DOES:
        if role not in roles:
            msg = f"nobody {what}"
            raise UsageError(msg, hint=f"give --role {role}=MODEL@URL#KEYVAR")
    dimensions = session_dimensions(options.rubric)
    with asyncio.Runner() as runner:
        clients = Clients(options, sessions=True)
        try:
            simulator = clients.build(roles["simulator"], "simulator")
            scorers = dict[str, SessionScorer]()
            for role in ("judge", "second"):
                if role in roles:
                    asked = narrowed(JudgeOptions, options, inputs=(), judge="llm", role=roles[role])
                    judge = build_judge(asked, clients=clients).judge
                    scorers[role] = SessionScorer(judge, dimensions)
            if "second" in scorers and scorers["second"].judge.digest == scorers["judge"].judge.digest:
                msg = "the second judge is the judge that gives the reward"
                raise UsageError(msg, hint="name another model or function with --role second=")
            costs: dict[str, float] = {}
            if isinstance(options, OnlineOptions):
                _expect_checked(options, scorers["judge"])
                costs = {
                    "truncated_cost": options.truncated_cost,
                    "repeated_cost": options.repeated_cost,
                }
            users = partial(SimulatedUser, simulator)
            player = SessionPlayer(users, scorers["judge"], scorers.get("second"), **costs)
            rests_on = {
                "judge": scorers["judge"].judge.digest,
                "rubric": options.rubric,
                "simulator": dict(simulator.describe()),
                "unchecked": options.unchecked,
            }
            yield Playing(options, runner, player, rests_on)
        finally:
            runner.run(clients.close())


def _expect_checked(options: OnlineOptions, scorer: SessionScorer) -> None:
    """Raise UsageError where a dimension of the reward is not checked, unless that is asked for."""
    if options.unchecked:
        return
    asked = narrowed(JudgeOptions, options, inputs=(), judge="llm", role=None)
    own = replace(NOTHING_CHECKED, judge=scorer.judge.digest, rubric=options.rubric)
    evidence = own.with_stored(stored_checks(asked, scorer.judge))
    for name in scorer.dimensions:
        if not evidence.of(name).checked:
            msg = f"the reward would rest on a judge that is not checked: {name}: {evidence.of(name).why}"
            hint = "name a rated run of this judge with --checked-by, or train all the same: --unchecked"
            raise UsageError(msg, hint=hint)
