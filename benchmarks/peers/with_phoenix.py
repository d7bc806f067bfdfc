"""Phoenix evals: a classifier over a DataFrame with one conversation a row.

python with_phoenix.py LOG URL AT_ONCE default|tolerant
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pandas as pd
from phoenix.evals import LLM, async_evaluate_dataframe, create_classifier


def spoken(line: str) -> str:
    return "\n".join(f"{m['role']}: {m['content']}" for m in json.loads(line)["messages"])


if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    judge = LLM(
        provider="openai",
        model="stub-model",
        base_url=url,
        api_key="none",
        initial_per_second_request_rate=1000,
    )
    helpful = create_classifier(
        name="helpful",
        prompt_template="Read every reply in its conversation. Does it help the user?\n\n{conversation}",
        llm=judge,
        choices={"good": 1, "bad": 0},
    )
    frame = pd.DataFrame({"conversation": [spoken(line) for line in Path(log).read_text().splitlines()]})
    tolerance = {"exit_on_error": False, "max_retries": 1} if how == "tolerant" else {}
    done = asyncio.run(
        async_evaluate_dataframe(frame, [helpful], concurrency=int(at_once), hide_tqdm_bar=True, **tolerance)
    )
    scores = [
        json.loads(s)["score"] if isinstance(s, str) else s and s["score"] for s in done["helpful_score"]
    ]
    details = [json.loads(d) if isinstance(d, str) else d for d in done["helpful_execution_details"]]
    known = [s for s in scores if s is not None]
    print(
        json.dumps(
            {
                "rows": len(done),
                "mean_of_frame": sum(known) / len(known),
                "scored": len(known),
                "unscored": len(scores) - len(known),
                "states": {s: sum(d["status"] == s for d in details) for s in {d["status"] for d in details}},
            }
        )
    )
