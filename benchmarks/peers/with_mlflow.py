"""MLflow: `mlflow.genai.evaluate` with a judge of its own making, kept where it keeps them by default.

python with_mlflow.py LOG URL AT_ONCE default|tolerant
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    log, url, at_once, _ = sys.argv[1:]
    os.environ |= {
        "OPENAI_API_BASE": url,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
        "MLFLOW_GENAI_EVAL_MAX_WORKERS": at_once,
    }
    import mlflow
    from mlflow.genai.judges import make_judge

    helpful = make_judge(
        name="helpful",
        instructions="Read every reply of {{ inputs }} in its conversation. Does it help the user?",
        model="openai:/stub-model",
        base_url=f"{url}/chat/completions",
        feedback_value_type=bool,
    )
    data = [{"inputs": json.loads(line)} for line in Path(log).read_text().splitlines()]
    result = mlflow.genai.evaluate(data=data, scorers=[helpful])
    values = result.result_df["helpful/value"].tolist()
    print(
        json.dumps(
            {
                "metrics": result.metrics,
                "scored": sum(isinstance(v, bool) for v in values),
                "unscored": sum(not isinstance(v, bool) for v in values),
            }
        )
    )
