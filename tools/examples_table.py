"""Writes the table of the sample conversations: the fault their writers intended, and what the local judge names.

python tools/examples_table.py
"""

from __future__ import annotations

from pathlib import Path

from dialogauge.core import Conversation
from dialogauge.data import read_conversations
from dialogauge.judges.local.judge import LocalJudge

SAMPLES = Path(__file__).resolve().parents[1] / "src/dialogauge/samples"


def main() -> None:
    """Print one table for each file, as Markdown."""
    judge = LocalJudge()
    for path in sorted(SAMPLES.glob("*.json*")):
        print(f"\n### `samples/{path.name}`\n")
        print("| conversation | turns | intended fault | named turn | kind named | verdict |")
        print("|---|---|---|---|---|---|")
        for item in read_conversations([str(path)]):
            if isinstance(item, Conversation):
                print(_row(judge, item))


def _row(judge: LocalJudge, conversation: Conversation) -> str:
    whole = judge.judge_now(conversation)[-1].outcome
    fault, turn = conversation.metadata["fault"], conversation.metadata["fault_turn"]
    named = getattr(whole, "weakest_turn", None)
    kinds = [f["kind"] for f in whole.details["faults"] if f["turn"] == named]  # type: ignore[union-attr]
    intended = "none" if turn is None else f"{fault}, turn {turn}"
    right = named == turn
    shown = "none" if named is None else f"turn {named}"
    mark = "" if right else " (wrong)"
    verdict = getattr(whole, "verdict", None)
    return (
        f"| {conversation.id} | {len(conversation.turns)} | {intended} | {shown}{mark} "
        f"| {', '.join(kinds) or '-'} | {verdict} |"
    )


if __name__ == "__main__":
    main()
