"""The fixed inputs of all cases: made here by rule, apart from a few conversations of the samples."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "src/dialogauge/samples"
CHOSEN = (
    "en-e-support-lost-key",
    "en-e-tool-agent-parcel",
    "zh-e-agent-meeting-room",
    "zh-e-planning-half-marathon",
)
USERS, SCENARIOS = 8, ("cook", "gift", "trip")
SPLIT = {"train": [f"user{u}" for u in range(5)], "test": [f"user{u}" for u in range(5, USERS + 1)]}
#: With as many users to judge as an interval takes.
WIDE = {"train": [f"user{u}" for u in range(3)], "test": [f"user{u}" for u in range(3, USERS)]}
LABELS = ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied")

_REPLIES = {
    1: "I cannot help with that.",
    2: "It depends. There are many ways to do this, and you should look for one that suits you.",
    3: "You could try a simple plan: start early, keep it short, and see how it goes.",
    4: "Here is a plan. First, set aside an hour. Second, list what you need. Third, begin with the hardest.",
    5: "Here is what I would do:\n- Monday: buy 2 kg of flour and 3 lemons\n"
    "- Tuesday: bake at 180 degrees for 40 minutes\n- Wednesday: pack everything, 12 pieces in a box",
}
_ASKS = (
    "Can you help me with my {0}? I have two days and 40 euros.",
    "No, that is not what I asked. I said two days for the {0}.",
    "Thanks, that helps. What else belongs to a good {0}?",
)

_CANDIDATES = {"long": "I would rather say this, at some length, about the matter.", "short": "no"}
_PRICES = """
[[model]]
name = "stub-model"
input_per_million = 1000
output_per_million = 2000
"""
_CONFIG = """
[judge]
lang = "en"
repeats = 2
max_concurrency = 1
gate = ["verdict.value>=good:0.5"]
[roles.judge]
model = "small"
base_url = "SERVER"
[roles.memory_builder]
model = "big"
base_url = "SERVER"
"""

Record = dict[str, Any]

_SCENARIOS: list[Record] = [
    {
        "id": "hut",
        "name": "Brenna",
        "text": "Brenna keeps a hut.",
        "greeting": "Boots off.",
        "category": "old",
    },
    {
        "id": "table",
        "kind": "task",
        "name": "the booking line",
        "text": "You take bookings for the Miramar.",
        "category": "new",
        "user": {"goal": "a table for four", "facts": {"people": 4}, "persona": "I am Li.", "patience": 2},
    },
]


def write_inputs(folder: Path, url: str) -> None:
    """Write every input of the cases into a folder; the configuration names a server."""
    _rows(folder / "examples.jsonl", _examples())
    _rows(folder / "log.jsonl", log())
    _rows(folder / "faulty.jsonl", faulty())
    _rows(folder / "corrected.jsonl", _corrected())
    _rows(folder / "personal.jsonl", _personal())
    _rows(folder / "rated.jsonl", rated())
    _rows(folder / "odd.jsonl", _odd())
    (folder / "split.json").write_text(json.dumps(SPLIT))
    (folder / "wide.json").write_text(json.dumps(WIDE))
    (folder / "sessions.json").write_text(json.dumps(_sessions()))
    (folder / "votes.txt").write_text(_votes(), encoding="utf-8")
    (folder / "people.csv").write_text(_people())
    (folder / "facts.txt").write_text("The museum opens at ten and the cafe at eleven.\n")
    (folder / "prices.toml").write_text(_PRICES)
    (folder / "config.toml").write_text(_CONFIG.replace("SERVER", url))
    _rows(folder / "rated_faulty.jsonl", _rated_faulty())
    _rows(folder / "rated_odd.jsonl", _rated_odd())
    _rows(folder / "choices.jsonl", _choices())
    _rows(folder / "scenarios.jsonl", _SCENARIOS)
    agents = '[[agent]]\nname = "long"\ncandidate = "replies:long.jsonl"\norganisation = "Long Inc."\n'
    (folder / "agents.toml").write_text(agents + 'version = "2"\nlicence = "open"\nfamily = "stub"\n')


def log() -> list[Record]:
    """Conversations for model judges; `ref` and five digits end a reply, the last is what it is worth."""
    talks = [
        _talk("short", [4, 2], user_id="ann", scenario="cook", scenario_description="A cook asks for help."),
        _talk("good", [5, 5, 4], user_id="ann", scenario="gift", candidate="b"),
        _talk("long", [3, 4, 5, 2, 4, 3, 5, 1, 4, 4, 5, 3, 2, 4], user_id="bob", scenario="trip"),
        _talk("zh", [2, 4], user_id="bob", scenario="trip", language="zh"),
    ]
    talks[3]["messages"][0]["content"] = "请帮我安排两天的旅行，预算四百元。"
    return talks


def faulty() -> list[Record]:
    """The last message of some users names a fault, and the server deals it (`replies.py`)."""
    talks = [_talk("fine", [4, 3], user_id="ann")]
    for fault in ("prose", "wrong_schema", "cut", "filter", "think", "fenced", "once_prose", "two_objects"):
        talks.append(_talk(fault, [4, 3], user_id="bob"))
        talks[-1]["messages"][-2]["content"] += f" fault={fault}."
    return talks


def rated() -> list[Record]:
    """Eight users with two rated conversations in each of three scenarios."""
    rng = random.Random(10)
    out = []
    for u in range(USERS):
        for scenario in SCENARIOS:
            for number, turns in enumerate((2, 3)):
                worth = [rng.randint(1, 5) for _ in range(turns)]
                talk = _talk(f"user{u}__{scenario}__{number}", worth, user_id=f"user{u}", scenario=scenario)
                talk["context"] = f"about {scenario}"
                talk["profile"] = {"age": 30 + u}
                talk["ratings"] = [_rating(rng, u, turn, w) for turn, w in enumerate(worth, 1)]
                out.append(talk)
    return out


def answer_items(items: Path) -> None:
    """Write two candidates' replies to an item set beside it."""
    ids = [item["id"] for item in json.loads(items.read_text("utf-8"))["items"]]
    for name, text in _CANDIDATES.items():
        _rows(items.parent / f"{name}.jsonl", ({"item": id, "reply": text} for id in ids))


