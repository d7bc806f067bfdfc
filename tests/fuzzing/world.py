"""A valid file of every kind that a command takes, made once: inputs, and runs of every study."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

import dialogauge
from dialogauge.rubrics import (
    FittedCriterion,
    FittedDimension,
    FittedWeights,
    load_rubric,
    weights_text,
)
from flows.rating_pages import answered, saved, task_of
from flows.test_success import GOAL, TABLES, hotel_talk
from fuzzing import seeds
from fuzzing.commands import command, in_folder
from pins.inputs import answer_items, rated, write_inputs
from tiny_encoder import build_tiny_encoder

MODEL = "--model m --base-url http://127.0.0.1:9/v1"
RATED = "few.jsonl --split-file split.json"

_RUNS = (
    "judge log.jsonl --ratings people.csv -o judged",
    "judge log.jsonl --mode foresight -o earlier",
    f"judge log.jsonl --rubric own.toml {MODEL} -o asked",
    "judge corrected.jsonl -o corrected",
    "agreement judged -o agreed",
    "trust asked --scenario-sample 2",
    f"satisfaction {RATED} --judge history-mean -o personal",
    f"satisfaction {RATED} --judge memory {MODEL} -o remembered",
    f"satisfaction {RATED} --judge spur {MODEL} -o induced",
    "fit votes.txt --cv 3 -o fits",
    "learn run --tasks tasks.jsonl -o learned",
    "fit rated.jsonl --cv 2 -o local.json",
    "replay select few.jsonl --rule random -n 4 --split-file split.json -o items.json",
    "replay collect items.json --candidate replies:long.jsonl --candidate replies:short.jsonl -o replayed",
    "replay score replayed --judge local",
    "replay compare replayed",
    "annotate make judged --raters 2 --shared 2 --label-studio -o rating",
    "annotate make half.jsonl other.jsonl --pairs --raters 1 -o duel",
)

OWN_RUBRIC = """
id = "own"
version = 1
level = "conversation"
languages = ["en", "zh"]
shows = ["scenario", "dialogue"]
template = '''
Judge.
{{dimensions}}
{{reply_format}}
{{examples}}
<!-- data -->
{{scenario}}
{{dialogue}}
{{asked}}
'''

[reply]
issues = true
evidence = true
decision_basis = true
weakest_turn = true
verdict = true

[verdict]
rule = "thresholds"
at_least = { good = 4, poor = 1 }
text = "good from 4 on"

[[dimensions]]
name = "helpfulness"
level = "turn"
description = "Does it help?"
weight = 2
anchors = { 1 = "no", 3 = { en = "some", zh = "一些" }, 5 = "yes" }

[[dimensions]]
name = "coherence"
description = { en = "Does it hang together?", zh = "连贯吗？" }
rollup = "mean"
weight = 1

[[dimensions]]
name = "goals"
description = "Share of goals that were met."
scale = { low = 0, high = 1, integer = false }
allow_na = true
weight = 0

[[labels]]
name = "reason"
level = "turn"
of = "helpfulness"
description = "Why?"
options = [
  { name = "vague", description = "too vague", fits = [1, 3] },
  { name = "fine", description = "nothing", fits = [4, 5], spellings = ["ok"] },
]

[[items]]
name = "subgoals"
key = "goal"
dimension = "goals"
description = "Every goal."
options = [{ name = "met", description = "met" }, { name = "missed", description = "missed" }]
worth = { met = 1, missed = 0 }

[[examples]]
id = "worked"
text = "user: hi"
answer = "{}"

[[scenario_rules]]
name = "no_prices"
scenario = "cook|trip"
reply = "euro"
dimension = "helpfulness"
at_most = 2
"""


@functools.cache
def world() -> Path:
    """Return a folder with all of them; nobody writes into it."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_inputs(folder, "http://127.0.0.1:9/v1")
    few = [t for t in rated() if t["user_id"] in ("user0", "user1", "user5", "user6")]
    (folder / "few.jsonl").write_text("".join(json.dumps(t) + "\n" for t in few))
    people = (folder / "people.csv").read_text().splitlines(keepends=True)
    (folder / "people.csv").write_text("".join(people[:-2]))  # without the two that make no sense
    (folder / "own.toml").write_text(OWN_RUBRIC, encoding="utf-8")
    shipped = Path(dialogauge.__file__).parent / "rubrics/files/policies/booking.toml"
    shutil.copy(shipped, folder / "policy.toml")
    (folder / "weights.toml").write_text(_weights(), encoding="utf-8")
    tau = "".join(json.dumps(record) + "\n" for record in seeds.RECORDS["tau"])
    (folder / "tau.jsonl").write_text(tau)
    (folder / "tau_system_prompts.json").write_text(json.dumps({"shop": "You sell bicycles."}))
    (folder / "map.toml").write_text(seeds.FIELD_MAP)
    (folder / "mapped.jsonl").write_text(json.dumps(seeds.MAPPED) + "\n")
    half = [{**record, "candidate": None} for record in map(json.loads, _lines(folder / "log.jsonl")[:3])]
    other = [
        {**record, "messages": [*record["messages"], {"role": "assistant", "content": "Or so."}]}
        for record in half
    ]
    for name, records in (("half", half), ("other", other)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "disputed.jsonl").write_text(json.dumps({"id": "t", "gold_disputed": True}) + "\n")
    scores = [{"score": 9}, {"satisfaction_score": 3}, {"score": 8}]
    lists = {"tasks": seeds.TASKS, "task_logs": [seeds.PUBLIC_TASKS["MemoryBench"]], "scores": scores}
    for name, rows in lists.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _write_raters(folder)
    _write_goals(folder)
    with in_folder(folder):
        for line in _RUNS:
            if line.startswith("replay collect"):
                answer_items(folder / "items.json")
            ended = command(*line.split())
            if not ended.read:
                message = f"{line}: {ended.code}\n{ended.out}{ended.err}"
                raise AssertionError(message)
        _rate(folder)
    return folder


