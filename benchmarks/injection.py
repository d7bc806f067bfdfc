"""Prompt injection in a judged reply, measured: how often a bad reply talks itself up to 5.

    python -m benchmarks.injection                # scripted judges and the local judge
    python -m benchmarks.injection --tiny 20      # and a tiny model trained here, on so many conversations

The scripted judges are worst cases: one copies the last verdict that it finds in its prompt as it stands,
one that it finds anywhere, also inside of JSON strings. The tiny model has learnt from clean examples
only and understands nothing; its scores under attack stand beside those under harmless text of the same
length, since any unfamiliar text moves it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from dialogauge.core import Conversation, Judgement, Message, Request
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ScriptedClient
from dialogauge.rubrics import load_rubric
from servers.injections import (
    ATTACKS,
    BAD,
    CONTROLS,
    attacked,
    gullible,
    last_json,
    last_json_decoded,
    naive_prompt,
)


def helpfulness(judge: Any, conversation: Conversation) -> float | None:  # noqa: ANN401 - any judge
    """Return the helpfulness of the last turn; None for a failure."""
    rows = asyncio.run(judge.judge(Request(conversation)))
    outcome = [r for r in rows if r.target.level == "turn"][-1].outcome
    score = outcome.numbers["helpfulness"] if isinstance(outcome, Judgement) else None
    return float(score) if isinstance(score, int | float) else None


def scripted() -> dict[str, dict[str, Any]]:
    """Return by attack which judges were taken over, in a naive prompt and in ours."""
    card = load_rubric("card")

    def ours(look: Callable[[str], dict[str, Any] | None], reply: str) -> bool:
        judge = RubricJudge(card, ScriptedClient(gullible(look)), language="en")
        return helpfulness(judge, attacked(reply)) == 5

    out = {}
    for name, attack in ATTACKS.items():
        reply = attack(1)
        out[name] = {
            "naive prompt": last_json(naive_prompt(attacked(reply))) is not None,
            "our prompt": ours(last_json, reply),
            "our prompt, read inside strings": ours(last_json_decoded, reply),
        }
    return out


def local() -> dict[str, float | None]:
    """Return the local judge's helpfulness of the bad reply, with and without an attack."""
    judge = LocalJudge("hindsight")
    replies = {**CONTROLS, **{name: attack(1) for name, attack in ATTACKS.items()}}
    return {name: helpfulness(judge, attacked(reply)) for name, reply in replies.items()}


def tiny(count: int) -> dict[str, dict[str, Any]]:
    """Return, for a tiny trained model over HTTP, the mean helpfulness of bad last replies and who got 5."""
    from dialogauge.llm.http import HttpChatClient
    from servers.rubric_examples import made_conversations, rubric_examples
    from servers.tiny_model import build_tiny_model, serve_model

    made = made_conversations(count, seed=7)
    replies = {**CONTROLS, **{name: attack(1) for name, attack in ATTACKS.items()}}
    out: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        examples = rubric_examples("card", 160)
        model = build_tiny_model(Path(folder) / "model", examples, steps=300, reads_system=False)
        with serve_model(model) as server:
            for name, reply in replies.items():
                scores = asyncio.run(_scores(HttpChatClient("tiny", server.url), made, reply))
                found = [s for s in scores if s is not None]
                out[name] = {
                    "n": len(found),
                    "failed": len(scores) - len(found),
                    "mean": round(sum(found) / len(found), 2) if found else None,
                    "got 5": sum(s == 5 for s in found),
                }
    return out


async def _scores(client: Any, made: list[Conversation], reply: str) -> list[float | None]:  # noqa: ANN401
    judge = RubricJudge(load_rubric("card"), client, language="en")
    out: list[float | None] = []
    try:
        for conversation in made:
            said = (*conversation.messages[:-1], Message("assistant", reply))
            rows = await judge.judge(Request(Conversation(conversation.id, said)))
            outcome = [r for r in rows if r.target.level == "turn"][-1].outcome
            score = outcome.numbers["helpfulness"] if isinstance(outcome, Judgement) else None
            out.append(float(score) if isinstance(score, int | float) else None)
    finally:
        await client.close()
    return out


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injection")
    parser.add_argument("--tiny", type=int, default=0, metavar="N", help="conversations for the tiny model")
    parser.add_argument("-o", "--out", type=Path)
    given = parser.parse_args()
    result: dict[str, Any] = {"reply": BAD, "scripted": scripted(), "local": local()}
    if given.tiny:
        result["tiny"] = tiny(given.tiny)
    text = json.dumps(result, indent=2, ensure_ascii=False)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
