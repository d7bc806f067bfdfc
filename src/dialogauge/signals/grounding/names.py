"""Names that a reply gives: of venues, products, people; in English by capitals, in Chinese by quotes and kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dialogauge.signals.grounding.claims import FINDS
from dialogauge.signals.grounding.known import KnownSoFar, plain, stemmed
from dialogauge.signals.grounding.reading import ReplyView
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

_PART: Final = r"[A-Z][\w'’&-]*"
_NAME: Final = re.compile(
    rf"(?<![A-Za-z0-9_]){_PART}(?:[ ]+(?:(?:of|the|and|de|la|le|at|on|in|for|&|by)[ ]+){{0,2}}{_PART})*"
)
_COMMON: Final = frozenset(
    """
    i i'm i'll i've i'd ok okay yes no sure thanks thank hello hi hey dear please sorry unfortunately great good perfect
    done and but or if the a an this that these those there here it its your our my his her their we you he she they
    which what when where who why how would could should can may do does did is are was were has have had will let
    mr mrs ms dr prof st sir madam am pm est edt cst pst utc gmt eta usd gbp eur cny id faq pin iban vat tax uk usa us eu
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec
    english chinese french german italian spanish british american indian japanese thai korean turkish european
    wifi wi-fi internet gps tv dvd cd usb led lcd pdf sms email e-mail url app web google maps
    total subtotal price prices cost order orders number name names address phone date time departure arrival status option options
    details detail customer service policy account accounts booking bookings reservation reservations reference ticket tickets
    flight flights payment payments card cards credit gift debit certificate balance item items product products size color colour
    material style brand type capacity quantity check checkout checkin check-in check-out return returns exchange refund refunds
    cancel cancellation confirmation confirm passenger passengers first second third last next previous new current original
    economy business basic cabin class seat seats baggage bag bags insurance travel trip one way round origin destination
    hotel hotels restaurant restaurants attraction attractions train trains taxi car museum guesthouse room rooms guest guests
    street road city country state zip postcode code zone area north south east west centre center central
    note summary step steps option method amount fee fees charge charges difference free included available unavailable
    not none any all each both only also then now once after before from to in on at for with without by of as
    user agent assistant human customer's support team manager representative reason action actions info information
    website entrance opening hours price-range range food cuisine stars star rating location area contact call line since while celsius fahrenheit kelvin
    """.split()
)
_AFTER_END: Final = re.compile(r"(?:^|[.!?:;。！？：；\n>*•|(\[\"“-])\s*[\"“*_(]*$")
_LABEL: Final = re.compile(r"^(?: #?\d{1,2})?\**\s*(?:\([^)]*\)\s*)?\**\s*[:：]")
_CALLED: Final = re.compile(
    r"(?:\b(?:called|named|recommend|suggest|offer|try|choose|is|at|to|from|book(?:ed)?|found)\s+(?:the\s+|you\s+)?|[\"“'*])$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"[“「『《\"]([^“”「」『』《》\"\n]{2,30})[”」』》\"]")
_KINDS: Final = (
    "酒店|宾馆|旅馆|民宿|客栈|度假村|餐厅|餐馆|饭店|饭馆|酒楼|酒家|小馆|食府|菜馆|火锅店|咖啡馆|咖啡厅|茶馆|书店|博物馆|美术馆|公园|景区"
    "|广场|商场|大厦|医院|诊所|药店|学校|大学|机场|车站|火车站|健身房|影院|电影院|剧院|超市|银行|支行|营业厅|旗舰店|专卖店|科技馆|图书馆|动物园|植物园|寺|古镇"
)
_PLACE: Final = re.compile(rf"([\u4e00-\u9fff·]{{1,12}}?)({_KINDS})")
_LISTED: Final = re.compile(
    r"^\s*(?:\d{1,2}[.、)）]|[-*•])\s*\**([\u4e00-\u9fff][\u4e00-\u9fffA-Za-z·]{1,11}?)\**\s*(?=[,，:：（(]|$)",
    re.MULTILINE,
)
_PERSON: Final = re.compile(r"([\u4e00-\u9fff]{1,4}?)(医生|大夫|主任|教授|师傅|老师|经理|教练|先生|女士)")
_FUNCTION: Final = frozenset(
    "的了是在到从有和您我你他她它们个也这那哪某家间所座附近该贵本各每几两一二三四五六七八九十多少其他别任何为去往离住订选择推荐可以没找查询预约什么怎样吗呢吧被把与或及等就都还再请帮给让将已会能要想对不同新老大小好些种类型式高档星级经济"
)

_NO_PERSON: Final = frozenset(
    "方便 主治 专家 值班 家庭 主任 联系 咨询 通知 告知 告诉 提醒 协助 配合 听从 普通 专业 全科 责任 客户 快递 维修 安装 私人".split()
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a reply."""

    text: str
    start: int
    offered: bool
    """Whether the words before it say that it is one: called, recommend, a point of a list."""
    coded: bool = False
    """Whether a code of three letters stands in brackets behind it, as of an airport."""
    of_place: bool = False
    """Whether it says from where or to where."""


