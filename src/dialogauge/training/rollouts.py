"""Sessions that the policy plays with simulated users: rolled out, scored, and kept as the tokens sampled.

The sessions are those of `simulate`: the same loop, the same users and their checks, the same judges. The
policy is a model in this process. It samples the replies that all live sessions wait for in one batch. Its
tokens are used as they were sampled; between two replies only the template's text of the user's message is
made into tokens, and masked.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from dialogauge.agents import Scenario, beginning, play, read_scenarios
from dialogauge.core import (
    Conversation,
    FileFault,
    Judge,
    JudgeFailure,
    Message,
    Place,
    RecordFault,
    Request,
    digest_text,
    round_score,
)
from dialogauge.core.conversation import PREFIX
from dialogauge.core.files import shown_path
from dialogauge.core.protocols import Agent, AgentFailure, AgentReply, AgentTurn
from dialogauge.judges.rubric.prompt import gathered
from dialogauge.signals import find_repetition, read_dialogue
from dialogauge.text import split_reasoning
from dialogauge.training.masks import DialogueTokenizer
from dialogauge.training.row_files import read_pair_file
from dialogauge.training.train_settings import PlaySettings

POLICY: Final = "policy"
"""What sessions call the candidate that is trained."""
_USER_TOKENS: Final = 96
"""Room for a message of a simulated user, which has 40 words at most, and the template around it."""
_LOOP: Final = 0.9
"""Strength from which a repeated reply is a loop, and no update of an earlier one."""


@dataclass(frozen=True, slots=True)
class RolloutPrompt:
    """What sessions begin with: a character, its user, and what was said before."""

    scenario: Scenario
    beginning: Conversation
    """All of it prefix; its first message says who the character is."""

    @property
    def persona(self) -> str:
        """By which sessions are paired."""
        return self.scenario.id


def read_prompts(path: str | Path) -> list[RolloutPrompt]:
    """Read what sessions begin with: rows of `pairs --kind rl`, or scenarios, which have no context.

    Raises InputError for a file that is neither, with its line.
    """
    try:
        with Path(path).open("rb") as file:
            rows = b'"prompt"' in next((line for line in file if line.strip()), b"")
    except OSError as error:
        msg = f"it cannot be read: {error.strerror or error}"
        raise FileFault(msg, place=Place(shown_path(str(path)))) from error
    if not rows:
        return [RolloutPrompt(s, beginning(s, s.id, POLICY)) for s in read_scenarios(str(path))]
    prompts = []
    for row in read_pair_file(path):
        if row.scenario is None:
            msg = "the row is no prompt of sessions"
            raise RecordFault(msg, place=row.place, hint="write them with `dialogauge pairs --kind rl`")
        start = beginning(row.scenario, row.scenario.id, POLICY)
        messages = tuple(Message(m["role"], m.get("content") or "") for m in row.data["prompt"])
        start = replace(start, messages=messages, metadata={PREFIX: len(messages)})
        prompts.append(RolloutPrompt(row.scenario, start))
    return prompts


@dataclass(slots=True)
class SampledTokens:
    """The tokens of one session, as they were sampled and as the template put them between."""

    prompt: list[int] = field(default_factory=list)
    """Everything before the first reply."""
    completion: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    """1 at tokens of the completion that the policy sampled."""
    replies: list[int] = field(default_factory=list)
    """Sampled tokens of each reply."""
    dropped: int = 0
    """Oldest turns of the context that did not fit."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """A session of the policy, and what it was worth."""

    prompt: RolloutPrompt
    conversation: Conversation
    tokens: SampledTokens
    truncated: int = 0
    """Replies that the cap cut off."""
    repeated: int = 0
    """Replies that repeat an earlier one."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By dimension; empty where the session or its judgement failed."""
    reward: float | None = None
    """The mean of the scores less the costs; None where there is no score, never 0."""
    second: Mapping[str, float] = field(default_factory=dict)
    """By dimension what a judge gives that is no reward; empty where it is not asked, or failed."""
    failure: JudgeFailure | None = None

    @property
    def score(self) -> float | None:
        """The mean of the scores."""
        return round_score(statistics.fmean(self.scores.values())) if self.scores else None

    def to_row(self) -> dict[str, Any]:
        """Write it as a line of `sessions.jsonl`: a conversation, with what it was worth beside it."""
        conversation = self.conversation
        return {
            "id": conversation.id,
            "candidate": conversation.candidate,
            "scenario": self.prompt.scenario.id,
            "user_id": conversation.user_id,
            "messages": [{"role": m.role, "content": m.text} for m in conversation.messages],
            "metadata": dict(conversation.metadata),
            "scores": dict(self.scores) or None,
            "second": dict(self.second) or None,
            "reward": self.reward,
            "failure": None if self.failure is None else self.failure.message,
            "tokens": self.tokens.replies,
            "truncated": self.truncated,
            "repeated": self.repeated,
            "dropped": self.tokens.dropped,
        }


