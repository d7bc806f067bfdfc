"""Token ids of a dialogue, and the mask of the character's tokens: what trainers and exports train on.

A token is trained on when it is part of an assistant message of the segment: its content and the token that
ends the turn. Role headers, the user, tools, the persona and everything before the segment are not (DynSess,
equations 5 and 7). The chat template says where assistant messages begin and end, by its generation markers.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import DialogueTooLong, MissingExtra, UsageError

Messages = Sequence[Mapping[str, Any]]
"""In OpenAI form."""
_MARKER: Final = re.compile(r"\{%-?\s*generation\s*-?%\}")
_SYSTEM: Final = ("system", "developer")
_EXCHANGE: Final = ({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."})


@dataclass(frozen=True, slots=True)
class MaskedTokens:
    """A dialogue in tokens."""

    ids: list[int]
    mask: list[int]
    """1 where the token is trained on, else 0; as long as `ids`."""
    prefix: int
    """Tokens before the segment; behind nothing but a persona it is the first token."""
    dropped: int = 0
    """Oldest turns that did not fit."""

    @property
    def labels(self) -> list[int]:
        """The ids, with -100 where the mask is 0."""
        return [i if m else -100 for i, m in zip(self.ids, self.mask, strict=True)]

    @property
    def runs(self) -> Iterator[list[int]]:
        """Yield the trained tokens, one list for each unbroken run of them."""
        run: list[int] = []
        for token, trained in zip(self.ids, self.mask, strict=True):
            if trained:
                run.append(token)
            elif run:
                yield run
                run = []
        if run:
            yield run


class DialogueTokenizer:
    """Encodes dialogues for one tokenizer."""

    def __init__(self, tokenizer: Any, max_length: int | None = None) -> None:  # noqa: ANN401 - of transformers
        """Choose the template, and leave it with the tokenizer: a tuned model is saved with it.

        Args:
            tokenizer: A tokenizer of transformers, a fast one.
            max_length: Tokens that fit; None for all.

        Raises UsageError where the template does not mark what the assistant writes, and TRL ships none.
        """
        self.tokenizer = tokenizer
        self.max_length = max_length
        tokenizer.chat_template = _training_template(tokenizer)
        self._ends = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
        self._openers = tuple(
            token.content
            for token in tokenizer.added_tokens_decoder.values()
            if token.content.strip() and not (token.lstrip or token.normalized or token.single_word)
        )
        """Where one of them stands, what is on its two sides is made into tokens by itself."""
        self._encoding = lru_cache(8)(lambda text: tokenizer(text, add_special_tokens=False).encodings[0])
        """Of the last texts: what stays is not made into tokens anew while oldest turns are dropped."""
        self._exchange: tuple[list[int], int] | None = None

    def encode(self, messages: Messages, *, start: int = 0, tools: Messages | None = None) -> MaskedTokens:
        """Return the tokens of a dialogue and the mask of what its assistant says from a message on.

        Where it does not fit, the oldest turns before the segment go, and without a segment its own oldest;
        system messages stay.

        Args:
            messages: The whole dialogue; it may begin with a greeting.
            start: Index of the first message of the segment.
            tools: Definitions of the tools that the assistant may call.

        Raises UsageError where the assistant says nothing from `start` on, where the template leaves the end
        of a turn out or changes what stood before; DialogueTooLong where the segment does not fit.
        """
        return self._fitting((messages,), start, tools)[0]

    def pair(
        self, prompt: Messages, chosen: Messages, rejected: Messages, *, tools: Messages | None = None
    ) -> tuple[MaskedTokens, MaskedTokens]:
        """Return both sides of a pair behind the same prompt: of each as many oldest turns go.

        Raises UsageError as `encode` does.
        """
        sides = [*prompt, *chosen], [*prompt, *rejected]
        one, other = self._fitting(sides, len(prompt), tools)
        return one, other

    def prompt(self, messages: Messages, room: int, what: str = "the reply") -> MaskedTokens:
        """Return the tokens of a dialogue that waits for a reply: none is trained on.

        Where fewer than `room` tokens are left for what follows, the oldest turns go; system messages stay.
        `what` says in the message what they are for.

        Raises UsageError where persona and last message alone leave less.
        """
        head, cuts = _cuts(messages, len(messages))

        def without(dropped: int) -> list[int]:
            kept = [*messages[:head], *messages[cuts[dropped] :]]
            return self._tokens(kept, None, reply_is_due=True)[0]

        most = None if self.max_length is None else self.max_length - room
        dropped = 0
        if most is not None and len(without(0)) > most:
            dropped = bisect_left(range(len(cuts)), 1, lo=1, key=lambda n: len(without(n)) <= most)
        if dropped == len(cuts):
            fewest = len(without(len(cuts) - 1))
            msg = f"{fewest:,} tokens of persona and last message leave no room for {room:,} in "
            msg += f"{self.max_length:,}: {what}"
            hint = "shorten the persona, play fewer turns or shorter replies, or raise --max-length"
            raise UsageError(msg, hint=hint)
        ids = without(dropped)
        return MaskedTokens(ids, [0] * len(ids), len(ids), dropped)

    @property
    def end_of_turn(self) -> int:
        """The token that ends what the assistant says."""
        ids, length = self._one_exchange()
        return ids[length - 1]

    def follow_up(self, text: str) -> list[int]:
        """Return the tokens between the end of a reply and the next one: a user's message in the template.

        They follow on the tokens of the dialogue as they are, which are not made anew.

        Raises UsageError where the template would write earlier turns otherwise than before.
        """
        before, length = self._one_exchange()
        messages = [*_EXCHANGE, {"role": "user", "content": text}]
        ids = self._tokens(messages, None, reply_is_due=True)[0]
        if ids[:length] != before[:length]:
            msg = "the chat template changes earlier turns when turns are added: they were sampled otherwise"
            raise UsageError(msg, hint="give the model a template that only appends")
        return ids[length:]

    def _one_exchange(self) -> tuple[list[int], int]:
        """Return the tokens of a message and its reply, and how many there are up to the end of the turn."""
        if self._exchange is None:
            (encoded,) = self._encoded((_EXCHANGE,), 0, None, 0)
            opening = self._tokens(_EXCHANGE[:1], None, reply_is_due=True)[0]
            if opening != encoded.ids[: encoded.mask.index(1)]:
                msg = "the chat template opens a reply otherwise than it writes one"
                raise UsageError(msg, hint="sampled would be something else than what is trained on")
            length = len(encoded.ids) - encoded.mask[::-1].index(1)
            self._exchange = encoded.ids, length
        return self._exchange

    def _fitting(
        self, dialogues: Sequence[Messages], start: int, tools: Messages | None
    ) -> tuple[MaskedTokens, ...]:
        """Encode dialogues that share what stands before `start`, without as many of their oldest turns."""
        head, cuts = _cuts(dialogues[0], start or len(dialogues[0]))

        def without(dropped: int) -> tuple[MaskedTokens, ...]:
            cut = cuts[dropped]
            later = max(start - (cut - head), head) if start else 0
            return self._encoded([[*d[:head], *d[cut:]] for d in dialogues], later, tools, dropped)

        def fits(sides: tuple[MaskedTokens, ...]) -> bool:
            return self.max_length is None or max(len(e.ids) for e in sides) <= self.max_length

        sides = without(0)
        if fits(sides):
            return sides
        dropped = bisect_left(range(len(cuts)), 1, lo=1, key=lambda n: fits(without(n)))
        if dropped == len(cuts):
            fewest = max(len(e.ids) for e in without(len(cuts) - 1))
            msg = f"{fewest:,} tokens without any earlier turn, and {self.max_length:,} fit"
            raise DialogueTooLong(msg, hint="shorten the persona or the segment, or raise max_length")
        return without(dropped)

    def _encoded(
        self, dialogues: Sequence[Messages], start: int, tools: Messages | None, dropped: int
    ) -> tuple[MaskedTokens, ...]:
        """Encode dialogues that share what stands before `start`: that is made into tokens once."""
        shared, before, prefix = dialogues[0][:start], "", list[int]()
        if any(m["role"] not in _SYSTEM for m in shared):
            before = self._rendered(shared, tools)[0]
            prefix = self._encoding(before).ids
        encoded = []
        for messages in dialogues:
            text, spans = self._rendered(messages, tools)
            if before and text.startswith(before) and text.startswith(self._openers, len(before)):
                later = [(first - len(before), last - len(before)) for first, last in spans]
                ids, mask = self._marked(text[len(before) :], later)
                ids, mask = prefix + ids, [0] * len(prefix) + mask
            else:
                ids, mask = self._marked(text, spans)
                if ids[: len(prefix)] != prefix:
                    msg = "the chat template changes earlier turns when turns are added: the mask "
                    msg += "would be wrong"
                    raise UsageError(msg, hint="give the model a template that only appends")
                mask[: len(prefix)] = [0] * len(prefix)
            encoded.append(MaskedTokens(ids, mask, len(prefix) or 1, dropped))
            self._expect_replies(encoded[-1], sum(m["role"] == "assistant" for m in messages[start:]))
        return tuple(encoded)

    def _expect_replies(self, encoded: MaskedTokens, replies: int) -> None:
        """Raise UsageError where the mask does not hold so many replies, each with its end of turn."""
        runs = list(encoded.runs)
        if len(runs) != replies or not replies:
            msg = f"the chat template marks {len(runs)} assistant messages of {replies}"
            raise UsageError(msg, hint="put {% generation %} around each, its end of turn included")
        if any(run[-1] not in self._ends for run in runs):
            msg = "the chat template leaves the end of the turn outside of the generation markers"
            hint = "put it inside: a model that is not trained to end its turn never ends it"
            raise UsageError(msg, hint=hint)

    def _tokens(
        self, messages: Messages, tools: Messages | None, *, reply_is_due: bool = False
    ) -> tuple[list[int], list[int]]:
        return self._marked(*self._rendered(messages, tools, reply_is_due=reply_is_due))

    def _rendered(
        self, messages: Messages, tools: Messages | None, *, reply_is_due: bool = False
    ) -> tuple[str, Sequence[tuple[int, int]]]:
        """Return what the template makes of messages, and where in it the assistant writes."""
        from jinja2 import TemplateError
        from transformers.utils.chat_template_utils import render_jinja_template

        try:
            (text,), (spans,) = render_jinja_template(
                [[{key: value for key, value in m.items() if value is not None} for m in messages]],
                tools=[dict(tool) for tool in tools] if tools else None,
                chat_template=self.tokenizer.chat_template,
                add_generation_prompt=reply_is_due,
                return_assistant_tokens_mask=True,
                **self.tokenizer.special_tokens_map,
            )
        except TemplateError as error:
            msg = f"the chat template does not take the messages: {error}"
            hint = "give a model whose template takes these roles in this order"
            raise UsageError(msg, hint=hint) from None
        return text, spans

    def _marked(self, text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """Return the tokens of a text, and a mask of those that lie in one of its spans."""
        encoding = self._encoding(text)
        ids, offsets = encoding.ids, encoding.offsets
        mask = [0] * len(ids)
        for start, stop in spans:
            first = bisect_right(offsets, start, key=itemgetter(1))
            behind = bisect_left(offsets, stop, lo=first, key=itemgetter(0))
            mask[first:behind] = [1] * (behind - first)
            for i in range(max(first, 1), behind):  # some templates mark the line break behind the end too
                if ids[i - 1] in self._ends and mask[i - 1] and not self.tokenizer.decode(ids[i]).strip():
                    mask[i] = 0
        return ids, mask


def _cuts(messages: Messages, start: int) -> tuple[int, list[int]]:
    """Return how many system messages open, and where a dialogue may go on without its oldest turns."""
    head = next((i for i, m in enumerate(messages) if m["role"] not in _SYSTEM), len(messages))
    later = [i for i in range(head + 1, start) if messages[i]["role"] == "user"]
    whole = start < len(messages) and start > head
    return head, [head, *later, *([start] if whole else [])]


def _training_template(tokenizer: Any) -> str:  # noqa: ANN401
    """Return the template of a tokenizer if it has markers, else the one that TRL ships for it."""
    template = tokenizer.chat_template
    if isinstance(template, dict):
        template = template.get("default")
    if not template:
        msg = "the tokenizer has no chat template"
        raise UsageError(msg, hint="give the folder of a model that was made for chats")
    if _has_markers(template):
        return str(template)
    try:
        from trl.chat_template_utils import get_training_chat_template
    except ImportError as error:
        msg = f"the chat template has no generation markers, and TRL, which ships some, is missing: {error}"
        raise MissingExtra(msg, hint="pip install 'dialogauge[tune]'") from None
    try:
        return str(get_training_chat_template(tokenizer) or template)
    except ValueError:
        msg = "the chat template does not mark what the assistant writes, and TRL ships none for this model"
        hint = (
            "put {% generation %} ... {% endgeneration %} around an assistant's content and its end of turn"
        )
        raise UsageError(msg, hint=hint) from None


def _has_markers(template: str) -> bool:
    return _MARKER.search(template) is not None


def load_dialogue_tokenizer(folder: str | Path, max_length: int | None = None) -> DialogueTokenizer:
    """Load the tokenizer of a folder, without the model.

    Raises MissingExtra without transformers, UsageError for a folder without a tokenizer.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        msg = f"token ids need transformers: {error}"
        raise MissingExtra(msg, hint="pip install 'dialogauge[tune]'") from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder))
    except (OSError, ValueError) as error:
        msg = f"{folder} holds no tokenizer: {error}"
        raise UsageError(msg, hint="give the folder of a Hugging Face model") from None
    return DialogueTokenizer(tokenizer, max_length)
