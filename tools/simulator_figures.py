"""How often the checks of simulated users see planted faults, and what they report of real conversations.

    python tools/simulator_figures.py [FOLDER]

Without FOLDER only the sessions of `tests/unit/signals/simulated` are checked; FOLDER holds the public sets
(`recllmsim`, `uss`, `tdeval`, `roleplay`). Prints tables in Markdown.
"""

from __future__ import annotations

import gzip
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialogauge.core import Conversation, Message
from dialogauge.data import read_conversations
from dialogauge.signals import USER_FAULTS, check_user
from dialogauge.stats import Estimate
from dialogauge.studies.simulator.style import StyleSample, compare_styles

SERVED = ("MultiWOZ, people of the AutoTOD goals", "AutoTOD simulator", "tau simulator")
"""Whose way of writing is held against the people of USS; the first are people too."""
FIXTURES = Path(__file__).parents[1] / "tests" / "unit" / "signals" / "simulated"


def planted() -> Iterator[str]:
    """Yield a row for each file of planted faults: of each kind how many are seen."""
    files = {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FIXTURES.glob("*.toml"))
    }
    clean = {s["id"]: s for f in files.values() for s in f.get("sessions", ())}
    for name, file in files.items():
        seen, of = Counter[str](), Counter[str]()
        for plant in (
            *file["plants"],
            *({"on": s["id"], "fault": "clean"} for s in file.get("sessions", ())),
        ):
            record = clean[plant["on"]]
            texts = [plant.get("turns", {}).get(str(n), u) for n, (u, _) in enumerate(record["turns"], 1)]
            turns = [("user", t, "assistant", r) for t, (_, r) in zip(texts, record["turns"], strict=True)]
            kinds = {f.kind for f in check_user(_session(record, turns)).faults} - {"unused_facts"}
            of[plant["fault"]] += 1
            seen[plant["fault"]] += bool(kinds) if plant["fault"] == "clean" else plant["fault"] in kinds
        yield (
            f"| {name} | "
            + " | ".join(f"{seen[k]}/{of[k]}" if of[k] else "–" for k in (*USER_FAULTS[:3], "clean"))
            + " |"
        )


def _session(record: dict[str, Any], turns: Iterable[tuple[str, str, str, str]]) -> Conversation:
    before = [Message("system", record["instructions"])]
    before += [Message("assistant", record["greeting"])] if "greeting" in record else []
    said = [m for _, user, _, reply in turns for m in (Message("user", user), Message("assistant", reply))]
    metadata = {"prefix_messages": len(before), "session": {"ended": "turns", "user": record["user"]}}
    return Conversation(record["id"], (*before, *said), metadata=metadata)


def logs(folder: Path) -> Iterator[tuple[str, list[Conversation]]]:
    """Yield the sets by name."""
    split = json.loads((folder / "recllmsim" / "split.json").read_text())
    for name, part in (("RecLLMSim train", "train"), ("RecLLMSim dev", "test")):
        users = (str(u) if str(u).startswith("User") else f"User_{u}" for u in split[part])
        paths = [folder / "recllmsim" / "human_exp_V2" / user for user in users]
        yield name, _read([p for p in paths if p.is_dir()])
    yield "USS MultiWOZ", _read([folder / "uss" / "MWOZ.txt"])
    rows = _rows(folder / "tdeval" / "autotod_mwoz.jsonl.gz")
    people = [[(t["user"], t["agent"]) for t in row["reference"]] for row in rows]
    yield "MultiWOZ, people of the AutoTOD goals", [_talk(str(n), t) for n, t in enumerate(people)]
    yield (
        "AutoTOD simulator",
        [
            _talk(
                row["dialogue"],
                [(t["user"], t["response"]) for t in row["turns"]],
                ended="user",
                user={"goal": row["goal_text"]},
            )
            for row in rows
        ],
    )
    yield "tau simulator", _read(sorted((folder / "tdeval" / "tau_trajectories").glob("*.gz")))
    yield (
        "sotopia, each side as the user",
        list(_sotopia(folder / "roleplay" / "sotopia_pi_human_session.jsonl")),
    )


def _read(paths: list[Path]) -> list[Conversation]:
    return [
        c for c in read_conversations(list(map(str, paths))) if isinstance(c, Conversation) and c.messages
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    return [
        json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    ]


def _talk(name: str, turns: list[tuple[str, str]], **session: Any) -> Conversation:  # noqa: ANN401 - metadata
    said = [m for user, reply in turns for m in (Message("user", user), Message("assistant", reply))]
    return Conversation(name, tuple(said), metadata={"session": session} if session else {})


def _sotopia(path: Path) -> Iterator[Conversation]:
    for row in _rows(path):
        for mine in row["agents"]:
            (other,) = (a for a in row["agents"] if a != mine)
            profile = "; ".join(f"{k}: {v}" for k, v in row["profiles"][other].items())
            said = [
                Message("user" if u["speaker"] == mine else "assistant", u["content"]) for u in row["session"]
            ]
            user = {"persona": "; ".join(row["profiles"][mine].values()), "goal": row["goals"][mine]}
            told = Message("system", f"{other}: {profile}")
            yield Conversation(f"{row['id']}/{mine}", (told, *said), metadata={"session": {"user": user}})


def reported(conversations: list[Conversation]) -> str:
    """Return the cells of a set: of each kind the share of the conversations that it applies to."""
    hits, of = Counter[str](), Counter[str]()
    for conversation in conversations:
        for kind, share in check_user(conversation).shares.items():
            hits[kind] += share  # type: ignore[assignment] - the share of unused facts is a fraction
            of[kind] += 1
    kinds = [k for k in USER_FAULTS if k not in ("tells_unasked", "never_objects", "unused_facts")]
    return " | ".join(f"{hits[k]:.0f}/{of[k]} ({hits[k] / of[k]:.1%})" if of[k] else "n/a" for k in kinds)


def styles(sets: Mapping[str, list[Conversation]]) -> Iterator[str]:
    """Yield a row for each feature of how users of services write, beside the people of USS."""
    samples = {name: StyleSample(name) for name in sets}
    for name, conversations in sets.items():
        for conversation in conversations:
            samples[name].read(conversation)
    beside = [compare_styles(samples[name], samples["USS MultiWOZ"]) for name in SERVED]
    for figures in zip(*(style.figures for style in beside if style is not None), strict=True):
        shown = (f"{f.simulated:.2f} | {_interval(f.difference)}" for f in figures)
        yield f"| {figures[0].name} | {figures[0].real:.2f} | {' | '.join(shown)} |"


def _interval(of: Estimate) -> str:
    return f"{of.value:+.2f} [{of.low:+.2f}, {of.high:+.2f}]"


if __name__ == "__main__":
    print("\n".join(planted()))
    sets = dict(logs(Path(sys.argv[1]))) if len(sys.argv) > 1 else {}
    for name, conversations in sets.items():
        print(f"| {name} | {len(conversations)} | {reported(conversations)} |", flush=True)
    print("\n".join(styles(sets)) if sets else "")
