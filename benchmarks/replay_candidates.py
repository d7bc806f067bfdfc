"""Candidates whose order is partly known, made of the data itself: files for `dialogauge replay collect`.

    python -m benchmarks.replay_candidates ITEMS FOLDER [SEED]

Writes into FOLDER, for the items of a set: `truncated` (the first half of the original reply, cut in the
middle), `other-user` (a reply that another user got in the same task), `same-place` (the same, at the same
place of its conversation) and `other-task` (a reply to the same user in another task). Which reply is
taken is drawn by the seed (7).
The files hold texts of the data and belong to whoever has it.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from dialogauge.app.replay.items import open_stage
from dialogauge.core.protocols import Reply
from dialogauge.studies.replay.items import read_items


def main(items_file: str, folder: str, *seed: str) -> None:
    """Write the files."""
    items = read_items(Path(items_file))
    opened = open_stage(items)
    stage = opened.stage
    blocks = opened.study.blocks if opened.study else ()
    replies = [t for b in blocks for t in b.view.targets]
    makers = {
        "truncated": _truncated,
        "other-user": _other_user,
        "same-place": _same_place,
        "other-task": _other_task,
    }
    for name, make in makers.items():
        rng = random.Random(f"{seed[0] if seed else 7} {name}")
        path = Path(folder) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for item in stage.items:
                reply = make(stage.originals[item.id], item.user, replies, rng)
                told = {"item": item.id, "reply": reply, "candidate": name}
                file.write(json.dumps(told, ensure_ascii=False) + "\n")


def _truncated(reply: Reply, user: str, replies: list[Reply], rng: random.Random) -> str:
    return reply.text[: (len(reply.text) + 1) // 2]


def _other_user(reply: Reply, user: str, replies: list[Reply], rng: random.Random) -> str:
    return rng.choice(_of_others(reply, user, replies)).text


def _same_place(reply: Reply, user: str, replies: list[Reply], rng: random.Random) -> str:
    others = _of_others(reply, user, replies)
    return rng.choice([r for r in others if r.position == reply.position] or others).text


def _of_others(reply: Reply, user: str, replies: list[Reply]) -> list[Reply]:
    scenario = reply.conversation.scenario
    held = [r for r in replies if r.conversation.scenario == scenario and r.conversation.user_id != user]
    return [r for r in held if r.text.strip()]


def _other_task(reply: Reply, user: str, replies: list[Reply], rng: random.Random) -> str:
    talk = reply.conversation
    own = [r for r in replies if r.conversation.user_id == user and r.conversation.scenario != talk.scenario]
    return rng.choice([r for r in own if r.text.strip()]).text


if __name__ == "__main__":
    main(*sys.argv[1:])
