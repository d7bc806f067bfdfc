"""What a reply says of things that tools returned: their state, yes or no, values of another one, near names."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Final

from dialogauge.signals.grounding.claims import Clause
from dialogauge.signals.grounding.known import plain, stemmed
from dialogauge.signals.grounding.reading import ReplyView
from dialogauge.signals.grounding.records import RecordPart, holds, key_words, parts_of, same_thing, yes_or_no
from dialogauge.signals.grounding.results import Found
from dialogauge.signals.grounding.values import TextValue, read_values
from dialogauge.signals.signal import Signal, finding

# ruff: noqa: E501 - a pattern is read as a whole

_COMPARES: Final = re.compile(
    r"\b(?:than|instead of|compared|difference|cheaper|more expensive|from .{1,30} to|rang\w+|between|both|each|same|total|together|whereas|or|either)\b|比|相差|一共|总共|都|分别|原|[到至~]\s?\d",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"\b(?:no|not|without|isn't|doesn't|don't|lacks?|non|unavailable|neither|nor|cannot|can't)\b|没有|不|无|未",
    re.IGNORECASE,
)
_STATES: Final = (
    re.compile(
        r"\b(?:is|are|was|were|currently|still|has|have|been|status(?: is)?:?)\W{1,3}(?:been |still |now |already |currently |in )?(pending|delivered|shipped|cancelled|canceled|delayed|on time|in transit|out for delivery|overdue|unpaid|expired|suspended|blocked|boarding|rejected|resolved)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"(已签收|运输中|派送中|已发货|待发货|未发货|已取消|待付款|未付款|退款中|已逾期|已冻结|已关闭|已过期|已延误|延误|准点|审核中|审核通过|已通过|已批准|已驳回|已完成|已办结|已退款|已入账|已到账|已送达|需补件)"
    ),
)
_UNTIL: Final = re.compile(
    r"\b(?:once|if|when|until|after|before|unless|whether|only)\b|如果|若|等", re.IGNORECASE
)
_STATE_KEY: Final = re.compile(r"status|state|stage|progress|状态|进度", re.IGNORECASE)
_NO_STATE: Final = re.compile(r"ok|success(?:ful)?|done|true|成功|\d+")
_LABELLED: Final = re.compile(
    r"^\W*(?:\d{1,2}[.)]\s*)?\**([A-Za-z][\w /-]{1,28}?|[\u4e00-\u9fff]{2,8})\**\s*[:：]\**\s*([^\n]{1,60}?)\W*$",
    re.MULTILINE,
)
_NO_WORD: Final = re.compile(r"\d|[,，/(（]| or | and |^(?:n/?a|none|yes|no|not )", re.IGNORECASE)
_HAS: Final = re.compile(
    r"\b(?:has|have|with|without|includes?|included|offers?|provides?|is|are|comes|free|available|no)\b|有|含|提供|支持|免费|可以|不|无"
)
_PIECES: Final = re.compile(r"[,;，；。]|\b(?:but|and|though|although|while|however)\b|但|而")
_MODAL: Final = re.compile(
    r"\b(?:must|should|can|could|would|need|needs|may|might|will|purchase[ds]?|eligible|policy)\b|需要|必须|应|如需",
    re.IGNORECASE,
)
_SURE, _LIKELY = 0.75, 0.7


def find_attributes(reading: ReplyView) -> Iterator[Signal]:
    """Yield what a reply says against the results, though each word of it may stand somewhere in them."""
    if not reading.results:
        return
    for clause in reading.clauses:
        yield from _states(reading, clause)
    yield from _swapped(reading)
    yield from _flags(reading)
    yield from _own_flags(reading)
    yield from _other_than_done(reading)
    yield from _rival_words(reading)
    yield from _labelled(reading)
    yield from _nearly(reading)


def _against(reading: ReplyView, strength: float, quote: str, what: str) -> Signal:
    return finding(reading.turn, "against_result", strength, quote, "backend", "tool_error", what=what)


# States


def _states(reading: ReplyView, clause: Clause) -> Iterator[Signal]:
    """Yield a state of things that no result names, where results name another under a key for it."""
    if clause.asks or clause.supposed:
        return
    for m in (m for pattern in _STATES for m in pattern.finditer(clause.text)):
        before = clause.text[: m.start()]
        if _NEGATED.search(before[-20:]) or _UNTIL.search(before):
            continue
        if _other_state(plain(m[1]), reading.results):
            yield _against(reading, _SURE, clause.text, m[1])
            return


def _other_state(word: str, results: Sequence[Found]) -> bool:
    stem = re.sub(r"(?:l?led|ed|ing|ery|d)$", "", word)[:7] if word.isascii() else word[-2:]
    if any(stem in plain(result.text) for result in results):
        return False
    leaves = (leaf for f in results for key, leaf in f.leaves if _STATE_KEY.search(key))
    return any(isinstance(leaf, str) and not _NO_STATE.fullmatch(plain(leaf)) for leaf in leaves)


# Values of another record


def _swapped(reading: ReplyView) -> Iterator[Signal]:
    """Yield a value that belongs to another record than the one that is spoken of."""
    seen: set[str] = set()
    reply = reading.reply
    for part in parts_of(reply, reading.results[-4:]):
        if _COMPARES.search(part.text) or len(part.others) > 60:
            continue
        for value in read_values(part.text):
            if value.written not in seen and _of_another(value, part, reading):
                seen.add(value.written)
                quote = reply[max(0, part.start - 40) : part.start + value.end]
                yield _against(reading, _SURE, quote, value.written)


def _of_another(value: TextValue, part: RecordPart, reading: ReplyView) -> bool:
    if value.kind not in ("money", "clock", "code") and not (value.kind == "number" and value.decimals):
        return False
    if holds(part.record, value) or reading.known.speech(value):
        return False
    if not any(holds(other, value) for other in part.others):
        return False
    alike = (r for f in reading.results for rows in f.lists for r in rows if same_thing(part, r))
    return not any(holds(record, value) for record in alike)


# Yes and no


def _flags(reading: ReplyView) -> Iterator[Signal]:
    """Yield a yes where every result says no, or a no where every one says yes."""
    flags: dict[str, set[bool]] = {}
    for key, leaf in (pair for result in reading.results for pair in result.leaves):
        if (flag := yes_or_no(leaf)) is not None:
            flags.setdefault(key, set()).add(flag)
    settled = {key: next(iter(speech)) for key, speech in flags.items() if len(speech) == 1}
    instructed = plain(reading.instructed)
    for clause in reading.clauses:
        low = plain(clause.text)
        if clause.asks or clause.supposed or _MODAL.search(low):
            continue
        for key, flag in settled.items():
            if _denies(key, low, flag=flag) and not any(w in instructed for w in key_words(key)):
                yield _against(reading, _LIKELY, clause.text, key)
                return


def _denies(key: str, low: str, *, flag: bool) -> bool:
    """Whether a piece of a sentence names a key and says the opposite of its flag."""
    words = key_words(key) - {"success", "ok", "found", "status", "created", "ready", "available"}
    if not words or len(words) > 2:
        return False
    for piece in _PIECES.split(low):
        terms = {stemmed(w) for w in re.findall(r"[a-z]+", piece)}
        if (words <= terms or (not key.isascii() and key in piece)) and _HAS.search(piece):
            return bool(_NEGATED.search(piece)) == flag
    return False


def _own_flags(reading: ReplyView) -> Iterator[Signal]:
    """Yield a yes or no of the one record that a sentence names, where its own flag says the opposite."""
    for clause in reading.clauses:
        low = plain(clause.text)
        if clause.asks or clause.supposed or _COMPARES.search(low):
            continue
        records = [part.record for part in parts_of(clause.text, reading.results[-4:])]
        if len(records) != 1:
            continue
        for key, leaf in records[0].fields:
            flag = yes_or_no(leaf)
            if flag is not None and _denies(key, low, flag=flag):
                yield _against(reading, _LIKELY, clause.text, key)
                return


def _other_than_done(reading: ReplyView) -> Iterator[Signal]:
    """Yield a time or weekday said to be settled where the action of the turn has only others."""
    actions = [call for call in reading.calls if call.acts]
    texts = [text for call in actions for text in (call.tool.arguments, call.result.text)]
    values = [value for text in texts for value in read_values(text)]
    clocks = {v.amount % 720 for v in values if v.kind == "clock"}
    days = {float(day.isoweekday()) for day in _days_in(texts)}
    for clause in reading.clauses:
        if clause.asks or clause.supposed or not _SETTLED.search(clause.text):
            continue
        for kind, settled, period in (("clock", clocks, 720), ("weekday", days, 8)):
            speech = [v for v in read_values(clause.text) if v.kind == kind]
            if len(speech) == 1 and settled and speech[0].amount % period not in settled:
                yield _against(reading, _SURE, clause.text, speech[0].written)
                return


_SETTLED: Final = re.compile(
    r"\b(?:booked|reserved|scheduled|in your calendar|confirmed|moved|rescheduled|set (?:for|to))\b|[订约定排预挂改]好|已(?:经)?(?:为您|帮您)?(?:[订约定排挂]|预[订约]|改[到为])",
    re.IGNORECASE,
)


def _days_in(texts: Sequence[str]) -> Iterator[datetime.date]:
    for m in re.finditer(r"\b(\d{4})-(\d\d)-(\d\d)", "\n".join(texts)):
        try:
            yield datetime.date(int(m[1]), int(m[2]), int(m[3]))
        except ValueError:
            continue


def _rival_words(reading: ReplyView) -> Iterator[Signal]:
    """Yield a word that another record has under a key, said of a record that has another there."""
    for part in parts_of(reading.reply, reading.results[-4:]):
        low = plain(part.text)
        if _COMPARES.search(part.text) or _NEGATED.search(part.text) or part.text.rstrip()[-1:] in "?？":
            continue
        for key, leaf in part.record.fields:
            if not isinstance(leaf, str) or not _WORD_OF_KIND.fullmatch(leaf) or _stands(plain(leaf), low):
                continue
            own = {v for _, v in part.record.fields}
            rivals = (v for r in part.others for v in r.values(key) if v not in own)
            for rival in rivals:
                if isinstance(rival, str) and _WORD_OF_KIND.fullmatch(rival) and _stands(plain(rival), low):
                    yield _against(reading, _LIKELY, part.text, rival)
                    return


_WORD_OF_KIND: Final = re.compile(r"[a-z][a-z-]{3,15}|[\u4e00-\u9fff]{2,5}")


def _stands(word: str, text: str) -> bool:
    return bool(re.search(rf"\b{re.escape(word)}\b", text)) if word.isascii() else word in text


# Words under a label, and names that are nearly right


def _labelled(reading: ReplyView) -> Iterator[Signal]:
    """Yield `label: word` where results have a key of that name and none of them holds the word."""
    known = reading.known
    for m in _LABELLED.finditer(reading.reply):
        speech = m[2].strip(" *_\"'“”.")
        words = key_words(m[1].replace(" ", "_"))
        if not words or len(speech) > 30 or _NO_WORD.search(speech):
            continue
        keys = (key for f in reading.results for key, leaf in f.leaves if leaf not in (None, ""))
        if not any(key and key_words(key) == words for key in keys):
            continue
        terms = re.findall(r"[a-z0-9]+", plain(speech).replace("canceled", "cancelled"))
        if not known.has_text(speech) and not (terms and known.has_words(terms)):
            yield _against(reading, _SURE, m[0].strip(), speech)


_HAN: Final = re.compile(r"[\u4e00-\u9fff]+")
_LEAVING: Final = frozenset(
    "的了是在到从有和您我他她它个也这那哪某家间所座每几各本该为去往离送至与或及等就都还再并且把被让将已经会能要"
)


def _nearly(reading: ReplyView) -> Iterator[Signal]:
    """Yield a Chinese name or address of which only the end is that of a result."""
    reply = reading.reply
    for leaf in (leaf for result in reading.results[-4:] for _, leaf in result.leaves):
        if not isinstance(leaf, str) or not 4 <= len(leaf) <= 24 or leaf in reply or not _HAN.search(leaf):
            continue
        if other := _other_head(leaf, reading):
            at = reply.find(other)
            yield _against(reading, _SURE, reply[max(0, at - 10) : at + len(other)], other)
            return


def _other_head(name: str, reading: ReplyView) -> str:
    """Return what the reply has in place of a name, with the same end and another beginning."""
    reply = reading.reply
    for length in range(2, len(name) - 2):
        at = reply.find(name[length:])
        head = reply[max(0, at - length) : max(0, at)]
        if at < 0 or len(head) < length or not _HAN.fullmatch(head):
            continue
        unknown = not any(c in _LEAVING for c in head[-2:]) and not reading.known.has_text(head[-2:])
        return head + name[length:] if unknown else ""
    return ""
