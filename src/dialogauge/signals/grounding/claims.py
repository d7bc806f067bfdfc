"""Sentences of a reply, with what kind of saying they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# ruff: noqa: E501 - a pattern is read as a whole

_SENTENCE: Final = re.compile(
    r"[^\n。！？!?；]+?(?:[。！？!?；]+|(?<!\bDr)(?<!\bMr)(?<!\bSt)\.(?=\s|$)|\n|$)"
)
_EXAMPLE: Final = re.compile(
    r"\b(?:e\.g|for example|for instance|such as|let's say|format)\b|例如|比如说|譬如|格式", re.IGNORECASE
)
_SUPPOSED: Final = re.compile(
    r"^\W*(?:if|unless|once|when|should you|in case)\b|\b(?:if you|would be able|could be|may be|might)\b|如果|若|假如|要是|的话",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"[?？]\W*$|\bplease (?:provide|tell|share|let|confirm|specify|give|choose|select|enter|state)\b|^\W*(?:could you|can you|would you|do you|which|may i|shall)\b|请(?:问|您?(?:提供|告诉|确认|选择|说|输入))|吗\W*$",
    re.IGNORECASE,
)
NOTHING: Final = re.compile(
    r"\b(?:no|any|not (?:any|a single)) (?:[\w'-]+ ){0,6}?(?:found|available|match\w*|results?|options?|restaurants?|hotels?|trains?|flights?|places?|rooms?|tables?|attractions?|museums?|records?|orders?|items?|appointments?|slots?)\b"
    r"|\b(?:no (?:results?|match(?:es)?|luck|availab\w+|such|longer|record)|none|nothing|there (?:isn't|aren't|is no|are no|is not|are not|wasn't|weren't|were no|was no)|there doesn't|don't (?:have|see|seem|offer)|do not (?:have|see|offer)|doesn't (?:have|seem|exist|appear|look)|does not (?:have|exist|appear|match)|(?:couldn't|could not|can't|cannot|can not|didn't|did not|unable to|not able to|wasn't able to|was not able to|failed to|haven't) (?:\w+ )?(?:find|locate|see|get|identify|match|found|retrieve|access|look|book|complete|process|come up)|not (?:been )?found|isn't (?:available|any|one)|aren't (?:available|any)|(?:is|are|was|were) not (?:available|listed|found|any)|unfortunately|unavailable|sold out|fully booked|i'm sorry|i am sorry|apologi[sz]e|sorry)\b"
    r"|没有|没(?:找|查|搜|有)|未(?:找|查|能|搜|有)|找不到|查不到|无法|暂无|暂时没|抱歉|不好意思|遗憾|无(?:结果|符合|可用|记录)|已满|约满|售罄|不存在",
    re.IGNORECASE,
)
"""Says that there is nothing."""
FINDS: Final = re.compile(
    r"\b(?:i(?:'ve| have)? (?:found|located|got)|i see|there (?:is|are|'s)|there's|here (?:is|are)|we have|you (?:can|could) (?:stay|eat|visit|take|go|try)|i (?:can |would |'d )?(?:recommend|suggest)|how about|(?:is|are) available|matches your|you might like|have you tried|(?:i|we) (?:can )?offer|i(?:'ve| have) (?:booked|reserved)|is (?:a|an|located)|it's (?:a|an|located))\b"
    r"|(?<!没)有一?[家间个款趟班所座条位]|找到了?|为您(?:找|推荐|查|订|预)|推荐|(?:可以|您可)(?:选|去|住|试)|以下|符合(?:您|条件|要求)的",
    re.IGNORECASE,
)
"""Says that there is something."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence or line of a reply, and where it begins."""

    text: str
    start: int

    @property
    def asks(self) -> bool:
        """Whether it is a question or a request."""
        return bool(_ASKS.search(self.text))

    @property
    def supposed(self) -> bool:
        """Whether it speaks of what may be, or gives an example."""
        return bool(_EXAMPLE.search(self.text) or _SUPPOSED.search(self.text))


def read_clauses(reply: str) -> Iterator[Clause]:
    """Yield the sentences and lines of a reply."""
    for m in _SENTENCE.finditer(reply):
        if m[0].strip():
            yield Clause(m[0], m.start())
