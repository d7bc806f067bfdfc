"""What the bench asks of each server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.running import Done, command_in, outcomes, rows_of
from benchmarks.process import ROOT
from benchmarks.servers.started import Server
from dialogauge.core import Conversation, Message
from servers.rubric_examples import made_conversations
from talks import write_conversations

__all__ = ["Check", "check_narrow", "check_wide"]

_TURNS = 14
"""More than ten: judged in windows."""
_SHAPELESS = ("invalid_json", "invalid_schema", "window_failed")
"""What becomes of a reply that no schema held."""
_FILLER = "and then we walked on along the river and looked at the old houses "


@dataclass(frozen=True)
class Check:
    """What came of one command on one server."""

    name: str
    came_to: str
    held: bool


def check_wide(server: Server, folder: Path, *, sample: int | None) -> Iterator[Check]:
    """Run doctor, card, turn rubric, windows and Chinese where the prompts fit.

    Args:
        server: Where to send them.
        folder: For inputs and runs.
        sample: How many of the example conversations; None for all.
    """
    yield _doctor(server, folder)
    samples, some = str(ROOT / "src/dialogauge/samples"), () if sample is None else ("--sample", sample)
    yield _judged(server, folder, "card, examples", samples, *some, "--lang", "en")
    single = ("--rubric", "single", "--lang", "en")
    yield _judged(server, folder, "turn rubric, examples", samples, *some, *single)
    seen = _written(folder / "seen.jsonl", made_conversations(10, seed=99))
    yield _judged(server, folder, "card, short", seen, "--lang", "en")
    long = _written(folder / "long.jsonl", made_conversations(2, seed=5, turns=(_TURNS, _TURNS)))
    yield _judged(server, folder, f"windows, {_TURNS} turns", long, "--lang", "en")
    chinese = _written(folder / "zh.jsonl", [_chinese(n) for n in range(3)])
    yield _judged(server, folder, "Chinese", chinese, "--lang", "zh")


def check_narrow(server: Server, folder: Path) -> Iterator[Check]:
    """Run a prompt that does not fit beside one that does: the one fails as too long, the other is judged."""
    long = Conversation("long", (Message("user", _FILLER * 1000), Message("assistant", "Yes, it is done.")))
    fits = made_conversations(1, seed=3, turns=(1, 1))
    source = _written(folder / "overflow.jsonl", [long, *fits])
    done = _run(server, folder, "overflow", source, "--rubric", "single", "--lang", "en")
    kinds = _kinds(folder / "overflow")
    right = kinds == {"scored": 1, "too_long": 1} and done.code == 3
    yield Check("overflow", _counted(kinds, done), right)


def _doctor(server: Server, folder: Path) -> Check:
    done = command_in(folder)("doctor", "--model", server.model, "--base-url", server.url)
    first = [line.split()[:2] for line in done.out.splitlines() if line.startswith(("ok", "limited", "fail"))]
    states = Counter(words[0] for words in first if len(words) == 2)
    reachable = ["ok", "reachable"] in first
    # So small a model is not fit to judge, which doctor says by its exit code.
    came_to = ", ".join(f"{number} {state}" for state, number in states.items()) + f"; exit {done.code}"
    return Check("doctor", came_to, reachable and "Traceback" not in done.out + done.err)


def _judged(server: Server, folder: Path, name: str, source: str, *words: object) -> Check:
    """Judge and count: all are scored, or, where the server holds to no schema, each has its failure."""
    run = name.replace(",", "").replace(" ", "-")
    done = _run(server, folder, run, source, *words)
    kinds = _kinds(folder / run)
    known = {"scored"} if server.grammar else {"scored", *_SHAPELESS}
    code = 0 if kinds.keys() == {"scored"} else 3
    held = bool(kinds) and kinds.keys() <= known and done.code == code and "Traceback" not in done.err
    return Check(name, _counted(kinds, done), held)


def _run(server: Server, folder: Path, run: str, source: str, *words: object) -> Done:
    model = ("--model", server.model, "--base-url", server.url)
    return command_in(folder, 3600)("judge", source, *model, *words, "-o", run)


def _kinds(run: Path) -> Counter[str]:
    return outcomes(rows_of(run)) if (run / "judgements.jsonl").exists() else Counter()


def _counted(kinds: Counter[str], done: Done) -> str:
    if not kinds:
        last = (done.err or done.out).strip().splitlines()[-1:]
        return f"exit {done.code}: {''.join(last)}"
    counts = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    return f"{counts}; exit {done.code}"


def _written(path: Path, conversations: Iterable[Conversation]) -> str:
    write_conversations(path, conversations)
    return path.name


def _chinese(number: int) -> Conversation:
    asks = ("请帮我订一张星期五的桌子。", "我的包裹还没有到。", "路由器怎么重置？")
    turns = [(asks[(number + n) % 3], "好的，已经办好了。") for n in range(number + 1)]
    messages = [m for ask, reply in turns for m in (Message("user", ask), Message("assistant", reply))]
    return Conversation(f"zh-{number}", tuple(messages))