class PolicyModel:
    """A causal language model of transformers that replies to several dialogues in one batch."""

    def __init__(self, model: Any, tokenizer: DialogueTokenizer, settings: PlaySettings) -> None:  # noqa: ANN401
        """Take a model where it is: it samples on its own device."""
        self.model, self.tokenizer, self.settings = model, tokenizer, settings
        own = getattr(model.generation_config, "eos_token_id", None)
        stops = own if isinstance(own, list) else [own]
        self.stops = {tokenizer.end_of_turn, *(token for token in stops if token is not None)}

    def sample(self, prompts: Sequence[Sequence[int]], seed: int) -> list[list[int]]:
        """Return the tokens that follow on each prompt, the end of the turn included where it was reached."""
        import torch

        device, pad = self.model.device, self.tokenizer.tokenizer.pad_token_id
        pad = self.tokenizer.end_of_turn if pad is None else pad
        longest = max(map(len, prompts))
        ids = torch.tensor([[pad] * (longest - len(p)) + [*p] for p in prompts], device=device)
        there = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device=device)
        training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad(), torch.random.fork_rng([device] if device.type == "cuda" else []):
                torch.manual_seed(seed)
                output = self.model.generate(
                    input_ids=ids,
                    attention_mask=there,
                    max_new_tokens=self.settings.reply_tokens,
                    do_sample=True,
                    temperature=self.settings.temperature,
                    top_k=0,
                    top_p=1.0,
                    repetition_penalty=1.0,
                    pad_token_id=pad,
                    eos_token_id=sorted(self.stops),
                    use_cache=True,
                )
        finally:
            self.model.train(training)
        return [self._ended(row) for row in output[:, longest:].tolist()]

    def _ended(self, tokens: list[int]) -> list[int]:
        """Cut the padding behind the end of a turn off."""
        end = next((i for i, token in enumerate(tokens) if token in self.stops), len(tokens) - 1)
        return tokens[: end + 1]


class PolicyBatch:
    """Sessions that go side by side: when all that are live wait for a reply, they are sampled together."""

    def __init__(self, policy: PolicyModel, live: int) -> None:
        """Wait for so many sessions."""
        self.policy, self._live = policy, live
        self._waiting: dict[int, tuple[list[int], int, asyncio.Future[list[int]]]] = {}

    async def sample(self, seat: int, ids: list[int], seed: int) -> list[int]:
        """Return the reply of one session, sampled with those of all others."""
        reply: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting[seat] = ids, seed, reply
        self._go()
        return await reply

    def leave(self, seat: int) -> None:
        """Wait for this session no longer."""
        self._waiting.pop(seat, None)
        self._live -= 1
        self._go()

    def _go(self) -> None:
        if self._waiting and len(self._waiting) == self._live:
            waiting, self._waiting = [self._waiting[seat] for seat in sorted(self._waiting)], {}
            prompts, seeds = [ids for ids, _, _ in waiting], [seed for _, seed, _ in waiting]
            seed = int(digest_text(f"{seeds} {[len(p) for p in prompts]}")[:15], 16)
            batch = asyncio.ensure_future(asyncio.to_thread(self.policy.sample, prompts, seed))
            for number, (_, _, reply) in enumerate(waiting):
                batch.add_done_callback(partial(_hand_out, number, reply))