def _talk(name: str, worth: list[int], **more: Any) -> Record:
    messages = []
    for turn, w in enumerate(worth):
        ask = _ASKS[0 if turn == 0 else 1 if worth[turn - 1] < 3 else 2]
        messages.append({"role": "user", "content": ask.format(more.get("scenario", "plan"))})
        reply = f"{_REPLIES[w]} ref{len(name) * 100 + turn:04d}{w}"
        messages.append({"role": "assistant", "content": reply})
    return {"conversation_id": name, "messages": messages, **more}


def _rating(rng: random.Random, user: int, turn: int, worth: int) -> Record:
    score = min(5, max(1, worth + user % 3 - 1 + rng.choice((-1, 0, 0, 1))))
    note = {} if score > 3 else {"note": rng.choice(("too vague", "not what I asked for"))}
    return {"dimension": "satisfaction", "score": score, "turn": turn, "rater": f"user{user}", **note}


def _examples() -> list[Record]:
    found = [json.loads(line) for line in (SAMPLES / "held_out.jsonl").read_text("utf-8").splitlines()]
    by_id = {record["conversation_id"]: record for record in found}
    mute = {"conversation_id": "mute", "messages": [{"role": "user", "content": "Is anybody there?"}]}
    return [by_id[name] for name in CHOSEN] + [_talk("looping", [2, 2, 1]), mute]


def _corrected() -> list[Record]:
    talks = [_talk("first", [4, 1, 3]), _talk("second", [2, 2]), _talk("third", [5, 5])]
    talks[0]["messages"][3]["corrected"] = "On Sundays it opens at ten."
    talks[1]["messages"][1]["corrected"] = "Take the train at nine."
    return talks


def _personal() -> list[Record]:
    talk = _talk("support-4711", [4, 2], user_id="customer_0815", scenario="support")
    talk["messages"][0]["content"] += " I am customer_0815, call 13800138000 or write to zhang@example.com."
    talk["messages"][1]["content"] += " I noted card 4111 1111 1111 1111 and zhang@example.com."
    return [talk, _talk("support-4712", [5], user_id="customer_0815", scenario="support")]


