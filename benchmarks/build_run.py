"""Builds a large unfinished run through the store's own door, with its log.

    python benchmarks/build_run.py LOG RUN CONVERSATIONS URL

The run holds judgements of all conversations but the last, seven rows each, as the command
`dialogauge judge LOG --model stub-model --base-url URL -o RUN` would have left them.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path

from dialogauge.app.build import build_judge
from dialogauge.app.config import RoleSettings, with_defaults
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import Conversation, Message, NotApplicable, Score, as_scores, conversation_digest
from dialogauge.core.judgement import Judged, Judgement, Target, Usage
from dialogauge.core.unit import WorkUnit
from dialogauge.runs import RunDirectory

_TURN = ("context_use", "helpfulness", "safety")
_WHOLE = ("coherence", "task_completion", "repair_handling")
_NOTE = "The reply answers what was asked and keeps to what the user had said before."


def rows(conversation: Conversation, rng: random.Random) -> tuple[Judged, ...]:
    def scores(names: tuple[str, ...]) -> Mapping[str, Score | NotApplicable]:
        return as_scores({name: rng.randint(1, 5) for name in names})

    def row(level: str, turn: int | None, judgement: Judgement, usage: Usage) -> Judged:
        by_role = {"judge": usage} if usage.calls else {}
        return Judged(Target(conversation.id, level, turn), judgement, usage, "0" * 32, by_role)  # type: ignore[arg-type]

    turns = [
        row("turn", n, Judgement(scores(_TURN), issues=(_NOTE,), rationale=_NOTE), Usage())
        for n in range(1, 7)
    ]
    details = {"language": "en", "repaired": False, "reasked": False, "model_verdict": "good"}
    whole = Judgement(scores(_WHOLE), "good", "full", 3, rationale=_NOTE * 2, details=details)
    return (*turns, row("conversation", None, whole, Usage(1, 0, 3900, 300, None)))


def main(log: Path, run: Path, number: int, url: str) -> None:
    role = with_defaults(RoleSettings(model="stub-model", base_url=url), "judge")
    built = build_judge(JudgeOptions(inputs=(str(log),), judge="llm", role=role, cache=False))
    database = RunDirectory(run).open_for_writing("judge")
    rng = random.Random(1)
    texts = [" ".join(rng.choices(_NOTE.split(), k=60))[:333] for _ in range(500)]
    with log.open("w", encoding="utf-8") as out:
        for n in range(number):
            said = rng.sample(texts, 12)
            messages = [Message("assistant" if i % 2 else "user", text) for i, text in enumerate(said)]
            conversation = Conversation(f"c{n:07d}", tuple(messages))
            plain = [{"role": m.role, "content": m.content} for m in messages]
            out.write(json.dumps({"id": conversation.id, "messages": plain}) + "\n")
            if n == number - 1:
                break
            target, judge = conversation_digest(conversation), built.judge
            unit = WorkUnit("judge", conversation, target, judge.digest, judge=judge.name, position=n + 1)
            database.add(unit, rows(conversation, rng))
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