def _hand_out(number: int, reply: asyncio.Future[list[int]], batch: asyncio.Future[list[list[int]]]) -> None:
    """Give a session its reply, or what went wrong."""
    if reply.done() or batch.cancelled():
        return
    if (error := batch.exception()) is not None:
        reply.set_exception(error)
    else:
        reply.set_result(batch.result()[number])


class PolicySeat:
    """The policy in one session; implements `core.protocols.Agent`."""

    name = POLICY
    digest = POLICY

    def __init__(self, batch: PolicyBatch, seat: int) -> None:
        """Take a seat among the sessions that go side by side."""
        self.batch, self.seat, self.tokens = batch, seat, SampledTokens()
        self._messages = 0

    def describe(self) -> Mapping[str, Any]:
        """Return the kind."""
        return {"kind": POLICY}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Sample a reply, and keep its tokens.

        Raises UsageError where persona and first message do not fit into the model.
        """
        policy, tokens = self.batch.policy, self.tokens
        encoder, cap, turns = policy.tokenizer, policy.settings.reply_tokens, policy.settings.turns
        if not tokens.replies:
            messages = [{"role": m.role, "content": m.text} for m in conversation.messages]
            room = turns * cap + (turns - 1) * _USER_TOKENS
            what = f"{turns} replies of {cap} and {turns - 1} messages of users of {_USER_TOKENS}"
            encoded = encoder.prompt(messages, room, what)
            tokens.prompt, tokens.dropped = encoded.ids, encoded.dropped
        between = encoder.follow_up(conversation.messages[-1].text) if tokens.replies else []
        ids = [*tokens.prompt, *tokens.completion, *between]
        if encoder.max_length is not None and len(ids) + cap > encoder.max_length:
            msg = f"{len(ids):,} tokens and a reply of {cap:,} are more than {encoder.max_length:,}"
            return AgentTurn(AgentFailure("too_long", msg))
        sampled = await self.batch.sample(self.seat, ids, seed)
        text = split_reasoning(encoder.tokenizer.decode(sampled, skip_special_tokens=True))[0].strip()
        if not text:
            return AgentTurn(AgentFailure("empty_reply", "the policy said nothing"))
        cut = sampled[-1] not in policy.stops
        closing = [] if sampled[-1] == encoder.end_of_turn else [encoder.end_of_turn]
        tokens.completion += [*between, *sampled, *closing]
        tokens.mask += [0] * len(between) + [1] * len(sampled) + [0] * len(closing)
        tokens.replies.append(len(sampled))
        return AgentTurn(AgentReply(text, "length" if cut else "stop"))


class OneMessage:
    """A user whom several sessions hear saying the same: asked once, whoever waits first."""

    def __init__(self, user: Agent) -> None:
        """Ask nothing yet."""
        self.user, self.name, self.digest = user, user.name, user.digest
        self._turn: asyncio.Task[AgentTurn] | None = None

    def describe(self) -> Mapping[str, Any]:
        """Return what the user says of itself."""
        return self.user.describe()

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Return the message."""
        if self._turn is None:
            self._turn = asyncio.ensure_future(self.user.reply(conversation, seed=seed))
        return await self._turn


