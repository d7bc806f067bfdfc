"""The commands of the pages on agreement, the arena and comparison run, and print what the pages show."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from pathlib import Path

from arenas import dialogues, fair, published

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page):
    """Return the fenced blocks of a page."""
    return re.findall(r"```\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def run_all(dialogauge, lines, **words):
    """Run lines of a shell, with some words replaced; return what came of them."""
    ended = []
    for line in lines:
        program, *given = [words.get(word, word) for word in shlex.split(line, comments=True)]
        assert program == "dialogauge"
        ended.append(dialogauge(*given))
        assert ended[-1].code == 0, (line, ended[-1].err)
    return ended


def is_shown(block, done):
    """Check that a command printed a block: sentences whole, rows of a table one by one."""
    for part in block.strip().split("\n\n"):
        for piece in part.splitlines() if "──" in part else [part]:
            assert " ".join(piece.split()) in done.unwrapped


def ratings(people, scores):
    """Write 180 turns that two people rated, and a judge that orders them better than it scores them."""
    rng = random.Random(3)

    def near(value, spread):
        return min(5, max(1, round(value + rng.gauss(0, spread))))

    with people.open("w") as a, scores.open("w") as b:
        rated, judged = csv.writer(a), csv.writer(b)
        for out in (rated, judged):
            out.writerow(["conversation_id", "turn", "dimension", "rater", "score"])
        for number in range(180):
            target = (f"c{number // 3}", number % 3 + 1, "helpfulness")
            quality = near(3.9, 1.1)
            rated.writerows([*target, who, near(quality, 0.7)] for who in ("ann", "bo"))
            judged.writerow([*target, "gpt", near(4.2 + 0.45 * (quality - 3.9), 0.7)])


def test_the_page_on_agreement(dialogauge, tmp_path):
    ratings(tmp_path / "people.csv", tmp_path / "scores.csv")
    lines = (DOCS / "agreement.md").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if re.match(r" {4}dialogauge \S+ (people|scores)\.csv", line)]
    ended = run_all(dialogauge, [line for line in commands if "--compare" not in line])
    is_shown(blocks("agreement.md")[0], ended[-1])


def test_the_page_on_the_arena(dialogauge, serve, tmp_path):
    published(tmp_path / "votes.jsonl", questions=60)
    for name, share in (("alpha", 1.0), ("beta", 0.5), ("gamma", 0.0)):
        dialogues(tmp_path / f"{name}.jsonl", share)
        dialogauge("judge", f"{name}.jsonl", "-o", f"runs/{name}")
    for name in ("airline", "retail"):
        votes = published(tmp_path / f"{name}.jsonl", questions=10)
        votes.write_text(votes.read_text().replace('"question_id": ', f'"question_id": "{name}", "number": '))
        dialogauge("arena", votes, "-o", f"arenas/{name}")
    commands, shown, *_ = blocks("arena.md")
    ended = run_all(dialogauge, commands.splitlines(), MODEL="stub-model", URL=serve(fair).url)
    is_shown(shown, ended[0])


def test_the_page_on_comparison(dialogauge, tmp_path):
    dialogues(tmp_path / "old.jsonl", 0.5)
    dialogues(tmp_path / "new.jsonl", 0.6)
    versions = {"old.jsonl": "v1", "new.jsonl": "v2"}
    records = [
        {**json.loads(line), "id": f"{name}-{n}", "model": name}
        for file, name in versions.items()
        for n, line in enumerate((tmp_path / file).read_text().splitlines())
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    commands, _, within, gated, *_ = blocks("compare.md")
    run_all(dialogauge, commands.splitlines() + within.splitlines())
    (line,) = gated.splitlines()
    assert dialogauge(*shlex.split(line)[1:]).code in {0, 100}
