"""What users make of an answer: by a metric with fixed words, or by a model that knows the task's record.

MemoryBench, A.2.1: the two paths of its simulator. Its released code took every failed call for the end of
the dialogue; here a failed call is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Protocol

from dialogauge.core import Conversation, JudgeFailure, Message, Request, Usage, UsageError, digest
from dialogauge.core.conversation import PREFIX, TASK
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import AgentFailure, Judge
from dialogauge.data.tasks import TaskRecord
from dialogauge.judges.answers import score
from dialogauge.judges.rubric.prompt import as_json, dialogue_text, messages_of, task_fields
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.rubrics import (
    closed_object,
    feedback_files,
    feedback_words,
    own_template,
    render,
    split_template,
)
from dialogauge.signals import check_user
from dialogauge.text import ENGLISH_STOP, detect_language, has_chinese, normalise


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a user makes of an answer."""

    score: int
    """Satisfaction, 1 to 10."""
    text: str = ""
    """What the user says; empty where it leaves without a word."""
    ends: bool = False
    reasoning: str = ""
    """Of a model, before it decided."""
    repeated: bool = False
    """Whether the user asked twice what it had asked before, and so was made to leave."""
    leaked: str | None = None
    """Words of the record in what the user says; None where there are none."""


class Critic(Protocol):
    """Makes up a user's mind about the last answer of a dialogue."""

    @property
    def name(self) -> str:
        """What rows and pages call it."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change an opinion, the task left out."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def opinion(
        self, task: TaskRecord, conversation: Conversation, *, seed: int
    ) -> tuple[Opinion | AgentFailure, Usage]:
        """Return an opinion of the last answer, or why there is none, and what it took.

        Raises `EndpointError` or `BudgetSpent` when going on makes no sense for any dialogue.
        """


# By a metric

_FIXED: Final = "fixed"
_NEAR: Final = 1e-9
"""A mean of fractions may lie that much below the value that it stands for."""


def metric_rule(task: TaskRecord) -> Mapping[str, Any] | None:
    """Return the metric of a task's user with its scores; None where a model plays the user.

    By data set, or by the metric that the task itself names.
    """
    rules = feedback_files()[_FIXED]["users"]
    by_set = (rule for rule in rules if _is_of(task.dataset, rule["datasets"]))
    named = (rule for rule in rules if rule["metric"] == task.gold.get("metric"))
    return next(by_set, next(named, None))


def _is_of(dataset: str, names: Sequence[str]) -> bool:
    return any(f"{dataset}-".startswith(f"{name}-") for name in names)


@dataclass(frozen=True)
class MetricCritic:
    """Scores an answer by a metric and says fixed words, each once; implements `Critic`.

    Neither the corpus nor a model is asked for anything.
    """

    rule: Mapping[str, Any]
    """Of `rubrics/files/feedback/fixed.toml`."""

    @property
    def name(self) -> str:
        """`fixed words`, and the metric."""
        return f"fixed words ({self.rule['metric']})"

    @cached_property
    def digest(self) -> str:
        """Changes with scores and words."""
        return digest([dict(self.rule), [feedback_files()[_FIXED][language] for language in ("en", "zh")]])

    def describe(self) -> Mapping[str, Any]:
        """Return metric and scores."""
        return {"model": self.name, **self.rule}

    def checked(self, task: TaskRecord) -> MetricCritic:
        """Return itself; raises UsageError where the task lacks what the metric needs."""
        try:
            self._score(task, "")
        except UsageError as error:
            msg = f"the task {task.id!r} has no user who could score: {error}"
            raise UsageError(msg, place=task.place, hint="leave it out, or give its right answer") from error
        return self

    async def opinion(
        self, task: TaskRecord, conversation: Conversation, *, seed: int
    ) -> tuple[Opinion | AgentFailure, Usage]:
        """Return the score of the last answer; who has nothing new to say leaves."""
        del seed
        value = self._score(task, conversation.messages[-1].text)
        words = feedback_files()[_FIXED]["zh" if task.language.startswith("zh") else "en"]
        if value >= self.rule["satisfied"]:
            return Opinion(value, words["thanks"], ends=True), Usage()
        earlier = {m.text for m in conversation.messages if m.role == "user"}
        text = next((line for line in words["again"] if line not in earlier), "")
        return Opinion(value, text, ends=not text), Usage()

    def _score(self, task: TaskRecord, answer: str) -> int:
        gold = task.gold.get("answer", task.gold.get("golden_answer"))
        record = {**task.gold, "gold": gold, "lang": task.language[:2]}
        values = score(self.rule["metric"], record, answer)
        value = next((v for v in values.values() if v is not None), 0.0)
        return next(int(points) for least, points in self.rule["scores"] if value >= least - _NEAR)


# By a model

_SCHEMA: Final = ReplySchema(
    "user",
    closed_object(
        {
            "reasoning": {"type": "string"},
            "behaviour": {"type": "string", "enum": ["continue", "end"]},
            "response": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        }
    ),
)
_TOOL_CHARS: Final = 2000
_CHECKED: Final = 1000
"""Characters of each earlier message that the user's next one is held against."""


