"""Users who ask a task and say of each answer what they think of it (MemoryBench, A.2).

What a user makes of an answer comes from a critic (`agents.critics`): a metric and fixed words, or a model.
The system is shown the words alone. Score, actions and reasoning are in the reply that the loop keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from random import Random
from typing import Any, Final

from dialogauge.agents.critics import Critic, MetricCritic, ModelCritic, Opinion, metric_rule
from dialogauge.agents.loop import PlayedSession
from dialogauge.core import Conversation, UsageError, digest, digest_text
from dialogauge.core.conversation import PREFIX
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn, Judge
from dialogauge.data.tasks import LoggedDialogue, RoundFeedback, TaskRecord
from dialogauge.llm.protocol import ChatClient
from dialogauge.stats.actions import ActionModel, calibrate, calibrate_two

_LONG: Final = ("SiLo", "LiLo")
"""Forms of tasks with a long output: people copy these."""


@dataclass(frozen=True, slots=True)
class FeedbackReply(AgentReply):
    """What a user says about an answer, with what no system is shown."""

    feedback: RoundFeedback | None = None
    """None where the task was asked, and there was no answer yet."""
    opinion: Opinion | None = None


@dataclass(frozen=True)
class FeedbackUser:
    """Asks a task, then takes up each answer; implements `core.protocols.Agent`.

    Keeps nothing between its messages: a user can talk with many systems side by side.
    """

    task: TaskRecord
    critic: Critic
    actions: ActionModel
    """What users click, by how satisfied they are."""

    @property
    def name(self) -> str:
        """The critic's."""
        return self.critic.name

    @cached_property
    def digest(self) -> str:
        """Changes with anything that can change a message, a score or an action."""
        task, table = self.task, [asdict(chances) for chances in self.actions.table.values()]
        question = [m.to_request() for m in task.messages]
        return digest(
            [self.critic.digest, task.id, task.dataset, question, dict(task.gold), task.form, table]
        )

    def describe(self) -> Mapping[str, Any]:
        """Return the kind, and what the critic says of itself."""
        return {"kind": "feedback", **self.critic.describe()}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Ask the task, or say what the last answer is worth; a failed critic is a failure.

        Actions are drawn by seed, task and round: neither order nor concurrency changes them.

        Raises `EndpointError` or `BudgetSpent` from the critic.
        """
        new = conversation.messages[conversation.prefix :]
        if not any(m.role == "user" for m in new):
            return AgentTurn(FeedbackReply(self.task.question))
        opinion, usage = await self.critic.opinion(self.task, conversation, seed=seed)
        if isinstance(opinion, AgentFailure):
            return AgentTurn(opinion, usage)
        number = sum(m.role == "assistant" for m in conversation.messages)
        chance = Random(int(digest_text(f"{seed}\x1f{self.task.id}\x1f{number}"), 16))
        actions = self.actions.at(opinion.score).draw(chance, long=self.task.form in _LONG)
        feedback = RoundFeedback(number, actions, opinion.score, opinion.ends)
        reply = FeedbackReply(opinion.text, ends=opinion.ends, feedback=feedback, opinion=opinion)
        return AgentTurn(reply, usage)


def user_of_task(
    task: TaskRecord,
    simulator: ChatClient | None = None,
    scorer: Judge | None = None,
    actions: ActionModel | None = None,
) -> FeedbackUser:
    """Return the user of a task.

    Args:
        task: Its data set says whether a metric decides (LoCoMo, DialSim), or a model plays the user.
        simulator: Plays it; without one only tasks with such a metric have a user.
        scorer: Judges by `satisfaction-ten`, or otherwise from 1 to 10.
        actions: None for the published model, of DialSim that of two scores.

    Raises UsageError where the task lacks what its metric needs, a model or a scorer is missing, or the scale
    of the scorer is another one.
    """
    rule = metric_rule(task)
    if rule is not None:
        shares = {int(score): share for score, share in rule.get("shares", {}).items()}
        model = actions or (calibrate_two(shares) if shares else calibrate())
        return FeedbackUser(task, MetricCritic(rule).checked(task), model)
    if simulator is None or scorer is None:
        msg = (
            f"the task {task.id!r} of {task.dataset!r} needs a model that plays its user, and one that scores"
        )
        hint = "give --role simulator=MODEL@URL; with --role judge=MODEL@URL another model scores"
        raise UsageError(msg, place=task.place, hint=hint)
    return FeedbackUser(task, ModelCritic.of(task, simulator, scorer), actions or calibrate())


def task_beginning(task: TaskRecord, candidate: str | None = None) -> Conversation:
    """Return what a dialogue about a task begins with: all before its question, and nothing of its record."""
    last = max((n for n, m in enumerate(task.messages) if m.role == "user"), default=len(task.messages))
    before = task.messages[:last]
    id = "/".join(filter(None, (task.id, candidate)))
    metadata = {PREFIX: len(before)} if before else {}
    return Conversation(id, before, candidate=candidate, language=task.language, metadata=metadata)


def logged_dialogue(task: TaskRecord, session: PlayedSession) -> LoggedDialogue:
    """Return a played dialogue as `data.tasks.log_lines` takes it; one that failed, as far as it came."""
    talk = session.conversation
    about = {"dataset": task.dataset, "task": task.id}
    logged = Conversation(
        talk.id, talk.messages, candidate=talk.candidate, language=talk.language, metadata=about
    )
    rounds = (r.feedback for r in session.of_user if isinstance(r, FeedbackReply))
    return LoggedDialogue(logged, tuple(f for f in rounds if f is not None))
