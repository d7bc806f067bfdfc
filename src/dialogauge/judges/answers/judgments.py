"""What a Chinese criminal judgment decides (offences, articles, terms, fines), and its scores.

After the rules of JuDGE (Su et al. 2025, github.com/oneal2000/JuDGE). `offences.txt` has the statutory names,
with earlier ones, without 罪; a line for each chapter of the law.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import TypeVar

from dialogauge.core.patterns import lazy_pattern
from dialogauge.judges.answers.overlap import chinese_words, meteor_of_words

T = TypeVar("T")
_TAGS = lazy_pattern("(?i)</?[a-z!][^<>]*>")
_COMMA = lazy_pattern(r"(?<!\d),(?!\d)")
_WIDE = str.maketrans(
    {":": "：", " ": None, "(": "（", ")": "）", "\u3000": " ", "\xa0": " ", "\ufffd": None}
)
_H = r"[\u4e00-\u9fa5]"
_ENDS = {
    "heading": (
        rf"审理终结{_H}{{0,10}}。",
        rf"公开开庭审理{_H}{{0,10}}。",
        rf"(?={_H}{{0,10}}(?:公诉|抗诉)机关[\u4e00-\u9fa5，、]{{0,30}}(?:认为|指控))",
    ),
    "fact": ("(?=本院认为)",),
    "reason": (r"判决如下[:：,，\n]", "判决如下", r"裁定(?:如下)?[:：\n]", r"\Z"),
    "judgment": (
        rf"(?=如{_H}{{0,3}}不服本判决)",
        r"(?=\n\s{0,50}本判决为终审判决)",
        rf"(?=如{_H}{{0,5}}未按本判决指定的期间{_H}{{0,5}}给付金钱义务)",
        r"(?=\n\s{0,50}(?:代理)?审\s{0,3}判\s{0,3}长)",
        r"(?=\n\s{0,50}(?:代理)?审\s{0,3}判\s{0,3}员)",
        "(?=附录)",
        "(?=附：)",
        rf"(?=附{_H}{{0,10}}法律)",
        rf"(?=附{_H}{{0,10}}：)",
        r"(?=\n\s{0,50}本案[^\n]{0,10}法律)",
        r"(?=\n《)",
        r"\Z",
    ),
}
"""Where each part ends: at the first of the patterns that occurs, wherever the others do."""


def parts_of_judgment(text: str) -> Mapping[str, str]:
    """Cut a judgment into `heading`, `fact`, `reason`, `judgment` and `appendix`; a part may be empty.

    Marks are made Chinese; blanks and HTML are dropped. The fact ends before 本院认为, the reason after
    判决如下; without that the reason is all that is left, and nothing is judgment.
    """
    text = _COMMA.sub("，", html.unescape(_TAGS.sub("", text)).translate(_WIDE)).strip()
    parts = {}
    for name, patterns in _ENDS.items():
        hits = (re.search(pattern, text) for pattern in patterns)
        end = next((hit.end() for hit in hits if hit), 0)
        if name == "judgment" and end == 0:
            end = len(text)
        parts[name], text = text[:end], text[end:]
    return {**parts, "appendix": text}


_DIGITS = {digit: n % 10 for n, digit in enumerate("零一二三四五六七八九〇壹贰叁肆伍陆柒捌玖")} | {"两": 2}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_NUMBER = lazy_pattern(f"[0-9{''.join((*_DIGITS, *_UNITS))}][0-9{''.join((*_DIGITS, *_UNITS))}万亿.,]*")
_PIECE = lazy_pattern(r"[0-9][0-9,]*(?:\.[0-9]+)?|\D")


def numbers_in(text: str) -> list[int]:
    """Return the numbers of a text, such as `十五`, `1.5万` and `伍仟`, rounded down; at most 10^15."""
    return list(map(_value, _NUMBER.findall(text)))


def _value(number: str) -> int:
    total = section = digit = 0.0
    for piece in _PIECE.findall(number):
        if piece in _DIGITS:
            digit = digit * 10 + _DIGITS[piece]
        elif piece in _UNITS:
            section, digit = section + (digit or 1) * _UNITS[piece], 0
        elif piece == "万":
            total, section, digit = total + (section + digit) * 10**4, 0, 0
        elif piece == "亿":
            total, section, digit = (total + section + digit) * 10**8, 0, 0
        elif piece not in ".,":
            digit = float(piece.replace(",", ""))
    return int(min(total + section + digit, 1e15))


def _from_part(part: str, text: str, find: Callable[[str], Iterable[T]]) -> frozenset[T]:
    """Return what is in one part of a judgment, or, if there is nothing, what is in the whole text."""
    return frozenset(find(parts_of_judgment(text)[part])) or frozenset(find(text))


_NUMERAL = "[零〇一二三四五六七八九十百0-9]"
_LAW = lazy_pattern(rf"《(?:中华人民共和国)?刑法》\s?(?=第|{_NUMERAL}).*?(?:[。《判附规]|$)")
_ARTICLE = lazy_pattern(rf"第({_NUMERAL}+)条")


def articles_in(text: str) -> frozenset[int]:
    """Return the articles of the Criminal Law that the reason names, else those of the whole text.

    `第一百三十三条之一` counts as 133. Numbers in Arabic digits count too, which JuDGE passes over.
    """
    numerals = _from_part("reason", text, lambda part: _ARTICLE.findall(" ".join(_LAW.findall(part))))
    return frozenset(map(_value, numerals))


_TERM = lazy_pattern("(?:管制|拘役|有期徒刑).{1,7}[年月]")
_TERM_ENDS = lazy_pattern("[,;，。！？、；：（以缓至].*")
_WITHOUT_TERM = lazy_pattern("无期徒刑|死刑|无罪|免[予于]刑事处罚|免予刑事处分")
_FINE = lazy_pattern("罚金.{1,15}元")
_FINE_ENDS = lazy_pattern("[，。！？、；：以已至（].*|,")


def months_in(text: str) -> int:
    """Return the months of the terms in the judgment, else in the whole text; -1 if there are none.

    The sum over different wordings: two people with one term count once. Life is 240, death 10,001, none 0.
    """
    terms = _from_part("judgment", text, lambda part: [*_TERM.findall(part), *_WITHOUT_TERM.findall(part)])
    return sum(map(_months, {_TERM_ENDS.sub("", term) for term in terms})) if terms else -1


def _months(term: str) -> int:
    numbers = numbers_in(term)
    if not numbers:
        return {"无期徒刑": 240, "死刑": 10001}.get(term, 0)
    if "年" not in term:
        return numbers[0] if "月" in term else 0
    return numbers[0] * 12 + (numbers[1] if len(numbers) == 2 and "月" in term else 0)


def fines_in(text: str) -> int:
    """Return the yuan of the fines in the judgment, else in the whole text; -1 if there are none.

    The sum over different wordings, as for terms.
    """
    fines = {_FINE_ENDS.sub("", fine) for fine in _from_part("judgment", text, _FINE.findall)}
    amounts = [numbers_in(fine) for fine in fines if "元" in fine]
    return sum(numbers[0] for numbers in amounts if len(numbers) == 1) if amounts else -1


_OFFENCE = lazy_pattern("犯([^罪犯，。；《》（）]+?)罪")
_SECTION = lazy_pattern("[一二三四五六七八九十]{1,3}、|（[一二三四五六七八九十]{1,3}）")


def offences_in(text: str) -> frozenset[str]:
    """Return the statutory names of the offences in the judgment, else in the whole text, without 罪.

    What follows 犯 up to 罪 is the shortest statutory name that has its characters in their order, else the
    nearest one if less than 0.4 of the longer name is to be edited. What a section revokes does not count.
    """
    return _from_part("judgment", text, _offences)


def _offences(text: str) -> frozenset[str]:
    sections = _SECTION.split(text)
    if len(sections) == 1:
        sections = re.split("[；。]", text)
    kept = (section.partition("撤销")[0].replace("罪犯", "") for section in sections)
    return frozenset(map(_statutory, _OFFENCE.findall("。".join(kept)))) - {""}


@cache
def _names() -> tuple[str, ...]:
    return tuple(files(__package__).joinpath("offences.txt").read_text(encoding="utf-8").split())


@lru_cache(maxsize=4096)
def _statutory(name: str) -> str:
    """Return the statutory name of an offence, or an empty string."""
    name = name.replace(" ", "")
    name = name[1:] if name[:1] in ("有", "的", "了") else name
    if name in _names() or not 0 < len(name) <= 28:
        return name if name in _names() else ""
    if whole := [one for one in _names() if (rest := iter(one)) and all(letter in rest for letter in name)]:
        return min(whole, key=len)
    # With 罪 after each, as JuDGE compares them.
    distance, nearest = min((_edits(name, one) / (max(len(name), len(one)) + 1), one) for one in _names())
    return nearest if distance < 0.4 else ""


def _edits(first: str, second: str) -> int:
    """Return Levenshtein's distance."""
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            above, row[j] = row[j], min(above + (letter != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]


_DEATH = 10_000
"""Months beyond this are a sentence of death."""


def judge_scores(
    reply: str, gold: str, bert_score: Callable[[str, str], float] | None = None
) -> Mapping[str, float | None]:
    """Return ten scores of one judgment against the right one, each 0 to 1 or None.

    `reasoning_meteor`, `judge_meteor`, `reasoning_bert_score`, `judge_bert_score`: of reason and judgment;
    None if one of these four parts is empty, or there is no `bert_score`. `crime_recall`, `crime_precision`,
    `penalcode_index_recall`, `penalcode_index_precision`: of offences and articles; 0 for an empty set.
    `time_score` and `amount_score`: None where neither text has a term, or a fine.

    `bert_score` gives F1 of BERTScore of a text and the right one, both cut into words with a blank between;
    JuDGE has bert-base-chinese. Without jieba `MissingExtra` is raised.
    """
    scores: dict[str, float | None] = {}
    written, right = parts_of_judgment(reply), parts_of_judgment(gold)
    whole = all(parts[part] for parts in (written, right) for part in ("reason", "judgment"))
    for part, name in (("reason", "reasoning"), ("judgment", "judge")):
        pair = (chinese_words(written[part]), chinese_words(right[part])) if whole else None
        scores[f"{name}_meteor"] = meteor_of_words(*pair) if pair else None
        scores[f"{name}_bert_score"] = bert_score(*map(" ".join, pair)) if pair and bert_score else None
    for name, items_in in {"crime": offences_in, "penalcode_index": articles_in}.items():
        predicted: frozenset[object] = items_in(reply)
        expected: frozenset[object] = items_in(gold)
        shared = len(predicted & expected)
        scores[f"{name}_recall"] = shared / len(expected) if expected else 0.0
        scores[f"{name}_precision"] = shared / len(predicted) if predicted else 0.0
    scores["time_score"] = _nearness(months_in(reply), months_in(gold))
    scores["amount_score"] = _nearness(fines_in(reply), fines_in(gold))
    return scores


def _nearness(value: int, right: int) -> float | None:
    """Return 1 - difference / the larger; 0 where one has none, or one alone is beyond the mark of death.

    The mark meets fines as well, as published: 9,000 and 11,000 yuan earn 0.
    """
    if value < 0 and right < 0:
        return None
    if value < 0 or right < 0 or (value - _DEATH) * (right - _DEATH) < 0:
        return 0.0
    return 1 - abs(value - right) / max(value, right, 1)


def judge_set_scores(cases: Iterable[Mapping[str, float | None]]) -> Mapping[str, float | None]:
    """Return the twelve scores of a set of cases: ten means, and `crime_f1` and `penalcode_index_f1`.

    A mean leaves out the cases that have None, and is None over nothing. An F1 is the harmonic mean of the
    mean recall and the mean precision, not a mean of F1: no single case has it.
    """
    values: dict[str, list[float]] = {}
    for name, value in chain.from_iterable(case.items() for case in cases):
        values.setdefault(name, []).extend(() if value is None else (value,))
    means = {name: sum(some) / len(some) if some else None for name, some in values.items()}
    for name in ("crime", "penalcode_index"):
        recall, precision = means.get(f"{name}_recall"), means.get(f"{name}_precision")
        if recall is None or precision is None:
            means[f"{name}_f1"] = None
        else:
            means[f"{name}_f1"] = 2 * recall * precision / ((recall + precision) or 1)
    return means