@dataclass(frozen=True, slots=True)
class SessionScorer:
    """Scores the new turns of sessions as a whole."""

    judge: Judge
    dimensions: tuple[str, ...]
    """Of those of a conversation."""

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest score that there is."""
        scales = [d.scale for d in self.judge.dimensions if d.name in self.dimensions]
        return min(s.low for s in scales), max(s.high for s in scales)

    async def scores(self, conversation: Conversation, seed: int) -> dict[str, float] | JudgeFailure:
        """Return the scores by dimension, n/a left out; a failure where there is none."""
        request = Request(conversation.blinded(), seed=seed)
        for judged in await self.judge.judge(request):
            if judged.target.level != "conversation":
                continue
            if isinstance(judged.outcome, JudgeFailure):
                return judged.outcome
            numbers = {name: judged.outcome.numbers.get(name, "n/a") for name in self.dimensions}
            if scores := {name: float(n) for name, n in numbers.items() if not isinstance(n, str)}:
                return scores
        return JudgeFailure("unmet", "no dimension of the session has a score")


@dataclass(frozen=True, slots=True)
class SessionPlayer:
    """Lets the policy play sessions, and scores them."""

    users: Callable[[Scenario], Agent]
    scorer: SessionScorer
    second: SessionScorer | None = None
    """A judge that is no reward."""
    truncated_cost: float = 0.5
    """Taken off the score for each reply that the cap cut off."""
    repeated_cost: float = 0.5
    """For each reply that repeats an earlier one."""

    async def play(
        self,
        policy: PolicyModel,
        prompts: Sequence[RolloutPrompt],
        names: Sequence[str],
        seeds: Sequence[int],
        *,
        hear_the_same: int = 1,
        ask_second: bool = True,
    ) -> list[Rollout]:
        """Play a session for each prompt, side by side.

        Args:
            policy: Replies.
            prompts: One for each session.
            names: The ids of the sessions.
            seeds: Of users and judge; of the policy all together. No two alike: a response cache would
                answer one session with the turns of another.
            hear_the_same: Sessions side by side whose user says the same: asked once for all of them.
            ask_second: Whether the second judge is asked too, where there is one.

        Raises `EndpointError` or `BudgetSpent` from users or judge, UsageError for a persona that does not
        fit into the model.
        """
        batch = PolicyBatch(policy, len(prompts))
        users = [self.users(prompt.scenario) for prompt in prompts]
        if hear_the_same > 1:
            shared = [OneMessage(user) for user in users[::hear_the_same]]
            users = [user for user in shared for _ in range(hear_the_same)]
        player = self if ask_second else replace(self, second=None)
        each = enumerate(zip(prompts, names, seeds, users, strict=True))
        return await gathered([player.session(batch, seat, *one) for seat, one in each])

    async def session(
        self, batch: PolicyBatch, number: int, prompt: RolloutPrompt, name: str, seed: int, user: Agent
    ) -> Rollout:
        """Play the session of one seat of a batch, and score it."""
        seat = PolicySeat(batch, number)
        start = replace(prompt.beginning, id=name, candidate=POLICY)
        try:
            session = await play(user, seat, start, batch.policy.settings.turns, seed=seed)
        finally:
            batch.leave(number)
        talk = session.conversation
        rollout = Rollout(prompt, talk, seat.tokens, session.truncated, failure=session.fault)
        if session.fault is not None:
            return rollout
        judges = [self.scorer, *([] if self.second is None else [self.second])]
        scores, *second = await gathered([judge.scores(talk, seed) for judge in judges])
        rollout = replace(rollout, repeated=_repeated(talk))
        if isinstance(scores, JudgeFailure):
            return replace(rollout, failure=scores)
        costs = self.truncated_cost * rollout.truncated + self.repeated_cost * rollout.repeated
        return replace(
            rollout,
            scores=scores,
            second=next((other for other in second if isinstance(other, dict)), {}),
            reward=round_score(max(statistics.fmean(scores.values()) - costs, self.scorer.limits[0])),
        )


def _repeated(conversation: Conversation) -> int:
    """Count the new replies that repeat an earlier one."""
    new = {turn.number for turn in conversation.new_turns}
    loops = find_repetition(read_dialogue(conversation))
    return len({s.turn for s in loops if s.name == "repeats_reply" and s.strength >= _LOOP and s.turn in new})
