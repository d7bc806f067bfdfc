"""Rubrics that are odd rather than broken: most of them load, and then have to judge."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Final

from dialogauge.llm.protocol import ChatRequest
from fuzzing import mutate
from fuzzing.commands import plainest
from fuzzing.world import OWN_RUBRIC

_NAMES: Final = (
    "turn",
    "scores",
    "note",
    "verdict",
    "overall",
    "conversation_id",
    "user_id",
    "repeat",
    "failure",
    "judge",
    "raw",
    "whole",
    "usage",
    "n",
    "mean",
    "class",
    "x" * 300,
    "a_b",
    "satisfaction",
    "reason",
    "subgoals",
    "helpfulness",
)
_ODD_NAMES: Final = ('""', '"名"', '"A"', '"a b"', '"a.b"', '"=1"', '"🙂"', '"{{dialogue}}"', '"__proto__"')
_SCALES: Final = (
    "{ low = 1, high = 1 }",
    "{ low = 0, high = 1 }",
    "{ low = -3, high = 3 }",
    "{ low = 5, high = 1 }",
    "{ low = 1, high = 5, higher_is_better = false }",
    "{ low = 0, high = 1, integer = false }",
    "{ low = 0.5, high = 0.75, integer = false }",
    "{ low = -1e300, high = 1e300, integer = false }",
    "{ low = -1e308, high = 1.7e308, integer = false }",
    "{ low = 0, high = 5e-324, integer = false }",
    "{ low = 1, high = 100 }",
    "{ low = 1, high = 100000000 }",
    "{ low = 1, high = 1e18 }",
    "{ low = 0, high = 9007199254740993 }",
    "{ low = -0.0, high = 0.0 }",
    "{ low = 4, high = 6 }",
)
_VERDICTS: Final = (
    "{ good = 1 }",
    "{ good = 5, poor = 1 }",
    "{ good = 1, poor = 1 }",
    "{ SAT = 4, DSAT = 1 }",
    '{ "" = 1 }',
    '{ "名" = 1, "</script>" = 3 }',
    "{ a = 1, b = 2, c = 3, d = 4, e = 5 }",
    "{ excellent = 1, good = 2 }",
    "{ good = 4.999, poor = 0 }",
    "{}",
)
_TEXTS: Final = (
    '""',
    '"x"',
    '"{{dialogue}}"',
    '"{{nothing}} {{ }} {{"',
    "'''" + "long " * 40_000 + "'''",
    '"中文"',
    "{ en = '', zh = '' }",
    "{ en = 'a' }",
    '"\\u0000\\u2028\\u202e"',
)
_PATTERNS: Final = ('""', '"("', '".*"', '"^$"', '"(?i)a|b"', '"[\\\\s\\\\S]"', '"(?P<a>x)(?P=a)"')
_LEVELS: Final = ('"turn"', '"window"', '"conversation"', '"pair"', '"card"')
_ANCHORS: Final = (
    "{}",
    '{ 1 = "" }',
    '{ 0 = "off" }',
    '{ 1e0 = "one", 1 = "one" }',
    '{ nan = "x" }',
    '{ inf = "x" }',
    '{ "1_0" = "x" }',
    '{ "²" = "x" }',
    '{ 1 = { fr = "un" } }',
    "{ 3 = '" + "huge " * 40_000 + "' }",
    '{ en = { 1 = "a" }, zh = { 1 = "b" } }',
    '{ en = { 1 = "a" } }',
)
_KEYS: Final = {
    "scale": _SCALES,
    "at_least": _VERDICTS,
    "description": _TEXTS,
    "text": _TEXTS,
    "anchors": _ANCHORS,
    "level": _LEVELS,
    "weight": ("0", "-1", "1e308", "1e-320", "nan", "inf", "1"),
    "rollup": ('"minimum"', '"outcome"', '"mean"', '"pulled_mean"'),
    "allow_na": ("true", "false"),
    "languages": ("[]", '["en"]', '["zh"]', '["en", "en"]', '["xx"]', '["en", "zh", "fr"]'),
    "shows": (
        '["dialogue"]',
        "[]",
        '["dialogue", "profile"]',
        '["dialogue", "memory"]',
        '["earlier_summary"]',
    ),
    "at_most": ("1", "5", "0", "-1", "1e9", "2.5"),
    "scenario": _PATTERNS,
    "reply": _PATTERNS,
    "dimension": ('"coherence"', '"goals"', '"nothing"', '"helpfulness"'),
    "of": ('"coherence"', '"goals"', '"nothing"', '"helpfulness"'),
    "worth": ("{ met = 1 }", "{ met = 0, missed = 0 }", "{}", "{ met = 2 }", "{ met = 1, other = 0 }"),
    "version": ('""', "1", "-1", '"v²"', "99999999999999999999999", "1979-05-27"),
    "id": ('"a"', '""', '"a/b"', '"../x"', '"' + "a" * 400 + '"', '"session"'),
    "rule": ('"card"', '"thresholds"'),
    "issues": ("true", "false"),
    "evidence": ("true", "false"),
    "decision_basis": ("true", "false"),
    "weakest_turn": ("true", "false"),
    "verdict": ("true", "false"),
    "note": ("true", "false"),
    "quoted_scores": ("true", "false"),
}
_SCALE_AT: Final = "description ="


def odd_rubric(rng: random.Random) -> str:
    """Write a rubric with a few odd things in it."""
    text = OWN_RUBRIC
    for _ in range(rng.randint(1, 3)):
        text = _edits[rng.randrange(len(_edits))](rng, text)
    return text


def _value(rng: random.Random, text: str) -> str:
    """Give a key that is there another value."""
    places = [
        m for m in re.finditer(r"^(\w+) = ([^\[{'\n].*|\{.*\}|\[.*\])$", text, re.MULTILINE) if m[1] in _KEYS
    ]
    if not places:
        return text
    at = rng.choice(places)
    return f"{text[: at.start()]}{at[1]} = {rng.choice(_KEYS[at[1]])}{text[at.end() :]}"


def _scale(rng: random.Random, text: str) -> str:
    """Give a dimension a scale, and perhaps no anchors."""
    tables = [m.end() for m in re.finditer(r"^\[\[dimensions\]\]\n", text, re.MULTILINE)]
    if not tables:
        return text
    at = rng.choice(tables)
    text = f"{text[:at]}scale = {rng.choice(_SCALES)}\n{text[at:]}"
    return re.sub(r"^anchors = .*\n", "", text, flags=re.MULTILINE) if rng.random() < 0.7 else text


def _scales(rng: random.Random, text: str) -> str:
    """Give all dimensions one scale, with thresholds and labels that fit it."""
    scale = rng.choice(_SCALES)
    low = re.search(r"low = (\S+?),", scale)
    text = re.sub(r"^(scale|anchors) = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace("[[dimensions]]\n", f"[[dimensions]]\nscale = {scale}\n", 2)
    text = text.replace(
        '\n[[dimensions]]\nname = "goals"',
        '\n[[dimensions]]\nscale = { low = 0, high = 1, integer = false }\nname = "goals"',
        1,
    )
    text = re.sub(r"at_least = .*", f"at_least = {{ poor = {low[1] if low else 1} }}", text)
    text = re.sub(r", fits = \[\d, \d\]", "", text)
    return re.sub(r"^at_most = .*", f"at_most = {low[1] if low else 1}", text, flags=re.MULTILINE)


def _name(rng: random.Random, text: str) -> str:
    """Give a dimension, a label or a list another name, wherever it stands."""
    old = rng.choice(("helpfulness", "coherence", "goals", "reason", "subgoals", "vague", "met", "goal"))
    new = rng.choice(_ODD_NAMES) if rng.random() < 0.2 else f'"{rng.choice(_NAMES)}"'
    return text.replace(f'"{old}"', new)


def _many(rng: random.Random, text: str) -> str:
    """Add dimensions, up to five hundred of them."""
    level = rng.choice(("turn", "conversation"))
    return text + "".join(
        f'\n[[dimensions]]\nname = "d{n}"\nlevel = "{level}"\ndescription = "x"\n'
        for n in range(rng.choice((1, 20, 500)))
    )


def _template(rng: random.Random, text: str) -> str:
    """Change the template."""
    begin, end = text.find("'''") + 3, text.rfind("'''")
    if end < begin:
        return text
    inner = text[begin:end]
    draw = rng.random()
    if draw < 0.4:
        inner = mutate.text(rng, inner, "{}\n a中")
    elif draw < 0.7:
        inner += rng.choice(
            ("{{reply_format}}" * 50, "{{ dialogue }}", "{{nothing}}", "{{", "{{a b}}", "x" * 10**6)
        )
    else:
        inner = inner.replace(
            rng.choice(("<!-- data -->\n", "{{scenario}}\n", "{{asked}}\n", "{{examples}}\n")), ""
        )
    return text[:begin] + inner.replace("'''", "") + text[end:]


def _drop(rng: random.Random, text: str) -> str:
    """Leave a table out."""
    tables = re.split(r"\n(?=\[)", text)
    if len(tables) > 1:
        del tables[rng.randrange(1, len(tables))]
    return "\n".join(tables)


_edits: Final[tuple[Callable[[random.Random, str], str], ...]] = (
    _value,
    _value,
    _value,
    _scale,
    _scales,
    _name,
    _many,
    _template,
    _drop,
    mutate.toml,
)


def answering(rng: random.Random) -> Callable[[ChatRequest], str]:
    """Make a model that mostly keeps to the schema, and now and then does not."""

    def answer(request: ChatRequest) -> str:
        text = plainest(request)
        if request.schema is not None and rng.random() < 0.3:
            return mutate.as_text(rng, mutate.structure(rng, json.loads(text)))
        return text

    return answer
