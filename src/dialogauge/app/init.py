"""A start for a newcomer: a commented configuration and a sample log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from dialogauge.runs.directory import write_whole

_CONFIG: Final = """\
# Settings of dialogauge. What the command line says comes before what stands here.

[judge]
# rubric = "card"            # card, satisfaction, task, single, factuality, or a rubric file of yours
# mode = "hindsight"         # or "foresight": judge a reply without the user's next message
# lang = "auto"              # language of the judging: auto, en, zh
# window = 6                 # turns in a window of a conversation of over 10 turns
# repeats = 1                # judge everything several times to see the judge's own noise
# max_concurrency = 64
# max_failed = 0.05          # a larger share of failures gives exit code 3
# gate = ["verdict>=good:0.9"]
# redact = true              # hide telephone numbers, e-mails, card and identity numbers; see docs/privacy.md
# hash_ids = true            # replace the ids of users and conversations by digests
# max_calls = 10000
# max_cost = 5.0             # needs prices
# prices = "prices.toml"     # [[model]] name, input_per_million, output_per_million

# From which figure on the checks under "How far to trust these numbers" are flagged.
# [trust]
# length_correlation = 0.6   # helpfulness with the reply's length
# calibration_kappa = 0.5    # against people (--ratings); below it a dimension is "not ready"
# calibration_dialogues = 100

# Settings of `dialogauge tune`: any of its options, with _ for -.
# [tune]
# learning_rate = 1e-6
# lora = true

# A language model as the judge: any endpoint that speaks the OpenAI chat format. With this role,
# `dialogauge judge LOG --judge llm --config dialogauge.toml` uses it. Without --config (or the variable
# DIALOGAUGE_CONFIG), only roles without a key at a server on this machine are used.
# [roles.judge]
# model = "your-model"
# base_url = "http://localhost:8000/v1"
# api_key_env = "MY_KEY"     # the name of the variable that holds the key, never the key
# temperature = 0.0
# max_tokens = 4096

# Who reads users' histories for `dialogauge satisfaction --judge memory`; else the judge itself:
# [roles.memory_builder]
# model = "your-model"
# base_url = "http://localhost:8000/v1"
# temperature = 0.3

# Who writes better replies for `dialogauge pairs --kind dpo --role repair=repair`:
# [roles.repair]
# model = "your-model"
# base_url = "http://localhost:8000/v1"
# api_key_env = "MY_KEY"
"""

_SAMPLE: Final = (
    {
        "conversation_id": "parcel",
        "scenario": "support",
        "scenario_description": "A customer asks where a parcel is; the assistant finds it and helps.",
        "messages": [
            {"role": "user", "content": "Hi, order 7731 should have come on Monday. Where is it?"},
            {
                "role": "assistant",
                "content": "Order 7731 left our warehouse on Saturday and has been at the depot in "
                "Ashford since Sunday evening. It is marked for delivery tomorrow, before noon.",
            },
            {"role": "user", "content": "Tomorrow I'm away. Can it go to a pick-up point?"},
            {
                "role": "assistant",
                "content": "Could you tell me your order number, please? Then I can look it up.",
            },
            {"role": "user", "content": "I told you already: 7731."},
            {
                "role": "assistant",
                "content": "You did, sorry. I have redirected order 7731 to the pick-up point at the "
                "station; it will be there tomorrow from 2 pm and is kept for five days.",
            },
        ],
    },
    {
        "conversation_id": "晚饭",
        "scenario": "planning",
        "messages": [
            {"role": "user", "content": "家里有鸡蛋、番茄和挂面，十五分钟能做什么？"},
            {
                "role": "assistant",
                "content": "可以做番茄鸡蛋面：先把两个鸡蛋炒散盛出，再炒番茄出汁，加水烧开下挂面，"
                "煮三分钟后倒回鸡蛋，加盐调味即可，全程大约十二分钟。",
            },
            {"role": "user", "content": "太好了，谢谢！"},
            {"role": "assistant", "content": "不客气，祝你吃得开心！"},
        ],
    },
)


def write_starter(directory: str) -> Iterator[tuple[Path, bool]]:
    """Write the files; yield each path and whether it is new. What exists is kept as it is.

    Raises StoreError where one cannot be written; then there is no half of it.
    """
    folder = Path(directory)
    sample = b"".join(orjson.dumps(c, option=orjson.OPT_APPEND_NEWLINE) for c in _SAMPLE)
    for name, content in (("dialogauge.toml", _CONFIG.encode()), ("sample.jsonl", sample)):
        path = folder / name
        new = not os.path.lexists(path)
        if new:
            write_whole(path, [content])
        yield path, new
