"""How a typed program uses the library: mypy checks it in strict mode, nobody runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import dialogauge
from dialogauge import Agreement, Conversation, JudgeFailure, Judgement, Message, Rating, Rubric, Run


async def program(folder: Path, rows: list[dict[str, object]], chats: list[list[dict[str, str]]]) -> None:
    for conversation in dialogauge.read(folder / "log.jsonl"):
        assert_type(conversation, Conversation)
    dialogauge.read([folder / "a.jsonl", folder / "b.jsonl"])
    dialogauge.read(rows)
    own = [Conversation("a", (Message("user", "When?"), Message("assistant", "At nine.")))]
    run = dialogauge.judge(own, rubric="card", gates=["failed<=0.1"], max_calls=10)
    assert_type(run, Run)
    assert_type(run.page(), str)
    assert_type(run.page(folder / "page.html"), Path)
    assert_type(run.rubric, Rubric | None)
    if run.gate("helpfulness.mean>=4"):
        print(run.summary.dimensions.helpfulness.mean)
    for judged in run.judgements():
        assert_type(judged.outcome, Judgement | JudgeFailure)
    assert_type(await dialogauge.ajudge(chats, ratings=[Rating("0", "helpfulness", 4)], out=folder), Run)
    dialogauge.run("satisfaction", dialogauge.open_run(folder), judge="history-mean")
    found = dialogauge.agreement(
        values=[[5, 4], [2, None]], targets=["a", ("b", 1)], raters=["x", "y"], scale="1-5"
    )
    assert_type(found, Agreement)
    assert_type(found.page(), str)
    dialogauge.agreement([folder / "judges.csv", run], ratings=folder / "people.csv", by="source")
