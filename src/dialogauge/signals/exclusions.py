"""Things that the user rules out (diets, allergies, dislikes), and replies that propose them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialogauge.signals.dialogue import Dialogue, Sentence, TextView, TurnView
from dialogauge.signals.markers import Marker
from dialogauge.signals.signal import FaultKind, Signal, finding
from dialogauge.text import normalise, stem, words

# ruff: noqa: E501, SIM905 - a pattern is read as a whole, and so is a list of words

_MEAT = tuple(
    """
    beef chicken pork lamb bacon ham sausage turkey duck steak salami prosciutto chorizo veal
    """.split()
)
_FISH = tuple("fish salmon tuna shrimp prawn crab lobster anchov cod oyster clam mussel squid".split())
_DAIRY = tuple("milk cheese butter cream yogurt yoghurt parmesan mozzarella feta ricotta".split())
_ZH_MEAT = tuple(
    "牛肉 鸡肉 猪肉 羊肉 排骨 培根 火腿 香肠 鸡翅 鸡腿 五花肉 红烧肉 牛排 鸭 肉丝 肉末 肉片 鸡丁 蹄膀".split()
)
_ZH_FISH = ("鱼", "虾", "蟹", "贝", "鱿鱼", "三文鱼", "蛤")
_DIETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:i'?m|i am|we'?re|we are|she'?s|he'?s|is|are|as|being)(?: a| strictly| all| both)? vegetarians?\b", _MEAT + _FISH),
    (r"\b(?:i'?m|i am|we'?re|we are|she'?s|he'?s|is|are|as|being)(?: a| strictly| all| both)? vegans?\b", _MEAT + _FISH + _DAIRY + ("egg", "honey")),
    (r"\b(?:nut|peanut|tree nut)s? allerg|allergic to (?:nuts|peanuts|tree nuts)", ("nut", "peanut", "almond", "walnut", "cashew", "pecan", "hazelnut", "pistachio", "satay", "praline")),
    (r"\b(?:shellfish|seafood) allerg|allergic to (?:shellfish|seafood)|no (?:shellfish|seafood)", ("shrimp", "prawn", "crab", "lobster", "oyster", "clam", "mussel", "scallop")),
    (r"\blactose|\bdairy allerg|allergic to (?:dairy|milk)|\b(?:no|avoid|without) dairy|dairy[- ]free", _DAIRY),
    (r"\bgluten|\bcoeliac|\bceliac", ("bread", "pasta", "couscous", "flour", "noodle", "baguette", "seitan", "bulgur")),
    (r"我(?:们)?(?:是|都是|长期|一直)?(?:吃素|素食|素食者|吃素的)|全素|纯素", _ZH_MEAT + _ZH_FISH),
    (r"(?:海鲜)(?:严重)?过敏|对海鲜(?:严重)?过敏|不(?:能)?吃海鲜", ("虾", "蟹", "贝", "鱿鱼", "蛤", "生蚝", "扇贝", "海参", "三文鱼")),
    (r"(?:坚果|花生)(?:严重)?过敏|对(?:坚果|花生)(?:严重)?过敏", ("花生", "腰果", "核桃", "杏仁", "榛子", "开心果", "坚果")),
    (r"乳糖不耐|(?:牛奶|奶制品)过敏|对(?:牛奶|奶)过敏|不(?:能)?喝牛奶", ("牛奶", "奶酪", "芝士", "黄油", "奶油", "酸奶", "拿铁")),
)  # fmt: skip
_ANY_DIET = Marker(*(pattern for pattern, _ in _DIETS))
"""Finds whether any diet matches; most messages mention none."""
_OBJECT = r"(?:any |the |my |a |an )?([a-z]{3,}(?: and [a-z]{3,}| or [a-z]{3,})?)(?= *(?:[,.;:!?)]|$|(?:and|or|but|so|because|since|at all|either|though|any ?more|very much|much)\b))"
"""Ends its clause: of "I don't like hot weather" no word stands for what is ruled out."""
_RULED_OUT = re.compile(
    rf"\b(?:allerg(?:ic|y) to|hates?|can'?t stand|(?:don't|do not|doesn't|can't|cannot|never|won't) (?:eat|drink|like)|dislikes?|no more|not a fan of|stay away from|anything but) {_OBJECT}"
    r"|(?:对)([\u4e00-\u9fff]{1,6}?)(?:都)?(?:严重|重度|有点)?过敏"
    r"|(?:不吃|不能吃|不爱吃|不喜欢吃|吃不了|吃不得|忌口|不要放|别放|不要有|不想吃|讨厌)([\u4e00-\u9fff]{1,4})(?=[,，。;；!！?？、的]|$)"
)
_ANY_RULED_OUT = Marker(_RULED_OUT.pattern)
"""Finds whether `_RULED_OUT` matches, at less cost."""
_SPLIT = re.compile(r" and | or |和|与|跟|、|或|及")
_EN_OTHER = frozenset(
    """
    it that this them much anything something everything things stuff being having doing going how when
    what why the to about very too all any more people crowd crowds waiting talking getting feeling
    making
    """.split()
)
_ZH_OTHER = frozenset("这个 那个 这些 那些 什么 东西 太多 了 这 那 它 饭 早饭 晚饭 午饭 早餐 苦".split())
_LIST_OF_NO = re.compile(
    r"\b(?:avoid\w*|not (?:to )?(?:eat|have|use|order)|don't|do not|without|leave out|leaving out|exclud\w*|skip\w*|off[- ]limits|stay away|steer clear|free (?:of|from)|instead of|replac\w*|swap\w*|removed?)\b[^.!?]*[:：]\W*$"
    r"|(?:避免|避开|不(?:要|能|可|宜|吃|放|用|含|建议)|忌|禁|排除|去掉|去除|替换|换掉|过敏)[^。!?]*[:：]\W*$"
)
"""A line that opens a list of what is left out."""
_ITEM = 10
"""Longest item of a list, in words."""
_NEGATED = re.compile(
    r"\b(?:no|not|non|without|avoid\w*|free|instead|replac\w*|skip\w*|omit\w*|leave out|leaving out|exclud\w*|allerg\w*|never|n't|substitut\w*|swap\w*|rather than|vegan|vegetarian|plant|mock|alternative\w*|unless|except|remove\w*|dislike\w*|hate\w*|safe|warn\w*|than|cross|contaminat\w*|coconut|oat|soy|almond milk|nutritional|check)\b|-free|n't\b"
    r"|不|无|没|避|忌|免|别|勿|代替|替代|替换|换|去掉|除|非|素|仿|豆|过敏|含|以外|比|谨慎|注意|风险|确认|→"
)


@dataclass(frozen=True, slots=True)
class _Exclusion:
    turn: int
    words: tuple[str, ...]


def find_ignored_exclusions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that propose something that the user cannot have or does not want.

    Mainly food and drink: diets, allergies and dislikes. A sentence with a negation, a replacement or a
    warning proposes nothing.
    """
    exclusions: list[_Exclusion] = []
    for turn in dialogue.turns:
        exclusions = [e for e in exclusions if not _wanted_again(turn, e)]
        exclusions.extend(_exclusions(turn))
        if turn.replied and exclusions:
            yield from _ignored(turn, exclusions)