@dataclass(frozen=True, slots=True)
class _Decision:
    reasoning: str
    response: str | None
    """None where the user leaves."""
    repeats: bool = False
    """Whether the user said it before."""


@dataclass(frozen=True)
class ModelCritic:
    """A model plays the user, another call scores; implements `Critic`.

    A message that asks again what was asked is asked for anew once; then the user leaves, and it is counted.
    One that speaks as the assistant, or in another language, and a broken reply are asked for anew once; then
    they are a failure, whose message says which.
    """

    client: ChatClient
    scorer: Judge
    """Its first dimension is satisfaction, 1 to 10."""
    family: str
    """The file in `rubrics/files/feedback` that says who the user is."""

    @classmethod
    def of(cls, task: TaskRecord, client: ChatClient, scorer: Judge) -> ModelCritic:
        """Return the critic of a task's data set; UsageError where the scorer has another scale."""
        scale = scorer.dimensions[0].scale
        if (scale.low, scale.high) != (1, 10):
            msg = f"the judge {scorer.name} scores {scale}, and satisfaction is 1 to 10"
            raise UsageError(msg, hint="judge by the rubric satisfaction-ten")
        files = feedback_files().items()
        names = (name for name, file in files if name != _FIXED and _is_of(task.dataset, file["datasets"]))
        return cls(client, scorer, next(names, "general"))

    @property
    def name(self) -> str:
        """The model's."""
        return self.client.name

    @cached_property
    def digest(self) -> str:
        """Changes with model, parameters, scorer and every word that the model is told."""
        wording = [[feedback_words(lang), own_template("feedback_user", lang)] for lang in ("en", "zh")]
        about = feedback_files()[self.family]
        return digest([dict(client_identity(self.client)), self.scorer.digest, dict(about), wording])

    def describe(self) -> Mapping[str, Any]:
        """Return what client and scorer say of themselves, and which user is played."""
        return {**self.client.describe(), "user": self.family, "scorer": dict(self.scorer.describe())}

    async def opinion(
        self, task: TaskRecord, conversation: Conversation, *, seed: int
    ) -> tuple[Opinion | AgentFailure, Usage]:
        """Let the model decide, then have the last answer scored."""
        about, language = feedback_files()[self.family], "zh" if task.language.startswith("zh") else "en"
        record = {"criteria": about[language]["criteria"], **task.gold}
        talk = replace(conversation, metadata={**conversation.metadata, TASK: record})
        fields = task_fields(replace(talk, metadata={TASK: task.gold}), about["record"])
        decision, usage = await self._decision(talk, fields, language, seed)
        if isinstance(decision, ChatFailure):
            message = f"the model that plays the user: {decision.message}"
            return AgentFailure(decision.kind, message, decision.raw), usage
        value, more = await self._score(talk, seed)
        usage += more
        if isinstance(value, AgentFailure):
            return value, usage
        text = "" if decision.repeats else decision.response or ""
        leak = leaked_words(text, [*_texts(fields)], [m.text for m in conversation.messages])
        return Opinion(value, text, not text, decision.reasoning, decision.repeats, leak), usage

    async def _decision(
        self, talk: Conversation, fields: Mapping[str, Any], language: str, seed: int
    ) -> tuple[_Decision | ChatFailure, Usage]:
        """Return what the model decides, and what it took; who repeats itself is asked once more."""
        words = feedback_words(language)
        request = ChatRequest(self._messages(talk, fields, language), "simulator", _SCHEMA, salt=seed)
        read = partial(_read, talk=talk, language=language)

        def reask(fault: str) -> str:
            return render(words["reask"], {"error": fault})

        answer = await ask(self.client, request, read, reask=reask)
        if isinstance(answer, ChatFailure) or not answer.value.repeats:
            return (answer if isinstance(answer, ChatFailure) else answer.value), answer.usage
        again = (
            {"role": "assistant", "content": answer.text or ""},
            {"role": "user", "content": words["repeated"]},
        )
        second = await ask(
            self.client, replace(request, messages=(*request.messages, *again)), read, reask=reask
        )
        usage = answer.usage + second.usage
        return (second if isinstance(second, ChatFailure) else second.value), usage

    def _messages(
        self, talk: Conversation, fields: Mapping[str, Any], language: str
    ) -> tuple[Mapping[str, str], ...]:
        words, person = feedback_words(language), feedback_files()[self.family][language]
        values = {key: person[key] for key in ("persona", "expertise", "wants", "reading")}
        values |= {
            "language": words["language"],
            "criteria": "\n".join(f"- {one}" for one in person["criteria"]),
            "dialogue": dialogue_text(talk.turns, tool_chars=_TOOL_CHARS).text,
            "record": as_json(dict(fields)) if fields else words["none"],
        }
        return messages_of(split_template(own_template("feedback_user", language)), values)

    async def _score(self, talk: Conversation, seed: int) -> tuple[int | AgentFailure, Usage]:
        """Return the scorer's word on the last answer; what was said before it is in view."""
        last = replace(talk, metadata={**talk.metadata, PREFIX: talk.turns[-1].start})
        judged = await self.scorer.judge(Request(last, seed=seed))
        usage = sum((one.usage for one in judged), Usage())
        outcome = judged[0].outcome
        if isinstance(outcome, JudgeFailure):
            message = f"the satisfaction scorer: {outcome.message}"
            return AgentFailure(outcome.kind, message, outcome.raw), usage
        value = outcome.numbers.get(self.scorer.dimensions[0].name)
        if not isinstance(value, int | float):
            return AgentFailure("invalid_schema", "the satisfaction scorer: there is no score"), usage
        return round(value), usage


