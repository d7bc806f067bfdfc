"""promptfoo: `llm-rubric` on conversations that its echo provider hands through; PROMPTFOO names its program.

python with_promptfoo.py LOG URL AT_ONCE default|tolerant|resumable|again
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    talks = [json.loads(line)["messages"] for line in Path(log).read_text().splitlines()]
    judge = {"id": "openai:chat:stub-model", "config": {"apiBaseUrl": url, "apiKey": "none"}}
    rubric = {
        "type": "llm-rubric",
        "value": "Read every reply in its conversation. Does it help the user?",
        "provider": judge,
    }
    config = {
        "prompts": ["{{conversation}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": [rubric]},
        "tests": [
            {"vars": {"conversation": "\n".join(f"{m['role']}: {m['content']}" for m in talk)}}
            for talk in talks
        ],
    }
    Path("config.json").write_text(json.dumps(config))
    task = ["--resume"] if how == "again" else ["-c", "config.json", "--no-cache", "-j", at_once]
    command = [os.environ["PROMPTFOO"], "eval", *task, "-o", "out.json", "--no-progress-bar", "--no-table"]
    retries = {"PROMPTFOO_RETRY_5XX": "true"} if how == "tolerant" else {}
    done = subprocess.run(command, env={**os.environ, **retries}, check=False)
    stats = json.loads(Path("out.json").read_text())["results"]["stats"]
    print(json.dumps({"exit": done.returncode, **{k: stats[k] for k in ("successes", "failures", "errors")}}))
