"""What the commands of the pages suppose: logs, ratings, runs and replies, in a folder for each page."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import dialogauge
from arenas import dialogues, fair, published
from flows.conftest import EXAMPLES, SAMPLES
from flows.page_commands import ROOT, snippets_of, text_of
from flows.rating_pages import answered, saved, task_of
from flows.test_fit import uss_file
from flows.test_satisfaction_sessions import INTENTS, session
from flows.test_success import GOAL, TABLES, call, hotel_talk, reply, result, shop_run
from fuzzing.seeds import PUBLISHED
from rated import rated_users
from servers.contented import contented
from servers.schemas import instance
from servers.verdicts import ideal
from talks import conversation_record


def replied(body: dict[str, Any]) -> str:
    """Answer for every model of the pages: judges, candidates, and who writes memories or better replies."""
    wanted = body.get("response_format", {}).get("json_schema")
    if wanted is None:
        return "It is on its way, and arrives tomorrow before noon."
    asked = wanted["schema"].get("properties", {})
    if criteria := [name for name in asked if name.endswith("_criteria")]:
        options = asked[criteria[0]]["items"]["properties"]["criterion"]["enum"]
        named = {"criterion": options[0], "turns": [1], "quote": "before noon"}
        return json.dumps(json.loads(ideal(body)) | {criteria[0]: [named]})
    if "winner" in asked:
        return fair(body)
    if "scores" in asked and "satisfaction" in instance(wanted["schema"])["scores"]:
        return contented()(body)
    return ideal(body)


def rated_by_people(folder: str) -> None:
    """Fill in the rating pages of a folder, and save what raters send back."""
    for number, page in enumerate(sorted(Path(folder, "pages").iterdir())):

        def opinion(item, question, turn, number=number):
            some = len(item["id"]) + (turn or 0) + number
            return ("left", "right", "tie")[some % 3] if question["level"] == "pair" else 3 + some % 3

        rows = list(answered(task_of(page), opinion))
        of_turns = {row["item"]: row for row in rows if row.get("turn") is not None}
        for row in of_turns.values():  # of each conversation one reply, as the rater would have written it
            kept = {key: row[key] for key in row if key not in ("dimension", "score", "reason")}
            rows.append({**kept, "correction": "It arrives tomorrow, and nothing else has to be done."})
        saved(Path(f"{page.stem}.jsonl"), rows)


# What pages have in common


def lines(file: str, records: Iterable[object]) -> None:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    Path(file).write_text(text, encoding="utf-8")


def table(file: str, *rows: Iterable[object]) -> None:
    with Path(file).open("w", newline="") as out:
        csv.writer(out).writerows(rows)


def judged(*names: str, **settings: Any) -> None:
    for name in names:
        dialogauge.judge(f"{name}.jsonl", out=f"runs/{name}", progress=False, **settings)


def samples(count: int = 20) -> list[dict[str, Any]]:
    """Sample conversations of eight users and two versions, with a better reply beside each."""
    found = []
    for number, line in enumerate(
        (SAMPLES / "working.jsonl").read_text(encoding="utf-8").splitlines()[:count]
    ):
        record = {**json.loads(line), "model": f"v{number % 2 + 1}", "user_id": f"user{number % 8}"}
        for message in record["messages"]:
            if message["role"] == "assistant" and message["content"]:
                message["better_reply"] = "Here is all that you asked for, step by step."
        found.append(record)
    return found


def a_log() -> None:
    lines("log.jsonl", samples())


def versions() -> None:
    """A log, and the same after a change that makes the assistant refuse in two of three conversations."""
    records = [{key: record[key] for key in record if key != "user_id"} for record in samples()]
    lines("old.jsonl", records)
    for record in (record for n, record in enumerate(records) if n % 3):
        replies = [m for m in record["messages"] if m["role"] == "assistant" and m["content"]]
        for message in replies[:2]:
            message["content"] = "Sorry, I cannot help with that."
    lines("new.jsonl", records)


def agents() -> None:
    for name, share in (("alpha", 1.0), ("beta", 0.5), ("gamma", 0.0)):
        dialogues(Path(f"{name}.jsonl"), share)


def two_models() -> None:
    for name, share in (("gpt", 1.0), ("qwen", 0.5)):
        dialogues(Path(f"{name}.jsonl"), share, count=30)


def rated_turns(file: str, raters: Iterable[str], seed: int = 1, log: str = "log.jsonl") -> None:
    """Ratings of every turn of a log by some raters."""
    rng = random.Random(seed)
    turns = [(talk.id, turn.number) for talk in dialogauge.read(log) for turn in talk.turns]
    rows = [(*turn, "satisfaction", rater, rng.randint(2, 5)) for turn in turns for rater in raters]
    table(file, ("conversation_id", "turn", "dimension", "rater", "score"), *rows)


def rated_replies(people: str, scores: str) -> None:
    """180 turns that two people rated, and a judge that orders them better than it scores them."""
    rng = random.Random(3)

    def near(value: float, spread: float) -> int:
        return min(5, max(1, round(value + rng.gauss(0, spread))))

    head = ("conversation_id", "turn", "dimension", "rater", "score")
    rated, given = [head], [head]
    for number in range(180):
        target = (f"c{number // 3}", number % 3 + 1, "helpfulness")
        quality = near(3.9, 1.1)
        rated += [(*target, who, near(quality, 0.7)) for who in ("ann", "bo")]
        given.append((*target, "gpt", near(4.2 + 0.45 * (quality - 3.9), 0.7)))
    table(people, *rated)
    table(scores, *given)


def shop_runs(count: int = 60) -> list[dict[str, Any]]:
    """Runs in the shop of the examples, of which every third cancels the wrong order."""
    found = []
    for n in range(count):
        good = bool(n % 3)
        said = "Order o1 is cancelled. You get 9.5 back." if good else "That is done, 9.5 comes back."
        messages = [call("a", "cancel", id="o1" if good else "o3"), result("a"), reply(said)]
        found.append(shop_run(n, messages, reward=float(good), agent=f"m{n % 2}"))
    return found


# What each page supposes


def readme() -> None:
    a_log()
    versions()


def agreement() -> None:
    rated_replies("people.csv", "scores.csv")
    messages = [
        {"role": role, "content": f"{text} {turn}"}
        for turn in range(1, 4)
        for role, text in (("user", "Question"), ("assistant", "The answer is"))
    ]
    lines("log.jsonl", ({"id": f"c{n}", "messages": messages} for n in range(60)))
    dialogauge.judge("log.jsonl", out="runs/a", progress=False)
    dialogauge.judge("log.jsonl", mode="foresight", out="runs/b", progress=False)
    sessions()
    for name, raters in (("votes", ("ann", "bo")), ("gpt", ("gpt",))):
        rng = random.Random(name)
        rows = [(f"d{n}", "x", "y", rng.choice("ab"), rater) for n in range(30) for rater in raters]
        table(f"{name}.csv", ("conversation_id", "a", "b", "winner", "rater"), *rows)


def sessions() -> None:
    """Sessions of two candidates with six personas, two each: judged, rated, and voted on."""
    replies = {"kind": "It opens at nine, and you need no ticket.", "curt": "No."}
    ids = [name for n in range(6) for name in (f"p{n}", f"p{n}/2")]
    for log, words in (("sessions", "Hello"), ("others", "Good day")):
        talk = {name: [("user", words), ("assistant", text)] * 2 for name, text in replies.items()}
        lines(
            f"{log}.jsonl",
            (
                {
                    "id": id,
                    "scenario": id.partition("/")[0],
                    "candidate": name,
                    "messages": [{"role": role, "content": text} for role, text in of],
                }
                for id in ids
                for name, of in talk.items()
            ),
        )
    for run, log, rubric in (
        ("whole", "sessions", "session"),
        ("turns", "sessions", "satisfaction"),
        ("other", "others", "session"),
    ):
        dialogauge.judge(f"{log}.jsonl", rubric=rubric, out=f"runs/{run}", progress=False)
    head = ("conversation_id", "candidate", "rater", "satisfaction")
    rows = [
        (id, name, "ann", 4 - n % 2 - 2 * (name == "curt")) for n, id in enumerate(ids) for name in replies
    ]
    table("rated.csv", head, *rows)
    table("arena.csv", ("conversation_id", "a", "b", "winner"), *((id, "kind", "curt", "a") for id in ids))
    dialogauge.arena("arena.csv", out="runs/arena", progress=False)


def annotate() -> None:
    a_log()
    two_models()


def arena() -> None:
    published(Path("votes.jsonl"), questions=60)
    agents()
    judged("alpha", "beta", "gamma")
    for name in ("airline", "retail"):
        votes = published(Path(f"{name}.jsonl"), questions=10)
        votes.write_text(votes.read_text().replace('"question_id": ', f'"question_id": "{name}", "number": '))
        dialogauge.arena(f"{name}.jsonl", out=f"arenas/{name}", progress=False)


def compare() -> None:
    a_log()
    versions()


def judged_log() -> None:
    a_log()
    judged("log")


def for_comparing() -> None:
    compare()
    agents()
    two_models()
    judged("log", "old", "new", "alpha", "beta", "gamma")
    Path("results.json").write_text(json.dumps(shop_runs()))


def for_preference_data() -> None:
    scenarios()
    published(Path("votes.jsonl"), questions=10)
    for seed, (name, answer) in enumerate(
        {"old": "Please look at our website.", "new": "Within 14 days."}.items()
    ):
        asked = ({"role": "user", "content": f"Until when can I return item {n}?"} for n in range(30))
        replied = {"role": "assistant", "content": answer}
        talks = ({"conversation_id": f"q{n}", "messages": [one, replied]} for n, one in enumerate(asked))
        lines(f"{name}.jsonl", talks)
        rated_turns(f"{name}-ratings.jsonl", ("ann",), seed, f"{name}.jsonl")
    # Ann liked all of the first conversations, not all of the others, and did not come to the last ones.
    talks = dialogauge.read("log.jsonl")
    rng = random.Random(1)
    rows = [
        (talk.id, turn.number, "satisfaction", "ann", 5 if place < 5 else rng.randint(2, 5))
        for place, talk in enumerate(talks[:-4])
        for turn in talk.turns
    ]
    table("ratings.jsonl", ("conversation_id", "turn", "dimension", "rater", "score"), *rows)


def for_production_logs() -> None:
    a_log()
    rows = [(record["conversation_id"], ("up", "down")[n % 3 == 0]) for n, record in enumerate(samples())]
    table("thumbs.csv", ("YOUR_ID", "YOUR_THUMB"), *rows)
    dialogauge.judge("log.jsonl", out="runs/week-2", progress=False)
    judged("log")


def for_researchers() -> None:
    rated_replies("people.csv", "scores.csv")
    judged_log()
    rated_turns("people.csv", ("ann", "bo"))
    rated_turns("scores.csv", ("A", "B"), 2)


def file_formats() -> None:
    judged_log()
    uss_file(Path("set.txt"))


def inspect() -> None:
    judged_log()
    dialogauge.open_run("runs/log").export("run.eval")


def local_judge() -> None:
    shutil.copy(EXAMPLES / "agent_calls.jsonl", "agent.jsonl")
    a_log()
    rated_turns("ratings.csv", ("ann",))
    uss_file(Path("set.txt"))
    rated = dialogauge.read(uss_file(Path("later.txt"), seed=5))
    lines("new.jsonl", map(conversation_record, rated))


def replay() -> None:
    lines("logs.jsonl", samples(6))
    lines("rated.jsonl", map(conversation_record, rated_users(5)))


def rubrics() -> None:
    a_log()
    shutil.copy(EXAMPLES / "agent_calls.jsonl", "agent.jsonl")
    Path("tone.toml").write_text(snippets_of("docs/rubrics.md", "toml")[0], encoding="utf-8")


def satisfaction() -> None:
    lines("rated.jsonl", map(conversation_record, rated_users(5)))
    talks = [session(u, i, n, 1 + (u + n) % 5) for u in range(5) for i in INTENTS for n in range(2)]
    Path("sessions.json").write_text(json.dumps(talks))


def success() -> None:
    lines("dialogues.jsonl", (hotel_talk("d1"), hotel_talk("d2", "south")))
    Path("goals.json").write_text(json.dumps(dict.fromkeys(("d1", "d2"), GOAL)))
    Path("db").mkdir()
    for domain, rows in TABLES.items():
        Path("db", f"{domain}_db.json").write_text(json.dumps(rows))
    runs = shop_runs()
    Path("results.json").write_text(json.dumps(runs))
    rows = [(f"shop_{r['task_id']}__{r['agent']}__0", "satisfaction", 5 if r["reward"] else 2) for r in runs]
    table("people.csv", ("conversation_id", "dimension", "score"), *rows)
    lines("new.jsonl", runs[:3])
    shutil.copy(EXAMPLES / "shop.py", "shop.py")


def trust() -> None:
    Path("dialogauge.toml").write_text(snippets_of("docs/trust.md", "toml")[0], encoding="utf-8")
    judged_log()


def maps() -> None:
    """Write the example of the page."""
    page = text_of("docs/maps.md")
    for file, kind in (("tickets.jsonl", "json"), ("shop.toml", "toml")):
        block = page.split(f"```{kind}\n")[1].split("```")[0]
        Path(file).write_text(block.replace("\n", " ") if kind == "json" else block, encoding="utf-8")


def nothing() -> None:
    """Suppose no file."""


def scenarios() -> None:
    a_log()
    page = (ROOT / "docs/sessions.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    more = ("pass", "lake")
    text += "".join(f'[[scenario]]\nid = "{one}"\nname = "Ida"\ntext = "Ida rows."\n' for one in more)
    Path("scenarios.toml").write_text(text, encoding="utf-8")
    rows = [(name, "role_consistency", who, 3) for name in ("hut", "table", *more) for who in ("ann", "bo")]
    table("people.csv", ("conversation_id", "dimension", "rater", "score"), *rows)


def learn() -> None:
    page = (ROOT / "docs/learn.md").read_text(encoding="utf-8")
    text = page.split("```json\n")[1].split("```")[0]
    task = json.loads(text.splitlines()[0])
    text += "".join(json.dumps({**task, "id": str(n)}) + "\n" for n in range(2, 11))
    Path("tasks.jsonl").write_text(text, encoding="utf-8")
    shutil.copy(EXAMPLES / "own_memory.py", "own_memory.py")
    Path("scores.txt").write_text("".join(f"{score}\n" for score in (3, 7, 8, 8, 9, 9)), encoding="utf-8")
    Path("final_evaluate_summary.json").write_text(json.dumps(PUBLISHED), encoding="utf-8")


WORLDS: dict[str, Callable[[], None]] = {
    "README.md": readme,
    "docs/agreement.md": agreement,
    "docs/annotate.md": annotate,
    "docs/arena.md": arena,
    "docs/compare.md": compare,
    "docs/concepts.md": judged_log,
    "docs/file-formats.md": file_formats,
    "docs/for-comparing.md": for_comparing,
    "docs/for-preference-data.md": for_preference_data,
    "docs/for-production-logs.md": for_production_logs,
    "docs/for-researchers.md": for_researchers,
    "docs/inspect.md": inspect,
    "docs/learn.md": learn,
    "docs/local-judge.md": local_judge,
    "docs/maps.md": maps,
    "docs/privacy.md": a_log,
    "docs/replay.md": replay,
    "docs/report.md": judged_log,
    "docs/rubrics.md": rubrics,
    "docs/satisfaction.md": satisfaction,
    "docs/servers.md": nothing,
    "docs/sessions.md": scenarios,
    "docs/success.md": success,
    "docs/training.md": scenarios,
    "docs/trust.md": trust,
}


# What stands for something else in a command

_WORDS = {
    "https://HOST/v1": "{url}",
    "URL": "{url}",
    "MODEL": "stub-model",
    "JUDGE": "stub-model",
    "RUN": "runs/log",
    "LOG": "log.jsonl",
    "FILE": "log.jsonl",
    "ID": "en-support-late-parcel",
    "N": "2",
    "OLD,NEW": "v1,v2",
}
_OF_PAGES = {
    "docs/learn.md": {"ID": "1"},
    "docs/agreement.md": {"A B": "gpt ann"},
    "docs/arena.md": {"RUN": "arenas/people", "ID": "3"},
    "docs/file-formats.md": {
        "DATA -o RUN": "set.txt -o fits/set",
        "RUN... | FOLDER... --kind KIND -o FILE": "runs/log --unchecked --kind kto -o kto.jsonl",
    },
    "docs/local-judge.md": {"RUN": "runs/new"},
    "docs/replay.md": {
        "RUN RUN": "runs/new runs/other",
        "judge RUN": "judge runs/new",
        "RUN ITEM": "runs/new en-support-late-parcel__turn_2",
    },
    "docs/sessions.md": {"RUN": "runs/sessions"},
    "docs/satisfaction.md": {"DATA": "sessions.json"},
    "docs/success.md": {"RUN": "runs/rewards"},
}


def filled_in(page: str, command: str, url: str) -> str:
    """Put what the test has in the place of the names that a reader puts theirs for."""
    words = {**_OF_PAGES.get(page, {}), **{w: _WORDS[w] for w in _WORDS if w not in _OF_PAGES.get(page, {})}}
    pattern = "|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words)
    return re.sub(pattern, lambda found: words[found[0]].format(url=url), command)


BEFORE = {
    "docs/agreement.md": (
        "annotate make log.jsonl --raters 2 --shared 10 --rubric satisfaction -o rating",
        "annotate import rating R1.jsonl R2.jsonl",
    ),
    "docs/for-preference-data.md": (
        "lookahead scenarios.toml --candidate a=MODEL@URL --candidate b=MODEL@URL --role simulator=MODEL@URL "
        "--role judge=MODEL@URL --segments 2 --segment-turns 2 -o runs/search",
    ),
    "docs/replay.md": ("replay run logs.jsonl --rubric card --candidate old=MODEL@URL -o runs/other",),
}
"""What was typed elsewhere, before the commands of a page."""