def _odd() -> list[Record]:
    talks = [_talk("twice", [4]), _talk("twice", [2]), _talk("none", [])]
    broken = {"conversation_id": "broken", "messages": [{"role": "oracle", "content": "x"}]}
    unrated = _talk("rated", [3])
    unrated["ratings"] = [
        {"dimension": "satisfaction", "score": 7, "turn": 1},
        {"dimension": "satisfaction", "score": 4, "turn": 9},
        {"dimension": "satisfaction", "score": 4, "turn": 1},
    ]
    return [*talks, broken, unrated]


def _rated_faulty() -> list[Record]:
    """Three turns of the test users that the server gets wrong, one of them only once."""
    talks = {talk["conversation_id"]: talk for talk in rated()}
    for name, fault in (
        ("user5__gift__0", "once_prose"),
        ("user6__trip__1", "prose"),
        ("user7__cook__0", "cut"),
    ):
        talks[name]["messages"][-2]["content"] += f" fault={fault}."
    return list(talks.values())


def _rated_odd() -> list[Record]:
    """Ratings that are none, and a user who rated only one scenario."""
    talks = rated()
    given = talks[36]["ratings"][0]
    talks[36]["ratings"] += [{**given, "score": 7}, {**given, "score": "very good"}, {**given, "turn": 99}]
    lone = {**talks[-1], "conversation_id": "lone", "user_id": "user8"}
    split = {**talks[-2], "conversation_id": "unplaced", "scenario": None}
    return [*talks, lone, split]


def _sessions() -> list[Record]:
    """Four users with three whole sessions of each of three intents, in the form of URS."""
    out = []
    for user in range(4):
        for i, intent in enumerate(("Ask for Advice", "Information Retrieval", "Leisure")):
            for number in range(3):
                score = 1 + (4 - i + user + number) % 5
                talk = _talk(f"{intent} {number}", [score, (score + 2) % 5 + 1, score], scenario=intent)
                out.append(
                    {
                        "user_id": user,
                        "intent_label": intent,
                        "user_satisfaction": LABELS[score - 1],
                        "conversation_history": talk["messages"],
                        "title": f"{intent} {number}",
                        "llm": "m",
                    }
                )
    return out


def _votes() -> str:
    """Forty short dialogues with the votes of three raters, in the form of USS."""
    rng = random.Random(4)
    blocks = []
    for number in range(40):
        bad = rng.random() < 0.35
        reply = "Sorry, there is nothing." if bad else f"It is at {number} Mill Road."
        score = "2,2,3" if bad else "3,3,4"
        lines = ("USER\tWhere can I eat?\t\t3,3,3", f"SYSTEM\t{reply}\t\t", f"USER\tThanks.\t\t{score}")
        blocks.append("\n".join((*lines, f"USER\tOVERALL\t\t{score}\n")))
    return "\n".join(blocks)


def _choices() -> list[Record]:
    """Choices between two of three agents on six questions, with what they said, as MT-Bench has them."""
    rng = random.Random(8)
    rows = []
    for question in range(6):
        for a, b in (("long", "short"), ("short", "plain"), ("plain", "long")):
            winner = rng.choice(["model_a", "model_a", "model_b", "tie"])
            row = {"question_id": f"q{question}", "model_a": a, "model_b": b, "winner": winner}
            said = [{"role": "user", "content": "Where can I eat?"}]
            for side, name in (("conversation_a", a), ("conversation_b", b)):
                row[side] = [
                    *said,
                    {"role": "assistant", "content": f"At the {name} inn. " * rng.randint(1, 5)},
                ]
            rows.append({**row, "judge": ["gpt-4", "pair"], "turn": 1})
    return rows


def _people() -> str:
    """Ratings of `log.jsonl` by two raters, one score and one conversation of which make no sense."""
    lines = ["conversation_id,turn,dimension,rater,score,note"]
    for talk in log():
        worth = [int(m["content"][-1]) for m in talk["messages"] if m["role"] == "assistant"]
        for turn, w in enumerate(worth, 1):
            for rater, more in (("r1", 0), ("r2", turn % 2)):
                lines.append(f"{talk['conversation_id']},{turn},helpfulness,{rater},{min(5, w + more)},")
        lines.append(f"{talk['conversation_id']},,coherence,r1,{worth[-1]},")
    lines += ["short,1,helpfulness,r3,9,", "unknown,1,helpfulness,r1,4,"]
    return "\n".join(lines) + "\n"


def _rows(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
