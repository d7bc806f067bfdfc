"""Sessions whose replies another trainer samples: users, judge and loop are those of `dialogauge tune`.

verl and OpenRLHF call it with what they sample by (`verl_sessions`, `openrlhf_sessions`); the files that
`dialogauge pairs --kind rl --to verl` writes name it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

from dialogauge.agents import SimulatedUser, scenario_of
from dialogauge.app.build import build_judge, session_dimensions
from dialogauge.app.clients import Clients
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import Conversation, EndpointError, Message, Place, UsageError
from dialogauge.core.conversation import PREFIX
from dialogauge.training import (
    DialogueTokenizer,
    PlaySettings,
    PolicyBatch,
    PolicyModel,
    Rollout,
    RolloutPrompt,
    SessionPlayer,
    SessionScorer,
)

Sample = Callable[[list[int]], Awaitable[list[int]]]
"""Takes the tokens so far, and returns those of a reply; the end of its turn is among them if it ended."""
_TRIES: Final = 3


class SessionHost:
    """Plays the user's side of sessions, and scores them."""

    def __init__(
        self,
        roles_file: str,
        *,
        turns: int = 10,
        reply_tokens: int = 256,
        rubric: str = "roleplay",
        weights: str | None = None,
    ) -> None:
        """Build the clients of the roles `simulator` and `judge`.

        Args:
            roles_file: A configuration file that names both.
            turns: Of a session.
            reply_tokens: At most in a reply.
            rubric: A shipped one, or a file; the mean of its dimensions of a conversation is the score.
            weights: The file of its criteria's weights.

        Raises ConfigError or UsageError for a role that is missing or cannot be reached, and for a rubric
        that scores no session.
        """
        roles = load_config(roles_file).roles
        if missing := {"simulator", "judge"} - set(roles):
            msg = f"{roles_file} does not say who is the {min(missing)}"
            raise UsageError(msg, hint=f"add [roles.{min(missing)}] with model and base_url")
        names = session_dimensions(rubric)
        # An answer from a cache would give one session of a group another's turns.
        judging = JudgeOptions(
            inputs=(),
            judge="llm",
            rubric=rubric,
            weights_file=weights,
            role=model_of(None, "judge", roles),
            cache=False,
        )
        clients = Clients(judging, sessions=True)
        simulator = clients.build(model_of(None, "simulator", roles), "simulator")
        judge = build_judge(judging, clients=clients).judge
        self.player = SessionPlayer(
            lambda scenario: SimulatedUser(simulator, scenario), SessionScorer(judge, names)
        )
        self.settings = PlaySettings(turns=turns, reply_tokens=reply_tokens)

    async def play(
        self,
        tokenizer: DialogueTokenizer,
        prompt: Sequence[Mapping[str, Any]],
        scenario: Mapping[str, Any],
        sample: Sample,
        *,
        seed: int,
    ) -> Rollout:
        """Play a session and score it; where a side or the judge fails, play it anew, twice at most.

        Args:
            tokenizer: Of the policy; its `max_length` is what fits.
            prompt: System message and context.
            scenario: An entry of a file of scenarios.
            sample: Of the policy.
            seed: Of user and judge; each session of a group has another.

        Raises EndpointError where no session came to a score: a failed judgement is no reward of 0.
        """
        about = scenario_of(scenario, Place("a row of the kind rl"))
        start = Conversation(
            f"{about.id}/{seed}",
            tuple(Message(m["role"], m["content"]) for m in prompt),
            user_id=about.user.id,
            scenario=about.id,
            context=about.user.goal,
            language=about.stated_language,
            metadata={PREFIX: len(prompt)},
        )
        policy = PolicyModel(SimpleNamespace(generation_config=None), tokenizer, self.settings)
        for number in range(_TRIES):
            batch, user = _SampledElsewhere(policy, sample), self.player.users(about)
            rollout = await self.player.session(
                batch, 0, RolloutPrompt(about, start), start.id, seed + number, user
            )
            if rollout.reward is not None:
                return rollout
        msg = f"the session {start.id!r} came to no score: {rollout.failure and rollout.failure.message}"
        raise EndpointError(
            msg, hint="see whether simulator and judge answer; training goes on from its checkpoint"
        )


class _SampledElsewhere(PolicyBatch):
    """A batch of one session, whose replies the trainer samples with those of its others."""

    def __init__(self, policy: PolicyModel, sample: Sample) -> None:
        super().__init__(policy, 1)
        self._ask = sample

    async def sample(self, seat: int, ids: list[int], seed: int) -> list[int]:
        """Return the reply."""
        del seat, seed
        return list(await self._ask(ids))


session_host = cache(SessionHost)
"""Returns the one host of a process: its sessions share clients and their limits."""
