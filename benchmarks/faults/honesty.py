"""Honesty: 200 conversations of which 40 cannot be judged; page, terminal and summary must say so."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path

from benchmarks.faults.cases import Cases, by_case
from benchmarks.faults.running import Command, Done, Findings, patience
from servers.faults import FaultPlan
from servers.openai_stub import OpenAIStub

__all__ = ["honesty"]

NUMBER, MALFORMED, ERRORS, GOOD = 200, 20, 20, 120


def honesty(folder: Path, command: Command, *, item_s: float | None = None, seed: int = 5) -> Findings:
    """Judge 200 conversations with the truth 0.600; the 20 + 20 that fail would all have been 1.

    So the mean of what could be scored is 80 / 160 = 0.500, and it lies between 80 / 200 and 120 / 200
    whatever the failures would have been: the truth is the upper bound. Deadlines are the default ones
    unless `item_s` is given.
    """
    findings = Findings("honesty")
    rng = random.Random(seed)
    good = rng.sample(range(NUMBER), GOOD)
    faults = dict.fromkeys(good[:MALFORMED], "prose") | dict.fromkeys(
        good[MALFORMED : MALFORMED + ERRORS], "500"
    )
    cases = Cases(tuple(int(n in set(good)) for n in range(NUMBER)), low=0, high=1)
    cases.write(folder)
    with OpenAIStub(cases.reply, faults=FaultPlan(choose=by_case(faults))) as stub:
        words = ("--model", "stub-model", "--base-url", stub.url)
        if item_s is not None:
            words = patience(folder, stub.url, attempt_s=item_s, item_s=item_s)
        words = ("judge", cases.log, "--rubric", cases.rubric, *words, "--no-cache", "-o", "run")
        unasked = command(*words)
        done = command(*words, "--unchecked")
    # Nothing shows that these scores agree with people: the first screen has them only on demand.
    _check_failures(findings, "the terminal without --unchecked", unasked.out)
    findings.hold("0.500" not in unasked.out, "the terminal says an unchecked mean unasked")
    _check_summary(findings, folder, done)
    _check_words(findings, "the terminal", done.out)
    _check_words(findings, "the page", _text_of((folder / "run" / "report.html").read_text()))
    return findings


def _text_of(page: str) -> str:
    page = re.sub(r"<style.*?</style>|<script.*?</script>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def _check_summary(findings: Findings, folder: Path, done: Done) -> None:
    summary = json.loads((folder / "run" / "summary.json").read_text())
    found = summary["dimensions"]["solved"]
    findings.say(
        f"summary.json: mean {found['mean']:.3f} from {found['n']}/{found['requested']}, "
        f"bounds {found['bounds'][0]:.3f}-{found['bounds'][1]:.3f}, failures {summary['failures']}, "
        f"exit code {done.code}"
    )
    findings.hold(done.code == 3, f"exit code {done.code}: {done.err}")
    findings.hold((found["mean"], found["n"], found["requested"]) == (0.5, 160, 200), f"summary: {found}")
    findings.hold(found["bounds"] == [0.4, 0.6], f"bounds {found['bounds']}")
    findings.hold(
        summary["failures"] == {"invalid_json": 20, "server_error": 20}, f"failures {summary['failures']}"
    )


def _check_words(findings: Findings, where: str, text: str) -> None:
    text = " ".join(text.split())
    for told in ("0.500", "160/200", "0.400–0.600"):
        findings.hold(told in text, f"{where} does not say {told}")
    _check_failures(findings, where, text)
    findings.say(f"{where}: " + ", ".join(w for w in ("0.500", "160/200", "0.400–0.600") if w in text))


def _check_failures(findings: Findings, where: str, text: str) -> None:
    for kind in ("invalid json", "server error"):
        told = re.search(rf"{kind}\W{{1,3}}20\b", text, re.IGNORECASE)
        findings.hold(told is not None, f"{where} does not say {kind} 20")
