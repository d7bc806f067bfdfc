"""Whether an endpoint reads the whole of each prompt: some cut what is too long without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.llm.wire import Completion

_LEAST_WORDS: Final = 500
_TOKENS_PER_WORD: Final = 0.9
"""Every word between spaces is a token at least; scripts without spaces are not noticed."""
_SPACES: Final = " \n\t\r"


class PromptWatch:
    """Compares the tokens that an endpoint counts with the words that it was sent, and speaks up once."""

    def __init__(self) -> None:
        self.notice: str | None = None
        """What was noticed; None as long as nothing was."""
        self._seen: set[int] = set()
        self._last = ""

    def read(self, messages: Sequence[Mapping[str, Any]], completion: Completion) -> bool:
        """Look at one answered prompt; True the first time that most of a prompt was not counted.

        What was sent before may be cached, and some endpoints count only what is not: only the words behind
        the part that the previous prompt began with alike, in messages that are new, are expected to count.
        """
        if self.notice is not None or not completion.counted or completion.cached_tokens:
            return False
        texts = [str(message.get("content")) for message in messages]
        before, self._last = self._last, "\n".join(text for text in texts if hash(text) not in self._seen)
        self._seen.update(hash(text) for text in texts if len(text) > _LEAST_WORDS)
        least = max(_LEAST_WORDS, completion.prompt_tokens / _TOKENS_PER_WORD)
        # Quicker than to part the words, of which there are no more.
        if sum(map(self._last.count, _SPACES)) < least - 1 or len(self._last.split()) <= least:
            return False
        alike = next((i for i, (a, b) in enumerate(zip(self._last, before, strict=False)) if a != b), 0)
        words = len(self._last[alike:].split())
        if words <= least:
            return False
        self.notice = (
            f"the endpoint counted {completion.prompt_tokens:,} tokens for more than {words:,} words: "
            "it seems to cut long prompts without a word, and what it judges then is not what it was sent "
            "(for Ollama raise num_ctx; for others the context length of the server)"
        )
        return True
