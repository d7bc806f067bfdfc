"""Signals at random moments in every study, each followed by the same command, until the run is done."""

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
from typing import Any

from benchmarks.faults.resume import comparable, figures
from benchmarks.faults.running import Findings, command_in, start
from dialogauge.core import digest_text
from rated import rated_users
from servers.contented import contented
from servers.openai_stub import OpenAIStub
from servers.verdicts import fill
from talks import write_conversations

__all__ = ["kills_everywhere"]

_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
_ENDS = {0, 3}


@dataclass(frozen=True)
class _Study:
    """How a study is called in a directory, and what must be done there before."""

    name: str
    words: tuple[object, ...]
    before: tuple[tuple[object, ...], ...] = ()


def kills_everywhere(folder: Path, *, times: int = 100, seed: int = 29) -> Findings:
    """Send so many signals to runs of all studies; each final run must be as the undisturbed one.

    SIGKILL, SIGINT and SIGTERM are mixed; their moments are drawn over the whole of an undisturbed run.
    """
    findings = Findings(f"{times} signals in all studies")
    write_conversations(folder / "data.jsonl", rated_users(4))
    rng, sent = random.Random(seed), Counter[str]()
    with OpenAIStub(_reply, latency=0.02) as stub:
        studies = _studies(stub.url)
        for number, study in enumerate(studies):
            own = times // len(studies) + (number < times % len(studies))
            sent += _try(findings, folder, study, rng, own)
    findings.say(", ".join(f"{n} {what}" for what, n in sorted(sent.items())))
    return findings


def _studies(url: str) -> list[_Study]:
    model = ("--model", "stub-model", "--base-url", url, "--no-cache", "--max-concurrency", 4)
    judge = ("judge", "data.jsonl", *model, "--max-failed", 1, "-o", "RUN")
    candidate = ("--candidate", f"c=stub-model@{url}", "--no-cache", "--max-concurrency", 4)
    select = ("replay", "select", "data.jsonl", "--split", "all", "--rule", "all", "-o", "RUN-items.json")
    collect = ("replay", "collect", "RUN-items.json", *candidate, "-o", "RUN")
    rated = ("satisfaction", "data.jsonl", "--split", "all", "--draws", 0, "--judge", "zero-shot")
    return [
        _Study("judge", judge),
        _Study("satisfaction", (*rated, *model, "--max-failed", 1, "-o", "RUN")),
        _Study("collect", collect, (select,)),
        _Study("score", ("replay", "score", "RUN", "--judge", "zero-shot", *model), (select, collect)),
        _Study("trust", ("trust", "RUN", "--scenario-sample", 12, "--no-cache"), (judge,)),
        _Study("fit", ("fit", "data.jsonl", "--cv", 3, "--draws", 20, "-o", "RUN")),
    ]


def _reply(body: Mapping[str, Any]) -> str:
    number = int(digest_text(json.dumps(body["messages"]))[:8], 16) % 5 + 1
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None:
        return f"A reply, number {number}."
    if {"per_turn", "conversation_level"} & schema["properties"].keys():
        return json.dumps(fill(schema, number))
    return contented(number)(dict(body))


def _words(words: tuple[object, ...], run: str) -> list[str]:
    return [str(word).replace("RUN", run) for word in words]


def _try(findings: Findings, folder: Path, study: _Study, rng: random.Random, times: int) -> Counter[str]:
    """Make the undisturbed run of a study, and then runs that are killed; return what was sent."""

    def begun(run: str) -> None:
        for words in study.before:
            done = command_in(folder)(*_words(words, run))
            findings.hold(done.code in _ENDS, f"{run}: {done.err}")

    sent, name = Counter[str](), study.name
    plain = f"{name}-undisturbed"
    begun(plain)
    began = time.monotonic()
    done = command_in(folder)(*_words(study.words, plain))
    whole = time.monotonic() - began
    findings.hold(done.code in _ENDS, f"{plain}: exit code {done.code}: {done.err}")
    expected, left, number = (comparable(folder / plain), figures(folder / plain)), times, 0
    while left > 0:
        run = f"{name}-{number}"
        number += 1
        begun(run)
        for _ in range(min(left, rng.randint(1, 4))):
            left -= 1
            sent[_signalled(folder, _words(study.words, run), rng, whole)] += 1
        done = command_in(folder)(*_words(study.words, run))
        findings.hold(done.code in _ENDS, f"{run}: exit code {done.code}: {done.err}")
        now = comparable(folder / run), figures(folder / run)
        findings.hold(now[0] == expected[0], f"{run}: other rows than undisturbed")
        findings.hold(now[1] == expected[1], f"{run}: other figures than undisturbed")
        stray = [p.name for p in (folder / run).glob(".*.part")]
        findings.hold(not stray, f"{run}: left {stray}")
        shutil.rmtree(folder / run)
    return sent


def _signalled(folder: Path, words: list[str], rng: random.Random, whole: float) -> str:
    """Start a command, send it a signal at some moment, and wait; say what it was sent."""
    process, what = start(folder, *words), rng.choice(_SIGNALS)
    try:
        process.communicate(timeout=rng.uniform(0.0, whole))
    except subprocess.TimeoutExpired:
        process.send_signal(what)
        process.communicate()
        return what.name
    return "too late"
