"""Replies cut off, echoes, miscopied codes: how many planted ones are found, and sound replies flagged.

Needs the shared data (`DIALOGAUGE_SHARED`). Figures of a `chosen` source were seen while rules were written.
Logs named in `DIALOGAUGE_LOGS`, joined as the paths of `PATH` are, are measured as well, each a source.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.tables import table
from dialogauge.core import Conversation, Message
from dialogauge.data import read_conversations
from dialogauge.signals import find_signals, read_dialogue
from dialogauge.studies.planted.faults import FAULTS, Spot, plant, with_reply

__all__ = ["run"]

_KINDS: Final = {"cut": "cut_off", "echo": "echoes", "digits": "miscopied"}
_MOST: Final = 400
"""Conversations of a source, drawn with a fixed seed."""
_ROOT: Final = Path(__file__).resolve().parent.parent
_PLANTED: Final = _ROOT / "tests" / "golden" / "planted"


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures by source."""
    del times
    shared = Path(os.environ["DIALOGAUGE_SHARED"]) / "data"
    figures = {}
    for name, chosen, conversations in _sources(shared):
        drawn = random.Random(1).sample(conversations, min(len(conversations), 50 if quick else _MOST))
        figures[name] = {"chosen": chosen, **_measure(drawn)}
    head = ("source", "chosen", "replies", *(f"{kind} flagged" for kind in _KINDS.values()))
    head += tuple(f"{way} {fault} found" for fault in _KINDS for way in ("one", "every"))
    print(table("Planted faults of replies, found by their kind", head, map(_row, figures.items())))
    return figures


def _row(entry: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    name, f = entry
    flagged = (
        f"{f['flagged'][kind]} ({100 * f['flagged'][kind] / f['replies']:.1f} %)" for kind in _KINDS.values()
    )
    found = (_share(f["found"][way][fault]) for fault in _KINDS for way in ("one", "every"))
    return (name, "yes" if f["chosen"] else "no", str(f["replies"]), *flagged, *found)


def _share(counts: list[int]) -> str:
    return f"{counts[0]} of {counts[1]} ({100 * counts[0] / counts[1]:.0f} %)" if counts[1] else "–"


def _measure(conversations: list[Conversation]) -> dict[str, Any]:
    flagged = dict.fromkeys(_KINDS.values(), 0)
    found = {way: {fault: [0, 0] for fault in _KINDS} for way in ("one", "every")}
    replies, rng = 0, random.Random(2)
    for conversation in conversations:
        sound = _named(conversation)
        turns = [t for t in conversation.replied_turns if t.number and t.reply_text.strip()]
        replies += len(turns)
        for kind in flagged:
            flagged[kind] += sum(kind in sound.get(t.number, ()) for t in turns)
        for fault, kind in _KINDS.items():
            texts = [(t, plant(FAULTS[fault], Spot(t.user_text, t.reply_text), rng)) for t in turns]
            planted = [(t, text) for t, text in texts if text is not None]
            if not planted:
                continue
            for way, which in (("one", [rng.choice(planted)]), ("every", planted)):
                broken = conversation
                for t, text in reversed(which):
                    broken = with_reply(broken, t, text)
                names = _named(broken)
                found[way][fault][0] += sum(kind in names.get(t.number, ()) for t, _ in which)
                found[way][fault][1] += len(which)
    return {"replies": replies, "flagged": flagged, "found": found}


def _named(conversation: Conversation) -> dict[int, set[str]]:
    names: dict[int, set[str]] = {}
    for signal in find_signals(read_dialogue(conversation), "foresight"):
        if signal.named:
            names.setdefault(signal.turn, set()).add(signal.name)
    return names


def _read(*paths: Path) -> list[Conversation]:
    return [c for c in read_conversations([str(p) for p in paths]) if isinstance(c, Conversation)]


def _sources(data: Path) -> Iterator[tuple[str, bool, list[Conversation]]]:
    split = json.loads((data / "recllmsim" / "split.json").read_text(encoding="utf-8"))
    users = data / "recllmsim" / "human_exp_V2"
    yield "RecLLMSim train users", True, _read(*(users / user for user in split["train"]))
    yield "RecLLMSim dev users", True, _read(*(users / user for user in split["test"]))
    runs = _read(data / "tdeval" / "tau_trajectories")
    for domain in ("airline", "retail"):
        yield f"tau {domain}", True, [c for c in runs if c.scenario == domain]
    yield "AutoTOD MultiWOZ", True, _read(data / "tdeval" / "autotod_mwoz.jsonl.gz")
    for path in sorted((data / "uss").glob("*.txt")):
        yield f"USS {path.stem}", path.stem == "MWOZ", _read(path)
    yield "CharacterBench", True, list(_characters(data / "roleplay" / "characterbench_human_turn.jsonl"))
    yield "planted, open and blind", True, _sound(_PLANTED / "open.jsonl", _PLANTED / "blind.jsonl")
    yield "planted, second", False, _sound(_PLANTED / "second.jsonl")
    yield "LoCoMo", False, list(_sessions(data / "membench" / "locomo_corpus.jsonl"))
    yield "LexEval answers", False, list(_answers(data / "membench" / "lexeval_qa_sample.jsonl"))
    yield "Sotopia", False, list(_episodes(data / "roleplay" / "sotopia_pi_human_session.jsonl"))
    for log in filter(None, os.environ.get("DIALOGAUGE_LOGS", "").split(os.pathsep)):
        yield Path(log).stem, False, _read(Path(log))


def _sound(*paths: Path) -> list[Conversation]:
    return [c for c in _read(*paths) if not c.metadata["expected"]]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _characters(path: Path) -> Iterator[Conversation]:
    for row in _lines(path):
        said = [Message(m["role"], m["content"]) for m in row["history"]]
        yield Conversation(row["id"], (*said, Message("assistant", row["response"])))


def _sessions(path: Path) -> Iterator[Conversation]:
    for row in _lines(path):
        for session in row["sessions"]:
            roles = {name: ("user", "assistant")[i] for i, name in enumerate(row["speakers"])}
            said = tuple(Message(roles[m["speaker"]], m["text"]) for m in session["messages"] if m["text"])
            yield Conversation(f"{row['corpus_id']}-{session['session']}", said)


def _answers(path: Path) -> Iterator[Conversation]:
    for row in _lines(path):
        said = (Message("user", row["q"]), Message("assistant", row["v"]["golden_answer"]))
        yield Conversation(row["id"], said)


def _episodes(path: Path) -> Iterator[Conversation]:
    for row in _lines(path):
        roles = {name: ("user", "assistant")[i] for i, name in enumerate(row["agents"])}
        said = tuple(Message(roles[m["speaker"]], m["content"]) for m in row["session"] if m["content"])
        yield Conversation(row["id"], said)
