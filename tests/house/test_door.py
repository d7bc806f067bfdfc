"""The door: what `import dialogauge` offers, what it costs, and the examples of its page."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dialogauge
from rated import rated_users
from servers.openai_stub import OpenAIStub
from servers.verdicts import ideal
from talks import conversation_record

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "library.md"
NAMES = (
    *(
        "Agreement",
        "Conversation",
        "DialogaugeError",
        "JudgeFailure",
        "Judgement",
        "Message",
        "Rating",
        "Rubric",
    ),
    *("Run", "RunChange", "Score", "__version__", "agreement", "ajudge", "arena", "assert_quality"),
    *("compare", "judge", "learn"),
    *("open_run", "read", "run"),
)
HEAVY = ("numpy", "torch", "pandas", "polars", "aiohttp", "pydantic", "jinja2", "sqlite3", "asyncio", "typer")


def test_the_public_names() -> None:
    assert tuple(dialogauge.__all__) == NAMES
    assert dir(dialogauge) == sorted(NAMES)
    for name in NAMES:
        assert getattr(dialogauge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'judgement'"):
        _ = dialogauge.judgement


def test_every_public_name_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}" not in page and f"await {name}(" not in page] == []
    without = [n for n in NAMES if n != "__version__" and not (getattr(dialogauge, n).__doc__ or "").strip()]
    assert without == []


def test_importing_loads_little() -> None:
    code = f"import sys, dialogauge; print([m for m in {HEAVY!r} if m in sys.modules], len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, _, count = done.stdout.strip().rpartition(" ")
    assert loaded == "[]"
    assert int(count) < 200  # a bare interpreter has about 60, and all that a run needs over 500


def chat(name: str, *replies: str) -> dict[str, object]:
    messages = []
    for number, reply in enumerate(replies, start=1):
        messages.append({"role": "user", "content": f"Question {number} about the {name}?"})
        messages.append({"role": "assistant", "content": reply})
    return {"conversation_id": name, "messages": messages}


LOG = (
    chat("parcel", "Which number does the parcel have?", "It is in Leeds."),
    chat("museum", "It opens at nine.", "On Mondays it is closed."),
    chat("refund", "The refund takes five days.", "It goes to the card that you paid with."),
)


def test_the_examples_of_the_page_are_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MY_KEY", "secret")
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LOG))
    rated = (json.dumps(conversation_record(c)) + "\n" for c in rated_users(12))
    (tmp_path / "rated.jsonl").write_text("".join(rated))
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```") == 2 * text.count("```pycon")
    with OpenAIStub(ideal) as stub:
        text = text.replace("http://localhost:8000/v1", stub.url)
        page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
        said: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(page, out=said.append)
    assert page.examples
    assert "".join(said) == ""
