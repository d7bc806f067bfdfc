"""Signals at random moments in every command that writes, each followed by the same, until it is done."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.faults.resume import comparable, figures
from benchmarks.faults.running import Findings, command_in, start
from dialogauge.core import digest_text
from rated import rated_users
from servers.contented import contented
from servers.openai_stub import OpenAIStub
from servers.verdicts import fill
from talks import write_conversations

__all__ = ["kills_everywhere"]

_OTHERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDS = {0, 3}
_TRIES: Final = 4
"""Signals that are tried for one that comes in time: a command that goes on may end sooner than the first."""
_TOOK: Final = frozenset({"usage", "seconds", "written", "command", "created", "schema_support", "dropped"})
"""What a file says of how it was made, and what the last process that asked learned of the endpoint."""


@dataclass(frozen=True)
class _Study:
    """A command, called in a directory of its own, and what must be done there before."""

    name: str
    words: tuple[object, ...]
    before: tuple[tuple[object, ...], ...] = ()


def kills_everywhere(folder: Path, *, kills: int = 112, others: int = 48, seed: int = 29) -> Findings:
    """Send so many signals in time to all commands; what each ends with must be as undisturbed.

    Args:
        folder: Where.
        kills: SIGKILLs that come while the process lives, over all commands.
        others: SIGINT, SIGTERM and SIGHUP, together.
        seed: Of the moments, which are drawn over the whole of an undisturbed command.
    """
    findings = Findings(f"{kills} times SIGKILL and {others} other signals in all commands")
    rng, sent = random.Random(seed), Counter[str]()
    with OpenAIStub(_reply, latency=0.02) as stub:
        studies = _studies(stub.url)
        signals = [signal.SIGKILL] * kills + [_OTHERS[n % len(_OTHERS)] for n in range(others)]
        rng.shuffle(signals)
        for number, study in enumerate(studies):
            if own := signals[number :: len(studies)]:
                came = _try(findings, folder, study, rng, own)
                findings.say(f"{study.name}: {_counts(came)}")
                sent += came
    findings.say(f"in all: {_counts(sent)}")
    return findings


def _counts(sent: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(sent.items()))


def _studies(url: str) -> list[_Study]:
    model = ("--model", "stub-model", "--base-url", url, "--no-cache", "--max-concurrency", 4)
    judge = ("judge", "data.jsonl", *model, "--max-failed", 1, "-o", "run")
    select = ("replay", "select", "data.jsonl", "--split", "all", "--rule", "all", "-o", "items.json")
    candidate = ("--candidate", f"c=stub-model@{url}")
    collect = ("replay", "collect", "items.json", *candidate, *model[4:], "-o", "run")
    score = ("replay", "score", "run", "--judge", "zero-shot", *model)
    whole = ("replay", "run", "data.jsonl", "--split", "all", "--judge", "zero-shot", *candidate, *model)
    rated = ("satisfaction", "data.jsonl", "--split", "all", "--max-failed", 1)
    fit = ("fit", "data.jsonl", "--cv", 3, "-o")
    return [
        _Study("judge", judge),
        _Study("satisfaction", (*rated, "--judge", "zero-shot", *model, "-o", "run")),
        _Study("collect", collect, (select,)),
        _Study("score", score, (select, collect)),
        _Study("trust", ("trust", "run", "--scenario-sample", 12, "--no-cache"), (judge,)),
        _Study("fit a run", (*fit, "run")),
        _Study("fit a file", (*fit, "model.json")),
        _Study("satisfaction, no model", (*rated, "--judge", "local-user", "-o", "run")),
        _Study("select", select),
        _Study("compare", ("replay", "compare", "run"), (select, collect, score)),
        _Study("replay run", (*whole, "-o", "run")),
        _Study(
            "agreement",
            ("agreement", "run", "--dimension", "helpfulness=satisfaction", "-o", "met"),
            (judge,),
        ),
        _Study("pairs", ("pairs", "run", *model, "-o", "pairs.jsonl"), (judge,)),
        _Study("report", ("report", "run"), (judge,)),
        _Study("export", ("export", "run", "-o", "rows.csv"), (judge,)),
        _Study("init", ("init", "start")),
    ]


def _reply(body: Mapping[str, Any]) -> str:
    number = int(digest_text(json.dumps(body["messages"]))[:8], 16) % 5 + 1
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None:
        return f"A reply, number {number}."
    if {"per_turn", "conversation_level"} & schema["properties"].keys():
        return json.dumps(fill(schema, number))
    return contented(number)(dict(body))


def _try(
    findings: Findings, folder: Path, study: _Study, rng: random.Random, signals: list[signal.Signals]
) -> Counter[str]:
    """Let a command end undisturbed, and then after signals; return what was sent."""
    sent, begun = Counter[str](), folder / study.name
    begun.mkdir()
    write_conversations(begun / "data.jsonl", rated_users(4))
    for words in study.before:
        done = command_in(begun)(*words)
        findings.hold(done.code in _ENDS, f"{study.name}: before: {done.err}")
    plain, began = folder / "undisturbed", time.monotonic()
    shutil.copytree(begun, plain)
    _end(findings, study, plain)
    whole = time.monotonic() - began
    expected = _contents(plain)
    shutil.rmtree(plain)
    while signals:
        here = folder / "disturbed"
        shutil.copytree(begun, here)
        for _ in range(min(len(signals), rng.randint(1, 4))):
            what = signals.pop()
            for _ in range(_TRIES):
                came = _signalled(here, study, what, rng.uniform(0.0, whole))
                sent[what.name if came else "too late"] += 1
                if came:
                    break
        _end(findings, study, here)
        now = _contents(here)
        for name in sorted({*expected, *now}):
            same = expected.get(name) == now.get(name)
            findings.hold(same, f"{study.name}: {name} is not as undisturbed")
        shutil.rmtree(here)
    return sent


def _end(findings: Findings, study: _Study, folder: Path) -> None:
    done = command_in(folder)(*study.words)
    findings.hold(done.code in _ENDS, f"{study.name}: exit code {done.code}: {done.err}")


def _signalled(folder: Path, study: _Study, what: signal.Signals, seconds: float) -> bool:
    """Start a command, send it a signal after some seconds, and wait; say whether it came in time."""
    process = start(folder, *study.words)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(what)
        process.communicate()
        return process.returncode not in _ENDS  # else it had all but ended
    return False


def _contents(folder: Path) -> dict[str, Any]:
    """Return what stands in a folder, by name, but for what a file says of how it was made."""
    left: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.name == "run.db":
            left[name] = comparable(path.parent), figures(path.parent)
        elif path.suffix in (".json", ".jsonl"):
            left[name] = [_plain(json.loads(line)) for line in _values(path)]
        elif path.suffix in (".csv", ".toml"):
            left[name] = path.read_bytes()
        elif path.is_file() and not path.name.startswith("run.db-"):
            left[name] = None
    return left


def _values(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return text.splitlines() if path.suffix == ".jsonl" else [text]


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if key not in _TOOK}
    return [_plain(one) for one in value] if isinstance(value, list) else value