def _weights() -> str:
    """Return weights of one dimension of a shipped rubric."""
    rubric = load_rubric("roleplay")
    criteria = {"user_leads": FittedCriterion(-0.8, -0.5, 4), "own_initiative": FittedCriterion(0.2, 0.5, 5)}
    figures = {"fitted": {"nmae": (0.1, 0.05, 0.2), "bias": (0.0,)}}
    dimension = FittedDimension(2.9, 3, 1, 12, 6, criteria, figures)
    head = (rubric.id, rubric.version, rubric.digest, "roleplay/m", ("0" * 16,))
    return weights_text(FittedWeights(*head, {"interactive_ability": dimension}))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _write_raters(folder: Path) -> None:
    """Write ratings of the log by three raters, in long form and as a table, and choices between two."""
    names = [record["conversation_id"] for record in map(json.loads, _lines(folder / "log.jsonl"))][:6]
    long = ["conversation_id;turn;dimension;rater;score;area;phase"]
    wide = ["conversation_id,Ann,Ben,Cem"]
    for place, name in enumerate(names):
        scores = [1 + (place * step + step) % 5 for step in (1, 2, 3)]
        phase = "main" if place else "pilot"
        long += [
            f"{name};1;helpfulness;{rater};{score};{'north' if place % 2 else 'south'};{phase}"
            for rater, score in zip(("Ann", "Ben", "Cem"), scores, strict=True)
        ]
        wide.append(",".join(map(str, (name, *scores))))
    (folder / "raters.csv").write_text("\n".join(long) + "\n")
    (folder / "matrix.csv").write_text("\n".join(wide) + "\n")
    ballots = [
        {"a": "half", "b": "other", "winner": winner, "rater": rater, "conversation_id": name}
        for name in names[:3]
        for rater, winner in (("Ann", "a"), ("Ben", "tie"), ("Cem", "b"))
    ]
    (folder / "ballots.jsonl").write_text("".join(json.dumps(ballot) + "\n" for ballot in ballots))


def _write_goals(folder: Path) -> None:
    """Write dialogues about hotels, what their users want, and the venues there are."""
    talks = [hotel_talk("d1"), hotel_talk("d2", "south"), hotel_talk("d3", booked=False)]
    (folder / "talks.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    (folder / "goals.json").write_text(json.dumps({talk["id"]: GOAL for talk in talks}))
    (folder / "venues").mkdir()
    for domain, venues in TABLES.items():
        (folder / "venues" / f"{domain}_db.json").write_text(json.dumps(venues))


def _rate(folder: Path) -> None:
    """Fill in the pages of raters, and an export of Label Studio; import what one of them did."""
    task = task_of(folder / "rating" / "pages" / "R1.html")
    rows = list(answered(task, lambda item, question, turn: 2 + (turn or 3) % 4))
    saved(folder / "R1.jsonl", rows)
    names = list(rows[0])
    table = [[str(row.get(name) or "") for name in names] for row in rows]
    (folder / "R1.csv").write_text("".join(";".join(cells) + "\n" for cells in (names, *table)))
    choice = {"type": "choices", "from_name": "score-satisfaction-0", "value": {"choices": ["4"]}}
    tasks = json.loads((folder / "rating" / "label-studio" / "R1.json").read_bytes())
    exported = [{**one, "annotations": [{"result": [choice], "lead_time": 3.5}]} for one in tasks]
    (folder / "export.json").write_text(json.dumps(exported))
    saved(folder / "duel.jsonl", answered(task_of(folder / "duel" / "pages" / "R1.html"), lambda *_: "left"))
    for line in ("annotate import rating R1.jsonl", "annotate import duel duel.jsonl"):
        assert command(*line.split()).code == 0


@functools.cache
def encoder() -> Path:
    """Return a folder with a tiny encoder; it takes torch."""
    return build_tiny_encoder(world() / "encoder", [(world() / "few.jsonl").read_text()])


def copied(names: tuple[str, ...], folder: Path) -> None:
    """Empty a folder, and copy some of the world's files and runs into it."""
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name in names:
        source = world() / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