def _wanted_again(turn: TurnView, exclusion: _Exclusion) -> bool:
    """Whether the user asks for the excluded thing after all."""
    plain = turn.user.plain
    if _ANY_RULED_OUT.search(plain) or _ANY_DIET.search(plain) or _NEGATED.search(plain):
        return False
    stems = frozenset(stem(w) for w in words(plain) if w.isascii())
    return any(_mentions(word, stems, plain) for word in exclusion.words)


def _exclusions(turn: TurnView) -> Iterator[_Exclusion]:
    plain = turn.user.plain
    for pattern, foods in _DIETS if _ANY_DIET.search(plain) else ():
        if re.search(pattern, plain):
            yield _Exclusion(turn.number, foods)
    for match in _RULED_OUT.finditer(plain) if _ANY_RULED_OUT.search(plain) else ():
        things = [thing.strip() for thing in _SPLIT.split(next((g for g in match.groups() if g), ""))]
        foods = tuple(_root(t) for t in things if t and t not in _EN_OTHER and t not in _ZH_OTHER)
        if foods:
            yield _Exclusion(turn.number, foods)


def _root(thing: str) -> str:
    return stem(thing) if thing.isascii() else thing


def _ignored(turn: TurnView, exclusions: list[_Exclusion]) -> Iterator[Signal]:
    request = normalise(turn.user.text)
    hits: list[tuple[_Exclusion, str, str]] = []
    for sentence in _proposals(turn.reply):
        plain = sentence.plain
        stems = frozenset(stem(w) for w in words(plain) if w.isascii())
        for exclusion in exclusions:
            mentions = [w for w in exclusion.words if _mentions(w, stems, plain)]
            if exclusion.turn != turn.number:
                mentions = [w for w in mentions if w not in request]
            hits.extend((exclusion, word, sentence.text) for word in mentions)
    if hits:
        exclusion, word, quote = hits[0]
        strength = min(0.95, 0.6 + 0.15 * (len(hits) - 1))
        kind: FaultKind = "forgotten_fact" if exclusion.turn < turn.number else "ignored_correction"
        details = {"what": word, "turn": exclusion.turn}
        yield finding(turn, "against_wish", strength, quote, "context_use", kind, **details)


def _proposals(reply: TextView) -> Iterator[Sentence]:
    """Yield the sentences that may propose something: no question, no negation, no item of what to avoid."""
    avoided = False
    for sentence in reply.sentences:
        avoided = bool(_LIST_OF_NO.search(sentence.plain)) or (avoided and sentence.units <= _ITEM)
        if not avoided and sentence.text[-1] not in "?？" and not _NEGATED.search(sentence.plain):
            yield sentence


def _mentions(word: str, stems: frozenset[str], plain: str) -> bool:
    return stem(word) in stems if word.isascii() else word in plain