def find_names(reading: ReplyView) -> Iterator[Signal]:
    """Yield the names of a reply that nobody gave; those in questions and suppositions are no claims."""
    spans = [
        (c.start, c.start + len(c.text))
        for c in reading.clauses
        if c.supposed or (c.asks and not FINDS.search(c.text))
    ]
    known, reply = reading.known, reading.reply
    english = (n for n in read_names(reply) if unknown_name(n, known))
    chinese = (n for n in read_han_names(reply) if unknown_han_name(n, known))
    for name in (*english, *chinese):
        if any(start <= name.start < end for start, end in spans):
            continue
        strength = _OFFERED if name.offered and " " in name.text else _NAMED
        strength = strength if known.kinds else _NO_TOOL
        quote = _around(reply, name.start)
        yield finding(
            reading.turn, "unsourced_name", strength, quote, "backend", "tool_error", what=name.text
        )


_OFFERED, _NAMED, _NO_TOOL = 0.75, 0.7, 0.6
"""Strengths of a name of several words that is offered, of another, and where no tool has told anything."""


def _around(reply: str, start: int) -> str:
    line = reply.rfind("\n", 0, start) + 1
    return reply[max(line, start - 60) :].split("\n")[0]


def read_names(reply: str) -> Iterator[Name]:
    """Yield the English names of a reply: words with a capital where no sentence begins; labels are none."""
    for m in _NAME.finditer(reply):
        line = reply[reply.rfind("\n", 0, m.start()) + 1 :].split("\n")[0]
        if _LABEL.match(reply[m.end() : m.end() + 12]) or line.rstrip(" *_").endswith((":", "：")):
            continue
        start, words = _without_common(m[0], m.start())
        if not words or (len(words) == 1 and not _alone(words[0], reply, start, m.start())):
            continue
        before = reply[: m.start()]
        listed = bool(_POINT.search(before[-8:]))
        code = re.match(r"[^\n]{0,24}?\(([A-Z]{3})\)", reply[m.end() :])
        offered = listed or bool(_CALLED.search(before[-16:]))
        yield Name(" ".join(words).strip("'’-&"), start, offered, bool(code), _place_word(before))


_POINT: Final = re.compile(r"(?:^|\n)\s*(?:[-*•]|\d{1,2}[.)])\s*\**$")


def _place_word(before: str) -> bool:
    return bool(re.search(r"\b(?:from|to|in|at|via|and|between)\s+$", before[-10:]))


def _without_common(text: str, start: int) -> tuple[int, list[str]]:
    """Return the words without those at either end that are none of a name, and where they begin."""
    words = text.split()
    while words and _common(words[0]):
        start += len(words[0]) + 1
        words = words[1:]
    while words and (_common(words[-1]) and (not words[-1][0].isupper() or words[-1].startswith("I"))):
        words = words[:-1]
    return start, words


def _common(word: str) -> bool:
    word = plain(word).strip("'-.&")
    return word in _COMMON or word.removesuffix("s") in _COMMON or word.partition("'")[0] in _COMMON


def _alone(word: str, reply: str, start: int, begins: int) -> bool:
    """Whether one word with a capital is a name: in the midst of a sentence, and no abbreviation."""
    if re.fullmatch(r"[A-Z]+s?|.*\d.*", word) or (start == begins and _AFTER_END.search(reply[:start][-12:])):
        return False
    return bool(re.search(r"[a-z]$", reply[:start][-12:].rstrip("\"“'*_ ")))


def unknown_name(name: Name, known: KnownSoFar) -> bool:
    """Whether most of a name stands nowhere in what is known.

    What a known code stands for, as the city of an airport, is no claim.
    """
    words = [w for w in re.findall(r"[a-z0-9]+", plain(name.text)) if w not in _COMMON and len(w) > 1]
    if not words or name.coded or (name.of_place and known.coded_places):
        return False
    missing = [w for w in words if stemmed(w) not in known.words and not (len(w) > 3 and known.has_code(w))]
    return len(missing) * 2 > len(words)


def read_han_names(reply: str) -> Iterator[Name]:
    """Yield Chinese names: in quotes, at the head of a point, before a kind of place or person."""
    for m in (m for pattern in (_QUOTED, _LISTED) for m in pattern.finditer(reply)):
        if re.search(r"[\u4e00-\u9fff]", m[1]) and len(m[1]) <= 16:
            yield Name(m[1], m.start(1), offered=True)
    for m in (m for pattern in (_PLACE, _PERSON) for m in pattern.finditer(reply)):
        yield Name(m[0], m.start(), offered=False)


def unknown_han_name(name: Name, known: KnownSoFar) -> bool:
    """Whether no ending of a name stands in what is known; what is before it may be other words."""
    text = name.text
    if known.has_text(text):
        return False
    if name.offered:
        half = max(2, len(text) // 2)
        parts = [text[i:] for i in range(len(text) - half + 1)] + [text[:i] for i in range(half, len(text))]
        return not any(map(known.has_text, parts))
    m = _PLACE.search(text) or _PERSON.search(text)
    if m is None:
        return False
    tail = m[1][-2:]
    if tail in _NO_PERSON:
        return False
    short = len(tail) < 2 and m[2] not in ("医生", "师傅", "老师", "经理", "先生", "女士")
    if short or any(c in _FUNCTION for c in tail):
        return False
    return not known.has_text(tail + m[2]) and not known.has_text(tail)
