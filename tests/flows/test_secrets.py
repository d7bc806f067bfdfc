"""No secret of the configuration that a server echoes gets into a file or onto the terminal."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest

from servers.echoing import FORMS, echoing

KEY, USER, PASSWORD = "sk-live-9aB/c+D 7&e<F>", "user-17-abc", "pa$$:w@rd/#?é"
QUERY, HEADER, EXTRA = "q-Zx81_kk.03", "tenant-4711-internal", "extra-key-5566zz"
SECRETS = (KEY, PASSWORD, QUERY, HEADER, EXTRA, f"{USER}:{PASSWORD}")


def seen_in(folder: Path, *printed: str) -> list[tuple[str, str]]:
    """Return which secrets stand where, in which form."""
    texts = {"terminal": "\n".join(printed)}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("dialogauge.toml", "agents.toml"):
            raw = path.read_bytes()
            texts[path.name] = raw.decode("utf-8", "replace")
            if raw.startswith(b"SQLite format 3"):
                texts[path.name] += _unpacked(path)
    forms = {form(secret).casefold(): (name, secret) for secret in SECRETS for name, form in FORMS.items()}
    forms |= {
        base64.b64encode(f"{p}{s}".encode()).decode().strip("=").casefold()[3:-2]: ("base64", s)
        for s in SECRETS
        for p in ("", "x", "xy")
    }
    return [
        (*what, where)
        for where, text in texts.items()
        for form, what in forms.items()
        if form in text.casefold()
    ]


def _unpacked(path: Path) -> str:
    """Return all values of a database, as they are and unpacked where they are packed plainly."""
    pieces = []
    with sqlite3.connect(path) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f"SELECT * FROM {table}"):
                for value in row:
                    pieces.append(repr(value))
                    if isinstance(value, bytes):
                        try:
                            pieces.append(zlib.decompress(value).decode("utf-8", "replace"))
                        except zlib.error:
                            continue
    db.close()
    return "\n".join(pieces)


@pytest.fixture
def configured(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHO_KEY", KEY)

    def write(address):
        user, password = quote(USER, safe=""), quote(PASSWORD, safe="")
        base = f"http://{user}:{password}@{address}?code={QUERY}&api-version=2024-10-21"
        (tmp_path / "dialogauge.toml").write_text(
            f"""[roles.judge]
model = "m"
base_url = {json.dumps(base)}
api_key_env = "ECHO_KEY"
headers = {{ X-Tenant = "{HEADER}", X-Title = "research" }}
extra = {{ api_key = "{EXTRA}", reasoning_effort = "low" }}
"""
        )
        return base

    return write


@pytest.mark.long
def test_a_run_over_200_echoes_shows_none(dialogauge, log, talk, tmp_path, configured):
    with echoing(SECRETS) as echoes:
        configured(echoes.url)
        words = ("--config", "dialogauge.toml", "--role", "judge=judge", "-o", "run")
        done = dialogauge("judge", log(*(talk(f"t{n}") for n in range(200))), *words)
        assert echoes.count >= 200
    assert (tmp_path / "run" / "judgements.jsonl").exists(), done.err
    assert seen_in(tmp_path, done.out, done.err) == []
    rows = (tmp_path / "run" / "judgements.jsonl").read_text()
    assert rows.count("***") >= 150
    manifest = (tmp_path / "run" / "manifest.json").read_text()
    assert '"reasoning_effort"' in manifest


def test_doctor_shows_none(dialogauge, tmp_path, configured):
    with echoing(SECRETS) as echoes:
        configured(echoes.url)
        done = dialogauge("doctor", "--config", "dialogauge.toml", "--role", "judge=judge")
        as_json = dialogauge("doctor", "--config", "dialogauge.toml", "--role", "judge=judge", "--json")
    assert seen_in(tmp_path, done.out, done.err, as_json.out, as_json.err) == []


def test_harmless_values_stay(dialogauge, log, talk, tmp_path, configured):
    with echoing(["research of 2024-10-21", "low effort"]) as echoes:
        configured(echoes.url)
        words = ("--config", "dialogauge.toml", "--role", "judge=judge", "-o", "run")
        dialogauge("judge", log(*(talk(f"t{n}") for n in range(12))), *words)
    rows = (tmp_path / "run" / "judgements.jsonl").read_text()
    assert "***" not in rows


@pytest.mark.parametrize(
    "url",
    [
        "http://u:hushhush@h:notaport/v1",
        "http://u:hush#hush@h/v1",
        "http://u:hush/hush@h/v1",
        "u:hushhush@h:8000/v1",
        "http://u:hushhush@[::1/v1",
        "ftp://u:hushhush@h/v1?k=hushhush",
    ],
)
@pytest.mark.parametrize("short", [True, False])
def test_a_malformed_url_is_refused_without_its_password(dialogauge, log, talk, url, short):
    words = ("--model", "m", "--base-url", url) if short else ("--role", f"judge=m@{url}")
    done = dialogauge("judge", log(talk("a")), *words, "-o", "run")
    assert done.code == 2
    assert "hush" not in done.err + done.out
    assert "Traceback" not in done.err
