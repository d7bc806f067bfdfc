"""Secrets that a server gives back, in drawn forms and places, looked for in all that a command leaves."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

from benchmarks.faults.echo_forms import drawn_secret
from benchmarks.faults.echo_places import Echo, Echoing, serving
from benchmarks.faults.echo_search import marked, secrets_in, texts_in
from benchmarks.faults.running import Findings, command_in, start
from benchmarks.process import CLI
from benchmarks.tables import table
from rated import rated_users
from talks import write_conversations

__all__ = ["echoes"]

_UNMASKED: Final = (
    sys.executable,
    "-c",
    "import dialogauge.llm.secrets as s\n"
    "s.Secrets.mask = s.Secrets.mask_bytes = s.Secrets.mask_json = lambda self, value: value\n"
    "from dialogauge.cli import main\n"
    "main()",
)
"""The command with masking switched off: what would then be found is what the search can see."""
_CONFIG: Final = "secret.toml"
_PATIENCE: Final = "timeout_s = 1.0\ndeadline_s = 0.5\n"


def echoes(folder: Path, *, rounds: int = 4, users: int = 3, seed: int = 41, few: bool = False) -> Findings:
    """Let servers give back the secrets of each round, with new ones every time; `few` of the commands."""
    findings = Findings("secrets that a server gives back")
    with_mask, without = _Account(), _Account()
    for number in range(rounds):
        for account in (without, with_mask):
            inside = folder / "round"
            inside.mkdir()
            masked = account is with_mask
            echoing = _round(inside, random.Random(f"{seed} {number}"), users, masked=masked, few=few)
            texts = list(texts_in(inside, leave=(_CONFIG,)))
            account.add(texts, echoing)
            if masked:
                _hold(findings, number, texts, echoing)
            shutil.rmtree(inside)
    seen, bare = len(with_mask.seen), len(without.seen)
    findings.hold(bare > 0, "with masking off the search finds nothing")
    findings.say(f"{len(with_mask.made)} echoes, {seen} found; {with_mask.innocent} innocent replies kept.")
    findings.say(f"The same with masking off: {len(without.made)} echoes, {bare} found.\n")
    for what in ("form", "place"):
        counts = [
            Counter(getattr(one, what) for one in ones)
            for ones in (with_mask.made, with_mask.seen, without.made, without.seen)
        ]
        head = (what, "echoes", "found", "echoes with masking off", "found")
        lines = [(one, *(count[one] for count in counts)) for one in sorted(counts[0] | counts[2])]
        findings.say(table(f"By {what}", head, lines))
    return findings


@dataclass
class _Account:
    """What was sent, and which of it could be read behind its mark."""

    made: list[Echo] = field(default_factory=list)
    seen: list[Echo] = field(default_factory=list)
    innocent: int = 0

    def add(self, texts: Iterable[tuple[str, str]], echoing: Echoing) -> None:
        made = {echo.number: echo for echo in echoing.echoes}
        behind = {one for _, text in texts for one in marked(text) if one[0] in made}
        seen = {number for number, after in behind if secrets_in(after, [made[number].secret])}
        self.made += made.values()
        self.seen += [made[number] for number in seen]
        kept = "\n".join(text for _, text in texts)
        self.innocent += sum(f"Innocent {n}: " in kept for n in range(len(echoing.innocent)))


def _hold(findings: Findings, number: int, texts: list[tuple[str, str]], echoing: Echoing) -> None:
    """Hold that no secret can be read, and that replies without one are stored as they came."""
    secrets = {secret for known in echoing.secrets.values() for secret in known}
    for where, text in texts:
        for secret, way in secrets_in(text, [*secrets], thorough=False).items():
            findings.wrong.append(f"round {number}, {where}: {secret!r} {way}")
    account = _Account()
    account.add(texts, echoing)
    for echo in account.seen:
        findings.wrong.append(f"round {number}, {echo.place}, {echo.form}: {echo.secret!r}")
    kept = {string for _, text in texts for line in text.splitlines() for string in _strings(line)}
    for reply in kept:
        if reply.startswith("Innocent "):
            findings.hold(reply in echoing.innocent, f"an innocent reply is not as it was sent: {reply!r}")


def _strings(line: str) -> Iterator[str]:
    """Yield the strings in a JSON value; none where the line is none."""
    try:
        waiting = [json.loads(line)]
    except ValueError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _round(folder: Path, rng: random.Random, users: int, *, masked: bool, few: bool) -> Echoing:
    """Run all commands against a server that knows the secrets of all roles; return what it did."""
    own = {name: _Secrets(name, rng) for name in ("judge", "one", "other")}
    known = {f"m-{name}": one.known for name, one in own.items()}
    write_conversations(folder / "data.jsonl", rated_users(users))
    with serving(Echoing(known, rng)) as echoing:
        (folder / _CONFIG).write_text(
            "".join(one.role(echoing.url) for one in own.values()), encoding="utf-8"
        )
        variables = {one.variable: one.key for one in own.values()}
        program = CLI if masked else _UNMASKED
        command = command_in(folder, program=program, variables=variables)
        printed = []
        for words in _commands(few=few):
            done = command(*words, "--config", _CONFIG)
            printed += [done.out, done.err]
            if done.code not in (0, 1, 3):
                raise RuntimeError(f"{words}: exit code {done.code}: {done.err}")
        if not few:
            _killed(folder, program, variables)
        (folder / "printed.txt").write_text("\n".join(printed), encoding="utf-8")
    return echoing


def _commands(*, few: bool) -> list[tuple[object, ...]]:
    judge = ("--role", "judge=judge", "--max-failed", 1)
    pool = ("--candidate", "one", "--candidate", "both=pool:one,other")
    rated = ("satisfaction", "data.jsonl", "--split", "all")
    short: list[tuple[object, ...]] = [
        ("judge", "data.jsonl", *judge, "-o", "card"),
        ("replay", "collect", "items.json", *pool, "-o", "replay"),
    ]
    select = ("replay", "select", "data.jsonl", "--split", "all", "--rule", "all", "-o", "items.json")
    if few:
        return [select, *short]
    return [
        select,
        *short,
        ("replay", "score", "replay", "--judge", "zero-shot", *judge[:2]),
        ("judge", "data.jsonl", *judge, "--rubric", "single", "-o", "turns"),
        (*rated, "--judge", "zero-shot", *judge, "-o", "rated"),
        ("doctor", *judge[:2]),
        ("doctor", *judge[:2], "--json"),
    ]


def _killed(folder: Path, program: tuple[str, ...], variables: Mapping[str, str]) -> None:
    """Judge and kill it in the middle, so that the journals of its databases stay."""
    words = (
        "judge",
        "data.jsonl",
        "--role",
        "judge=judge",
        "--no-cache",
        "-o",
        "killed",
        "--config",
        _CONFIG,
    )
    process = start(folder, *words, program=program, variables=variables)
    try:
        process.communicate(timeout=2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


class _Secrets:
    """The secrets of one role, one for each way in which they come in."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self.key, self.header, self.cookie = (drawn_secret(rng, plain=True) for _ in range(3))
        self.user, self.password, self.query, self.extra, self.inner = (drawn_secret(rng) for _ in range(5))

    @property
    def variable(self) -> str:
        """Of the environment, with the key."""
        return f"KEY_OF_{self.name.upper()}"

    @property
    def known(self) -> list[str]:
        """All that must not be shown."""
        pair = f"{self.user}:{self.password}"
        return [self.key, self.header, self.password, pair, self.query, self.extra, self.inner, self.cookie]

    def role(self, address: str) -> str:
        """Return the role as a configuration has it."""
        user, password = quote(self.user, safe=""), quote(self.password, safe="")
        url = f"http://{user}:{password}@{address}?code={quote(self.query, safe='')}&api-version=2024-10-21"
        headers = f"X-Api-Key = {_quoted(self.header)}, Cookie = {_quoted('sid=' + self.cookie)}"
        extra = f"api_key = {_quoted(self.extra)}, metadata = {{ userToken = {_quoted(self.inner)} }}"
        return (
            f'[roles.{self.name}]\nmodel = "m-{self.name}"\nbase_url = {_quoted(url)}\n{_PATIENCE}'
            f'api_key_env = "{self.variable}"\nheaders = {{ {headers} }}\nextra = {{ {extra} }}\n\n'
        )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
