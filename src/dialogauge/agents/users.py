"""Users of a session: a model plays one, lines of one were recorded, or a person types. All are agents."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from dialogauge.agents.candidate import reply_of
from dialogauge.agents.personas import Scenario
from dialogauge.core import Conversation, digest
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest
from dialogauge.rubrics import own_template, render, session_words

_MARK: Final = lazy_pattern(r"<\s*/?\s*end\s*/?\s*>", re.IGNORECASE)
"""How a model says that its user leaves; what it writes beside it is what the user says."""


@dataclass(frozen=True)
class SimulatedUser:
    """A model plays the user of a scenario; implements `core.protocols.Agent`.

    From its side its own messages are the assistant's. It sees who it is and whom it talks with, and the
    whole dialogue, its first message included; of the system message of the candidate it sees nothing.
    """

    client: ChatClient
    scenario: Scenario

    @property
    def name(self) -> str:
        """The model's."""
        return self.client.name

    @cached_property
    def digest(self) -> str:
        """Changes with anything that can change a message: model, parameters, prompts, personas."""
        return digest([dict(client_identity(self.client)), self.instructions, self._words["opening"]])

    def describe(self) -> Mapping[str, Any]:
        """Return what the client says of itself."""
        return self.client.describe()

    @property
    def _words(self) -> Mapping[str, str]:
        return session_words(self.scenario.language)

    @cached_property
    def instructions(self) -> str:
        """What the model is told: its person, whom it talks with, and how it behaves."""
        scenario, user, words = self.scenario, self.scenario.user, self._words
        known = "\n".join(f"- {name}: {value}" for name, value in user.facts.items()) or words["nothing"]
        patience = words["patience"] if user.patience is None else str(user.patience)
        manner = render(
            words[user.kind],
            {"goal": user.goal or "", "facts": known, "patience": patience, "mark": words["mark"]},
        )
        # Of a service the user knows no more than its name: the text is what the service was told.
        background = scenario.text if scenario.kind == "character" else scenario.name
        return render(
            own_template("session_user", scenario.language),
            {
                "persona": user.persona or words["somebody"],
                "other": scenario.name,
                "background": background,
                "manner": manner,
            },
        )

    def messages(self, conversation: Conversation) -> tuple[dict[str, str], ...]:
        """Return the request: the dialogue from the user's side, opened by a message of nobody."""
        talk = [m for m in conversation.messages if m.role in ("user", "assistant") and m.text.strip()]
        swapped = [{"role": _OTHER[m.role], "content": m.text} for m in talk]
        # Models expect that the other side speaks first.
        opening = [{"role": "user", "content": self._words["opening"]}]
        system = {"role": "system", "content": self.instructions}
        return (system, *(opening if not talk or talk[0].role == "user" else []), *swapped)

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Write the user's next message, or say why there is none."""
        if self.scenario.user.opening is not None and not any(
            m.role == "user" for m in conversation.messages[conversation.prefix :]
        ):
            return AgentTurn(AgentReply(self.scenario.user.opening))
        request = ChatRequest(
            self.messages(conversation), role="simulator", salt=seed, session=conversation.id
        )
        answer = await self.client.complete(request)
        if isinstance(answer, ChatFailure):
            return AgentTurn(AgentFailure(answer.kind, answer.message, answer.raw), answer.usage)
        written = reply_of(answer.text)
        text = _MARK.sub("", written).strip()
        if not text and text == written:
            return AgentTurn(AgentFailure("empty_reply", "the simulated user said nothing"), answer.usage)
        reply = AgentReply(text, answer.finish, answer.model, ends=text != written.strip())
        return AgentTurn(reply, answer.usage)


_OTHER: Final[Mapping[str, str]] = {"user": "assistant", "assistant": "user"}


@dataclass(frozen=True)
class RecordedUser:
    """A user whose lines were recorded, and who leaves behind the last of them; an `Agent`.

    Whatever the candidate says, the next line is the next line: the pseudo-session of DynSess, Table 1.
    """

    name: str
    lines: Sequence[str]

    @cached_property
    def digest(self) -> str:
        """Changes with the lines."""
        return digest(list(self.lines))

    def describe(self) -> Mapping[str, Any]:
        """Return the kind, and how many lines there are."""
        return {"kind": "recorded", "model": self.name, "lines": len(self.lines)}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Return the next line; without one left, the end."""
        del seed
        number = sum(m.role == "user" for m in conversation.messages[conversation.prefix :])
        if number >= len(self.lines):
            return AgentTurn(AgentReply("", ends=True))
        return AgentTurn(AgentReply(self.lines[number]))


@dataclass(frozen=True)
class Person:
    """Somebody at a keyboard plays the user; an `Agent`."""

    name: str
    read: Callable[[str | None], str | None]
    """Shows what the candidate said last, None at the beginning, and returns the answer; None to leave.
    It may wait: it is called in a thread of its own, which a second Ctrl-C leaves behind."""

    @property
    def digest(self) -> str:
        """Of nothing: nobody says the same twice."""
        return digest(["person"])

    def describe(self) -> Mapping[str, Any]:
        """Return the kind."""
        return {"kind": "person", "model": self.name}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Wait for the next message; an empty one is asked for again."""
        del seed
        last = conversation.messages[-1] if conversation.messages else None
        shown = last.text if last is not None and last.role == "assistant" else None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()

        def settle(text: str | None) -> None:
            if not answer.done():  # the run may have been stopped meanwhile
                answer.set_result(text)

        def wait() -> None:
            text = self.read(shown)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, text)

        threading.Thread(target=wait, daemon=True).start()
        text = await answer
        return AgentTurn(AgentReply(text or "", ends=text is None))