def _read(data: Mapping[str, Any], talk: Conversation, language: str) -> _Decision:
    """Return the decision that a reply states; ValueError says what is wrong with it."""
    reasoning, response = data.get("reasoning"), data.get("response")
    behaviour = data.get("behaviour", data.get("behavior"))
    if not isinstance(reasoning, str) or not reasoning.strip():
        msg = "reasoning is missing, or no text"
        raise ValueError(msg)
    if behaviour not in ("continue", "end"):
        msg = f"behaviour is {behaviour!r}, neither continue nor end"
        raise ValueError(msg)
    if behaviour == "end":
        return _Decision(reasoning, None)
    if not isinstance(response, str) or not response.strip():
        msg = "the user goes on, and response is no text"
        raise ValueError(msg)
    if detect_language(response) != language:
        msg = "response is in another language than the conversation"
        raise ValueError(msg)
    faults = _faults(talk, response)
    if "speaks_as_other" in faults:
        msg = "in response the user speaks as the assistant"
        raise ValueError(msg)
    return _Decision(reasoning, response.strip(), "repeats_itself" in faults)


def _faults(talk: Conversation, text: str) -> set[str]:
    """Return what is wrong with the user's next message, by the checks of simulated users.

    They let very short messages pass, which count here where the same words were said before.
    """
    same = any(m.role == "user" and normalise(m.text) == normalise(text) for m in talk.messages)
    before = (Message(m.role, m.text[:_CHECKED]) for m in talk.messages)
    after = replace(talk, messages=(*before, Message("user", text)))
    turn = after.turns[-1].number
    faults: set[str] = {fault.kind for fault in check_user(after).faults if fault.turn == turn}
    return faults | {"repeats_itself"} if same else faults


# What the user may not give away

_SPELLED: Final = lazy_pattern("[\u3400-\u9fff]|[^\\W_\u3400-\u9fff]+")
_RUN: Final = {"en": 5, "zh": 10}
"""Words, or Chinese characters, in a row that are no chance."""
_SHORTEST: Final = 4
"""Letters of a word that alone can be an answer given away."""


def leaked_words(text: str, record: Sequence[str], before: Sequence[str]) -> str | None:
    """Return the first words of a task's record that a user gives away; None where there are none.

    Five words in a row, or ten Chinese characters, that the record has and that nobody said before; of a
    shorter text in the record the whole, but for a function word.
    """
    earlier = " \n ".join(_spelled(one) for one in before)
    mine = _spelled(text).split()
    for secret in map(_spelled, record):
        words = secret.split()
        size = min(_RUN["zh" if has_chinese(secret) else "en"], len(words))
        if not size or (size == 1 and (len(secret) < _SHORTEST or secret in ENGLISH_STOP)):
            continue
        for start in range(len(mine) - size + 1):
            run = " ".join(mine[start : start + size])
            if f" {run} " in f" {secret} " and f" {run} " not in f" {earlier} ":
                return run
    return None


def _spelled(text: str) -> str:
    """Return words, numbers and single Chinese characters with one blank between."""
    return " ".join(_SPELLED.findall(normalise(text)))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
