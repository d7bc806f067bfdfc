"""The rating page: one HTML file for one rater, opened from disk, that loads and sends nothing.

The task stands in the page as JSON. `answers.js` keeps what the rater does in the browser and makes rows of
it, `conversation.js` and `rate.js` show it, and `rate.json` has all its words, in English and Chinese.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import unescape
from importlib import resources
from typing import Any, Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.version import __version__
from dialogauge.report.elements import Html, element, visible
from dialogauge.report.markdown import is_markdown, markdown

_SCRIPTS: Final = ("answers.js", "conversation.js", "rate.js")
_LONGEST: Final = 12_000
"""Characters; a longer text is shown as it came, and its end only when it is asked for."""
_SCRIPT_TEXT: Final = lazy_pattern("[<>&\u2028\u2029\ud800-\udfff]")
"""What is written as an escape in JSON: markup, line ends of JavaScript, halves of characters."""
_TAG: Final = lazy_pattern(r'<(/?)(\w+)(?: class="([\w ]*)")?(/?)>')


def rating_page(task: Mapping[str, Any]) -> str:
    """Write the page of one rater as one self-contained HTML document.

    Nothing on it is taken for markup but our own: the conversations are JSON, which the script puts on the
    page as text. The policy forbids every other script, style, image and address. The rows that it saves are
    described in `docs/annotate.md`.

    Args:
        task: What is rated, as JSON values: plan, rater, language, title, introduction, questions and items.
            A question with `"integer": false` takes fractions.
    """
    language = "zh" if str(task.get("language", "")).startswith("zh") else "en"
    shown = {**task, "introduction": _body(task.get("introduction", "")), "language": language}
    shown["items"] = [_item(item) for item in task["items"]]
    shown_json = _script_json(shown)
    digest = hashlib.sha256(shown_json.encode()).hexdigest()[:16]
    style = _asset("dialogauge.report", "style.css") + _asset("dialogauge.annotate", "rate.css")
    script = "".join(_asset("dialogauge.annotate", name) for name in _SCRIPTS)
    words = _script_json(json.loads(_asset("dialogauge.annotate", "rate.json")))
    policy = (
        f"default-src 'none'; script-src '{_digest_source(script)}'; style-src '{_digest_source(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    named = {
        "viewport": "width=device-width, initial-scale=1, viewport-fit=cover",
        "color-scheme": "light dark",
        "referrer": "no-referrer",
        "generator": f"dialogauge {__version__}",
    }
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        [element("meta", name=key, content=value) for key, value in named.items()],
        element("title", f"{task['title']} · {task['rater']}"),
        element("style", Html(style)),
    )
    body = element(
        "body",
        element("noscript", "This page needs JavaScript. It loads nothing and sends nothing."),
        element("div", id="app"),
        element("div", id="toast", role="status", aria_live="polite"),
        element("script", Html(shown_json), id="task", type="application/json", data_digest=digest),
        element("script", Html(words), id="words", type="application/json"),
        element("script", Html(script)),
    )
    return f'<!doctype html>\n<html lang="{language}">{head}\n{body}</html>\n'


def _asset(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _digest_source(code: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(code.encode()).digest()).decode()}"


def _script_json(value: object) -> str:
    """Write JSON that can stand in a script element: it holds no character of markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _SCRIPT_TEXT.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(item)
    shown["about"] = {visible(str(name)): visible(str(text)) for name, text in item.get("about", {}).items()}
    for side in ("messages", "left", "right"):
        if side in item:
            shown[side] = [_message(message) for message in item[side]]
    return shown


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    text, role = message.get("text") or "", message["role"]
    shown: dict[str, Any] = {"role": visible(role), "turn": message.get("turn")}
    shown["body"] = _body(text) if role == "assistant" else visible(text)
    if message.get("name"):
        shown["name"] = visible(message["name"])
    if message.get("calls"):
        shown["calls"] = [{key: visible(str(call[key])) for key in call} for call in message["calls"]]
    return shown


@lru_cache(maxsize=4096)
def _body(text: str) -> str | tuple[Any, ...]:
    """Return a text as it is shown: as it came, or its Markdown as (tag, class, children...)."""
    if len(text) > _LONGEST or not is_markdown(text):
        return visible(text)
    return tuple(_tree(_TAG.split(markdown(text))))


def _tree(pieces: Iterable[str | None]) -> list[Any]:
    """Build the elements of markup of ours, split at its tags: every `<` in it is one of a tag."""
    text, *rest = pieces
    open_: list[list[Any]] = [["div", "", *([unescape(text)] if text else [])]]
    for slash, tag, class_, empty, after in zip(*[iter(rest)] * 5, strict=True):
        if slash:
            open_.pop()
        else:
            open_[-1].append([tag, class_ or ""])
            open_ += [] if empty else [open_[-1][-1]]
        if after:
            open_[-1].append(unescape(after))
    return open_[0]
