"""What the user ruled out, and replies that bring it up all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialogauge.signals.markers import Marker
from dialogauge.signals.reading import Dialogue, TurnView
from dialogauge.signals.signal import FaultKind, Signal, cut, note
from dialogauge.text import normalise, stem, words

# ruff: noqa: E501 - a pattern is read as a whole, and so are the words


_MEAT = (
    "beef",
    "chicken",
    "pork",
    "lamb",
    "bacon",
    "ham",
    "sausage",
    "turkey",
    "duck",
    "steak",
    "salami",
    "prosciutto",
    "chorizo",
    "veal",
)
_FISH = (
    "fish",
    "salmon",
    "tuna",
    "shrimp",
    "prawn",
    "crab",
    "lobster",
    "anchov",
    "cod",
    "oyster",
    "clam",
    "mussel",
    "squid",
)
_DAIRY = (
    "milk",
    "cheese",
    "butter",
    "cream",
    "yogurt",
    "yoghurt",
    "parmesan",
    "mozzarella",
    "feta",
    "ricotta",
)
_ZH_MEAT = (
    "牛肉",
    "鸡肉",
    "猪肉",
    "羊肉",
    "排骨",
    "培根",
    "火腿",
    "香肠",
    "鸡翅",
    "鸡腿",
    "五花肉",
    "红烧肉",
    "牛排",
    "鸭",
    "肉丝",
    "肉末",
    "肉片",
    "鸡丁",
    "蹄膀",
)
_ZH_FISH = ("鱼", "虾", "蟹", "贝", "鱿鱼", "三文鱼", "蛤")
DIETS: tuple[tuple[str, tuple[str, ...]], ...] = (
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
ANY_DIET = Marker(*(pattern for pattern, _ in DIETS))
"""Matches where any of them does: most messages tell of none."""
_OBJECT = r"(?:any |the |my |a |an )?([a-z]{3,}(?: and [a-z]{3,}| or [a-z]{3,})?)"
RULED_OUT = re.compile(
    rf"\b(?:allerg(?:ic|y) to|hates?|can'?t stand|(?:don't|do not|doesn't|can't|cannot|never|won't) (?:eat|drink|like)|dislikes?|no more|not a fan of|stay away from|anything but) {_OBJECT}"
    r"|(?:对)([\u4e00-\u9fff]{1,6}?)(?:都)?(?:严重|重度|有点)?过敏"
    r"|(?:不吃|不能吃|不爱吃|不喜欢吃|吃不了|吃不得|忌口|不要放|别放|不要有|不想吃|讨厌)([\u4e00-\u9fff]{1,4})(?=[,，。;；!！?？、的]|$)"
)
RULES_OUT = Marker(RULED_OUT.pattern)
"""Whether `RULED_OUT` matches at all, at less cost."""
SPLIT = re.compile(r" and | or |和|与|跟|、|或|及")
NOT_FOOD = frozenset(
    [
        "it",
        "that",
        "this",
        "them",
        "much",
        "anything",
        "something",
        "everything",
        "things",
        "stuff",
        "being",
        "having",
        "doing",
        "going",
        "how",
        "when",
        "what",
        "why",
        "the",
        "to",
        "about",
        "very",
        "too",
        "all",
        "any",
        "more",
        "people",
        "crowd",
        "crowds",
        "waiting",
        "talking",
        "getting",
        "feeling",
        "making",
    ]
)
ZH_NOT = frozenset(
    [
        "这个",
        "那个",
        "这些",
        "那些",
        "什么",
        "东西",
        "太多",
        "了",
        "这",
        "那",
        "它",
        "饭",
        "早饭",
        "晚饭",
        "午饭",
        "早餐",
        "苦",
    ]
)
NEGATED = re.compile(
    r"\b(?:no|not|non|without|avoid\w*|free|instead|replac\w*|skip\w*|omit\w*|leave out|leaving out|exclud\w*|allerg\w*|never|n't|substitut\w*|swap\w*|rather than|vegan|vegetarian|plant|mock|alternative\w*|unless|except|remove\w*|dislike\w*|hate\w*|safe|warn\w*|cross|contaminat\w*|coconut|oat|soy|almond milk|nutritional|check)\b|-free|n't\b"
    r"|不|无|没|避|忌|免|别|勿|代替|替代|替换|换|去掉|除|非|素|仿|豆|过敏|含|以外|谨慎|注意|风险|确认|→"
)


@dataclass(frozen=True, slots=True)
class _Wish:
    turn: int
    words: tuple[str, ...]


def find_broken_wishes(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that propose what the user cannot have or does not want.

    Food and drink in the main: diets, allergies and plain dislikes. A sentence with a negation, a
    replacement or a warning in it proposes nothing.
    """
    wishes: list[_Wish] = []
    for turn in dialogue.turns:
        wishes.extend(_wishes(turn))
        if turn.replied and wishes:
            yield from _broken(turn, wishes)


def _wishes(turn: TurnView) -> Iterator[_Wish]:
    plain = turn.user.plain
    for pattern, ruled_out in DIETS if ANY_DIET.search(plain) else ():
        if re.search(pattern, plain):
            yield _Wish(turn.number, ruled_out)
    for match in RULED_OUT.finditer(plain) if RULES_OUT.search(plain) else ():
        found = next((g for g in match.groups() if g), "")
        things = [t.strip() for t in SPLIT.split(found)]
        kept = tuple(_root(t) for t in things if t and t not in NOT_FOOD and t not in ZH_NOT)
        if kept:
            yield _Wish(turn.number, kept)


def _root(thing: str) -> str:
    return stem(thing) if thing.isascii() else thing


def _broken(turn: TurnView, wishes: list[_Wish]) -> Iterator[Signal]:
    asked_for = normalise(turn.user.text)
    hits: list[tuple[_Wish, str, str]] = []
    for sentence in turn.reply.sentences:
        plain = sentence.plain
        stems = frozenset(stem(w) for w in words(plain) if w.isascii())
        for wish in wishes:
            named = [w for w in wish.words if _named(w, stems, plain)]
            if wish.turn != turn.number:
                named = [w for w in named if w not in asked_for]
            if named and not NEGATED.search(plain):
                hits.extend((wish, word, sentence.text) for word in named)
    if hits:
        wish, word, quote = hits[0]
        strength = min(0.95, 0.6 + 0.15 * (len(hits) - 1))
        text = note("against_wish", turn.language, what=word, turn=wish.turn)
        kind: FaultKind = "forgotten_fact" if wish.turn < turn.number else "ignored_correction"
        yield Signal("against_wish", turn.number, strength, cut(quote), text, "context_use", kind)


def _named(word: str, stems: frozenset[str], plain: str) -> bool:
    return stem(word) in stems if word.isascii() else word in plain
