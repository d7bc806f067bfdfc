"""Every file that a command takes, made wrong, and the commands that read it.

A case makes one broken input of a valid one, gives it to a command, and holds that the command ends as any
may (`fuzzing.commands`): with a result that is whole, or with an error of ours that says what is wrong.
"""

from __future__ import annotations

import json
import random
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fuzzing import databases, mutate
from fuzzing.commands import Unsound, command, counted, in_folder, sound, sound_files
from fuzzing.logs import ENDINGS, broken_log
from fuzzing.rubrics import answering, odd_rubric
from fuzzing.world import MODEL, OWN_RUBRIC, RATED, copied, encoder, world

Spoil = Callable[[random.Random, Path], None]
Case = Callable[[random.Random, Path], str]

_NEW = "-o new"


def _json(rng: random.Random, path: Path) -> None:
    text = mutate.as_text(rng, mutate.structure(rng, json.loads(path.read_bytes())))
    data = mutate.as_bytes(text)
    path.write_bytes(mutate.spoil(rng, data) if rng.random() < 0.15 else data)


def _rows(rng: random.Random, path: Path) -> None:
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(records))
        records[at] = mutate.structure(rng, records[at])
    data = mutate.lines_or_array(rng, records)
    path.write_bytes(mutate.spoil(rng, data) if rng.random() < 0.15 else data)


def _toml(rng: random.Random, path: Path) -> None:
    data = mutate.as_bytes(mutate.toml(rng, path.read_text(encoding="utf-8")))
    path.write_bytes(mutate.spoil(rng, data) if rng.random() < 0.15 else data)


def _table(rng: random.Random, path: Path) -> None:
    text = mutate.text(rng, path.read_text(encoding="utf-8"), ',;\t"\r\n\x004aé')
    path.write_bytes(mutate.spoil(rng, mutate.as_bytes(text)))


def _text(rng: random.Random, path: Path) -> None:
    path.write_bytes(mutate.spoil(rng, mutate.as_bytes(mutate.text(rng, path.read_text(encoding="utf-8")))))


def _items(rng: random.Random, path: Path) -> None:
    """Change an item set, half of the time so that its digest is right."""
    _json(rng, path)
    try:
        value = json.loads(path.read_bytes())
        states = [[i["id"], i["state"]] for i in sorted(value["items"], key=lambda i: i["id"])]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    if rng.random() < 0.5:
        from dialogauge.core import digest

        value["digest"] = digest(states)
        path.write_text(json.dumps(value))


def _zip(rng: random.Random, path: Path) -> None:
    """Write a zip file of broken logs, broken itself."""
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(path, "w", method) as file:
        for name in rng.sample(list(ENDINGS), 3):
            file.writestr(f"{rng.choice(('', '../', '/a/'))}{name}.{ENDINGS[name]}", broken_log(rng, name))
    path.write_bytes(mutate.spoil(rng, path.read_bytes()))


def _workbook(rng: random.Random, path: Path) -> None:
    """Write an Excel workbook with broken parts, broken itself."""
    odd = mutate.text(rng, _SHEET, '<>&"/0AZ1 rtsc')
    strings = "<sst><si><t>role</t></si><si><t>content</t></si></sst>"
    with zipfile.ZipFile(path, "w") as file:
        begin = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f"<Relationships>{begin}</Relationships>")
        sheet = '<sheet name="a" sheetId="1" r:id="r1"/>'
        file.writestr("xl/workbook.xml", f'<workbook xmlns:r="{_OFFICE}"><sheets>{sheet}</sheets></workbook>')
        part = f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/s.xml"/>'
        file.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{part}</Relationships>")
        file.writestr(
            "xl/sharedStrings.xml", strings if rng.random() < 0.7 else mutate.text(rng, strings, "<>ti")
        )
        file.writestr("xl/worksheets/s.xml", mutate.as_bytes(odd))
    path.write_bytes(mutate.spoil(rng, path.read_bytes()) if rng.random() < 0.3 else path.read_bytes())


_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEET: Final = (
    '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    '<row><c t="str"><v>user</v></c><c t="inlineStr"><is><t>Open?</t></is></c></row>'
    '<row><c t="str"><v>assistant</v></c><c><v>9</v></c></row></sheetData></worksheet>'
)


def _format(name: str) -> Spoil:
    """Write records of one format in the place of a file."""

    def write(rng: random.Random, path: Path) -> None:
        path.write_bytes(broken_log(rng, name))

    return write


def reading(file: str, spoil: Spoil, needs: str, *lines: str) -> Case:
    """Make the case of a file of the world that is spoilt.

    Args:
        file: Its path in the world.
        spoil: Changes it where it stands.
        needs: Other files and runs that the commands take.
        lines: Commands, of which each case gives one.
    """
    names = tuple(dict.fromkeys((*file.split("/")[:1], *needs.split())))

    def case(rng: random.Random, folder: Path) -> str:
        copied(tuple(name for name in names if (world() / name).exists()), folder)
        path = folder / file
        spoil(rng, path)
        own = path.read_bytes().decode("utf-8", "replace") if path.suffix != ".db" else ""
        given = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        words = rng.choice(lines).split()
        with in_folder(folder):
            ended = command(*words)
            outcome = sound(ended, own)
            sound_files(folder, given)
            summary = folder / "new/summary.json"
            if words[0] == "judge" and summary.exists():
                counted(json.loads(summary.read_bytes()))
            if ended.read and rng.random() < 0.1:
                again = command(*words)
                sound(again, own)
                if again.code != ended.code:
                    raise Unsound(f"{words}: {ended.code}, and then {again.code}: {again.err[-300:]}")
        return outcome

    return case


_MULTIWOZ = f"success talks.jsonl --kind multiwoz --goals goals.json --database venues {_NEW}"
_JUDGE_MODEL = f"judge log.jsonl {MODEL} --limit 2 {_NEW}"
_COLLECT = "replay collect items.json --candidate replies:long.jsonl -o new"
_BENCHMARK = (
    "replay run few.jsonl --split-file split.json --rule random -n 3 --judge history-mean "
    "--candidate long -o new"
)
_COMPARED = ("compare earlier judged -o compared", "compare judged earlier --by scenario --json")
_OF_JUDGED = (
    "report judged",
    "export judged -o rows.csv",
    "export judged -o rows.jsonl --redact --hash-ids",
    "trust judged",
    "agreement judged",
    "agreement judged --ratings people.csv -o new",
    "pairs judged --kind kto -o kto.jsonl",
    "pairs judged --kind active -o active.jsonl",
    "judge judged --rubric satisfaction -o new",
    "judge log.jsonl --ratings people.csv -o judged",
    "judge log.jsonl --ratings people.csv --retry-failed -o judged",
    "trust judged --scenario-sample 1",
)
_OF_ASKED = (
    "report asked",
    "export asked -o rows.csv",
    "trust asked",
    "pairs asked --kind sft -o sft.jsonl",
    f"pairs asked {MODEL} -o dpo.jsonl",
    f"judge log.jsonl --rubric own.toml {MODEL} -o asked",
)
_OF_PERSONAL = (
    "report personal",
    "export personal -o rows.csv",
    "trust personal",
    "agreement personal",
    f"satisfaction {RATED} --judge history-mean -o personal",
    "satisfaction personal --split all --judge history-median -o new",
    f"satisfaction {RATED} --judge local --calibrate reference-cdf --reference personal -o new",
    f"satisfaction {RATED} --judge local-user --signal personal -o new",
)
_OF_LEARNED = (
    f"learn run --tasks tasks.jsonl --norm-from learned {_NEW}",
    "learn compare learned",
    "learn run --tasks tasks.jsonl -o learned",
    "report learned",
)
_OF_REPLAYED = (
    "replay compare replayed",
    "replay score replayed --judge local",
    "replay score replayed --judge history-mean",
    "replay collect items.json --candidate replies:long.jsonl -o replayed",
    "replay score replayed --judge local --reference replayed",
)
_OF_FITS = (
    "judge log.jsonl --judge fitted --fitted-model fits -o new",
    "fit votes.txt --cv 3 -o fits",
)
_OF_RATED = (
    "annotate status rating",
    "annotate status rating --json",
    "annotate import rating R1.jsonl",
    "annotate make judged --raters 2 --shared 2 --label-studio -o rating",
)
_RATED_READERS = (
    f"satisfaction {RATED} --judge nearest-1 -o new",
    "fit few.jsonl --cv 2 -o new.json",
    f"replay select few.jsonl --rule hard -n 4 --split-file split.json {_NEW}.json",
    "check few.jsonl --json",
)


def encoder_folder(rng: random.Random, folder: Path) -> str:
    """Fine-tune an encoder of which one of the small files is broken."""
    copied(("few.jsonl", "split.json"), folder)
    shutil.copytree(encoder(), folder / "encoder")
    path = folder / "encoder" / rng.choice(("config.json", "tokenizer.json", "tokenizer_config.json"))
    _json(rng, path)
    with in_folder(folder):
        ended = command(*f"satisfaction {RATED} --judge encoder --encoder encoder {_NEW}".split())
    return sound(ended, path.read_bytes().decode("utf-8", "replace"), foreign=True)


def judging_by_rubric(rng: random.Random, folder: Path) -> str:
    """Load an odd rubric; what loads judges, makes a page, and is read again by every command of a run."""
    copied(("log.jsonl", "people.csv"), folder)
    (folder / "own.toml").write_bytes(mutate.as_bytes(odd_rubric(rng)))
    answer = answering(rng)
    with in_folder(folder):
        line = f"judge log.jsonl --rubric own.toml {MODEL} --no-cache --ratings people.csv -o new"
        ended = command(*line.split(), answer=answer)
        outcome = sound(ended, OWN_RUBRIC)
        if not (folder / "new/summary.json").exists():
            return outcome
        for more in rng.sample(_OF_NEW, 3):
            sound(command(*more.split(), answer=answer), OWN_RUBRIC)
        sound_files(folder, {})
        counted(json.loads((folder / "new/summary.json").read_bytes()))
    return "read"


_OF_NEW = (
    "report new",
    "export new -o rows.csv",
    "export new -o rows.jsonl",
    "pairs new --kind active -o active.jsonl",
    "pairs new --kind kto -o kto.jsonl",
    "pairs new --kind sft -o sft.jsonl",
    f"pairs new {MODEL} -o dpo.jsonl",
    "trust new",
    "trust new --scenario-sample 1",
    "agreement new -o agreement",
    "judge new --rubric card -o newer",
    f"judge log.jsonl --rubric own.toml {MODEL} --no-cache --retry-failed -o new",
    "judge log.jsonl --rubric own.toml -o newest",
)

_CANDIDATE: Final = "m=m@http://127.0.0.1:9/v1"
_SESSIONS: Final = f"--candidate {_CANDIDATE} {MODEL} --turns 2 {_NEW}"

FILES: dict[str, Case] = {
    **{
        f"judge {name}": reading(
            f"log.{ending}",
            _format(name),
            "",
            f"judge log.{ending} {_NEW}",
            f"judge log.{ending} --format {name} {_NEW} --redact --hash-ids",
            f"judge log.{ending} --rubric own.toml {MODEL} {_NEW}"
            if name in ("openai", "urs")
            else f"check log.{ending} --json --pii",
        )
        for name, ending in ENDINGS.items()
    },
    "zip file": reading("log.zip", _zip, "", f"judge log.zip {_NEW}", "check log.zip --json"),
    "workbook": reading("log.xlsx", _workbook, "", f"judge log.xlsx {_NEW}", "check log.xlsx --json"),
    "rated data": reading("few.jsonl", _rows, "split.json", *_RATED_READERS),
    "tau prompts": reading("tau_system_prompts.json", _json, "tau.jsonl", f"judge tau.jsonl {_NEW}"),
    "rubric that judges": judging_by_rubric,
    "ratings csv": reading(
        "people.csv",
        _table,
        "log.jsonl judged",
        f"judge log.jsonl --ratings people.csv {_NEW}",
        "check log.jsonl --ratings people.csv --json",
        "agreement judged --ratings people.csv -o agreement",
    ),
    "raters": reading(
        "raters.csv",
        _table,
        "judged",
        "agreement raters.csv --scale 1-5 --by area --where phase=main -o agreement",
        "agreement raters.csv --scale 1-5 --power",
        "agreement judged --ratings raters.csv --json",
    ),
    "table of raters": reading(
        "matrix.csv", _table, "", "agreement matrix.csv --scale 1-5 --wide raters -o agreement"
    ),
    "ballots": reading(
        "ballots.jsonl",
        _rows,
        "half.jsonl other.jsonl",
        "agreement ballots.jsonl -o agreement",
        "arena ballots.jsonl -o new",
        "arena half=half.jsonl other=other.jsonl --ratings ballots.jsonl -o new",
    ),
    "goals": reading("goals.json", _json, "talks.jsonl venues", _MULTIWOZ),
    "venues": reading("venues/hotel_db.json", _json, "talks.jsonl goals.json", _MULTIWOZ),
    "dialogues with goals": reading("talks.jsonl", _rows, "goals.json venues", _MULTIWOZ),
    "rewards": reading("tau.jsonl", _rows, "tau_system_prompts.json", f"success tau.jsonl --kind tau {_NEW}"),
    "rating page": reading("R1.jsonl", _rows, "rating", "annotate import rating R1.jsonl"),
    "rating table": reading("R1.csv", _table, "rating", "annotate import rating R1.csv"),
    "labelled tasks": reading("export.json", _json, "rating", "annotate import rating export.json"),
    "choices": reading("duel.jsonl", _rows, "duel", "annotate import duel duel.jsonl"),
    "rating plan": reading("rating/plan.json", _json, "R1.jsonl judged", *_OF_RATED),
    "plan of pairs": reading("duel/plan.json", _json, "duel.jsonl", "annotate import duel duel.jsonl"),
    "answers": reading("rating/answers.jsonl", _rows, "R1.jsonl judged", *_OF_RATED),
    "data to rate": reading(
        "few.jsonl",
        _rows,
        "half.jsonl other.jsonl",
        "annotate make few.jsonl --raters 2 --shared 3 --each 2 --blind -o new",
        "annotate make few.jsonl half.jsonl --pairs --raters 1 --redact --hash-ids -o new",
    ),
    "run to rate": reading(
        "judged/run.db",
        databases.spoil,
        "",
        "annotate make judged --raters 2 --shared 1 --each 1 --choose mixed -o new",
    ),
    "mapped": reading("map.toml", _toml, "mapped.jsonl", f"judge mapped.jsonl --map map.toml {_NEW}"),
    "split": reading(
        "split.json",
        _json,
        "few.jsonl",
        f"satisfaction {RATED} --judge history-mean -o new",
        "fit few.jsonl --split-file split.json --cv 2 -o new.json",
        "replay select few.jsonl --rule random -n 4 --split-file split.json -o new.json",
    ),
    "configuration": reading(
        "config.toml",
        _toml,
        "log.jsonl",
        f"judge log.jsonl --config config.toml --limit 2 {_NEW}",
        f"judge log.jsonl --config config.toml --limit 2 --unchecked {_NEW}",
    ),
    "price table": reading(
        "prices.toml", _toml, "log.jsonl", f"{_JUDGE_MODEL} --prices prices.toml --max-cost 3"
    ),
    "source": reading(
        "facts.txt", _text, "log.jsonl", f"{_JUDGE_MODEL} --rubric factuality --source facts.txt"
    ),
    "policy": reading(
        "policy.toml", _toml, "log.jsonl", f"{_JUDGE_MODEL} --rubric td-turn --policy policy.toml"
    ),
    "weights": reading(
        "weights.toml", _toml, "log.jsonl", f"{_JUDGE_MODEL} --rubric roleplay --weights weights.toml"
    ),
    "agents": reading(
        "agents.toml",
        _toml,
        "few.jsonl split.json long.jsonl items.json",
        f"{_COLLECT} --agents agents.toml",
        "replay collect items.json --agents agents.toml -o new",
        f"{_BENCHMARK} --agents agents.toml",
    ),
    "scenarios": reading("scenarios.jsonl", _rows, "", f"simulate scenarios.jsonl {_SESSIONS}"),
    "tasks of systems": reading(
        "tasks.jsonl", _rows, "", f"learn run --tasks tasks.jsonl {_NEW}", "learn tasks --tasks tasks.jsonl"
    ),
    "logs of systems": reading(
        "task_logs.jsonl",
        _rows,
        "tasks.jsonl",
        f"learn run --tasks tasks.jsonl --logs task_logs.jsonl --protocol stepwise {_NEW}",
        "learn tasks --tasks tasks.jsonl --logs task_logs.jsonl",
    ),
    "scores of users": reading("scores.jsonl", _rows, "", "learn calibrate --scores scores.jsonl --json"),
    "disputed tasks": reading(
        "disputed.jsonl",
        _rows,
        "tasks.jsonl",
        f"learn run --tasks tasks.jsonl --disputed disputed.jsonl {_NEW}",
    ),
    "summary of systems": reading("learned/summary.json", _json, "tasks.jsonl", *_OF_LEARNED),
    "run file of systems": reading("learned/run.db", databases.spoil, "tasks.jsonl", *_OF_LEARNED),
    "contexts of sessions": reading(
        "few.jsonl",
        _rows,
        "scenarios.jsonl",
        f"simulate scenarios.jsonl {_SESSIONS} --context few.jsonl",
        f"simulate scenarios.jsonl --candidate {_CANDIDATE} --users few.jsonl --turns 2 {_NEW}",
    ),
    "real users": reading("few.jsonl", _rows, "judged", "trust judged --real-users few.jsonl"),
    "item set": reading("items.json", _items, "few.jsonl split.json long.jsonl", _COLLECT),
    "item set of a run": reading(
        "replayed/items.json", _items, "few.jsonl split.json long.jsonl items.json", *_OF_REPLAYED
    ),
    "reply file": reading("long.jsonl", _rows, "few.jsonl split.json items.json", _COLLECT),
    "local model": reading(
        "local.json",
        _json,
        "log.jsonl",
        f"judge log.jsonl --rubric satisfaction --local-model local.json {_NEW}",
    ),
    "fitted model": reading("fits/model.json", _json, "log.jsonl", _OF_FITS[0]),
    "manifest": reading("judged/manifest.json", _json, "log.jsonl people.csv", *_OF_JUDGED),
    "manifest of satisfaction": reading(
        "personal/manifest.json", _json, "few.jsonl split.json", *_OF_PERSONAL
    ),
    "manifest of replay": reading(
        "replayed/manifest.json", _json, "few.jsonl split.json long.jsonl items.json", *_OF_REPLAYED
    ),
    "manifest of fit": reading("fits/manifest.json", _json, "log.jsonl votes.txt", *_OF_FITS),
    "summary": reading("judged/summary.json", _json, "log.jsonl people.csv", *_OF_JUDGED),
    "summary of satisfaction": reading("personal/summary.json", _json, "few.jsonl split.json", *_OF_PERSONAL),
    "summary of replay": reading(
        "replayed/summary.json", _json, "few.jsonl split.json long.jsonl items.json", *_OF_REPLAYED
    ),
    "stored agreement": reading(
        "agreed/agreement.json", _json, "log.jsonl", f"judge log.jsonl --checked-by agreed {_NEW}"
    ),
    "run that checks": reading(
        "judged/run.db", databases.spoil, "log.jsonl", f"judge log.jsonl --checked-by judged {_NEW}"
    ),
    "run compared": reading("judged/run.db", databases.spoil, "earlier", *_COMPARED),
    "manifest compared": reading("earlier/manifest.json", _json, "judged", *_COMPARED),
    "run file": reading("judged/run.db", databases.spoil, "log.jsonl people.csv", *_OF_JUDGED),
    "run file of a model": reading("asked/run.db", databases.spoil, "log.jsonl own.toml", *_OF_ASKED),
    "run file of satisfaction": reading(
        "personal/run.db", databases.spoil, "few.jsonl split.json", *_OF_PERSONAL
    ),
    "run file of replay": reading(
        "replayed/run.db", databases.spoil, "few.jsonl split.json long.jsonl items.json", *_OF_REPLAYED
    ),
    "run file of fit": reading("fits/run.db", databases.spoil, "log.jsonl votes.txt", *_OF_FITS),
    "notes on users": reading(
        "remembered/run.db",
        databases.spoil,
        "few.jsonl split.json",
        f"satisfaction {RATED} --judge memory {MODEL} -o remembered --retry-failed",
        f"satisfaction {RATED} --judge memory {MODEL} -o remembered",
        "report remembered",
    ),
    "induced criteria": reading(
        "induced/run.db",
        databases.spoil,
        "few.jsonl split.json",
        f"satisfaction {RATED} --judge spur {MODEL} -o induced",
    ),
    "reply cache": reading(
        "cache/replies.db",
        databases.spoil,
        "log.jsonl own.toml few.jsonl split.json",
        f"judge log.jsonl --rubric own.toml {MODEL} {_NEW}",
        f"satisfaction {RATED} --judge memory {MODEL} {_NEW}",
    ),
}


SLOW: Final[dict[str, Case]] = {"encoder folder": encoder_folder}
"""Cases of seconds each, that need torch."""

SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "a": ("run compared", "manifest compared"),
    "agents_file": ("agents",),
    "b": ("run compared", "manifest compared"),
    "candidates": ("reply file",),
    "checked_by": ("stored agreement", "run that checks"),
    "config_file": ("config", "configuration"),
    "encoder": ("encoder folder",),
    "files": ("rating page", "rating table", "labelled tasks", "choices"),
    "fitted_model": ("ratings_model", "fitted model", "manifest of fit"),
    "goals": ("goals",),
    "folder": ("rating plan", "plan of pairs", "answers"),
    "inputs": tuple(f"judge {name}" for name in ENDINGS),
    "context_file": ("contexts of sessions",),
    "data": ("rated data",),
    "disputed_file": ("disputed tasks",),
    "database": ("venues",),
    "items": ("item set",),
    "local_model": ("coefficients", "local model"),
    "scores_file": ("scores of users",),
    "logs_file": ("logs of systems",),
    "map_file": ("field map", "mapped"),
    "norm_from": ("summary of systems", "run file of systems"),
    "policy_file": ("policy",),
    "prices_file": ("prices", "price table"),
    "ratings_file": ("ratings", "ratings csv", "raters", "ballots"),
    "real_users": ("real users",),
    "reference": ("run file of satisfaction", "run file of replay"),
    "rubric": ("rubric", "rubric that judges"),
    "run": ("run file", "run file of a model", "manifest", "summary"),
    "runs": ("run file", "run file of satisfaction", "run file of replay", "item set of a run"),
    "scenarios": ("scenarios",),
    "signals": ("run file of satisfaction", "manifest of satisfaction"),
    "source_file": ("source",),
    "sources": ("raters", "table of raters", "ballots", "run file", "published results"),
    "split_file": ("split",),
    "users_file": ("contexts of sessions",),
    "weights_file": ("weights",),
}
"""By setting that names a file: the cases that break it."""

NO_FILE: Final[Mapping[str, str]] = {
    "api_key_env": "the name of a variable",
    "systems": "references: what py: names, Python reads",
    "baseline": "a name",
    "candidate": "a reference: a file of replies is refused",
    "bert_score": "a folder, which transformers reads",
    "tokenizer": "a folder, which transformers reads",
    "trained": "a folder, which transformers reads",
    "base_url": "an address",
    "by": "names of columns",
    "chosen_field": "a key of records",
    "compare": "names of sources",
    "dimension": "a name",
    "dimensions": "names",
    "dissatisfied": "a rule",
    "environment": "a reference: what py: names, Python reads",
    "format": "a name",
    "gates": "conditions: the case `gate`",
    "held_out_personas": "prompts, as those of `data`: broken in tests/unit/training; or `scenarios`",
    "held_out": "rows, as those of `data`: broken in tests/unit/training",
    "id": "of a conversation",
    "judge": "a name",
    "judge_family": "a name",
    "licence": "a text",
    "model": "a reference: the case `role`; what py: and file: name, Python and transformers read",
    "models": "references, likewise",
    "junit": "a place to write to",
    "policy": "a folder, which transformers reads",
    "out": "a place to write to; what stands there is read as a run",
    "rater": "a name",
    "scale": "categories",
    "scenario": "the id of a scenario",
    "turns": "a run: as those that are compared",
    "where": "conditions on columns",
}
"""By setting that is a text and names no file to read: what it is."""

READERS: Final[Mapping[str, tuple[str, ...]]] = {
    "agents/personas.py": ("scenarios",),
    "app/annotate/folder.py": ("rating plan", "plan of pairs"),
    "app/build.py": ("source", "local model", "fitted model"),
    "app/candidates.py": ("reply file",),
    "app/judge.py": ("stored agreement",),
    "core/files.py": ("configuration", "agents"),
    "data/archives.py": ("zip file", "workbook"),
    "data/field_map.py": ("field map", "mapped"),
    "data/formats/threads.py": ("judge csv", "judge rows"),
    "data/opening.py": tuple(f"judge {name}" for name in ENDINGS),
    "data/sources.py": tuple(f"judge {name}" for name in ENDINGS),
    "data/splits.py": ("split",),
    "judges/success/multiwoz_data.py": ("goals", "venues"),
    "llm/budget.py": ("prices", "price table"),
    "llm/cache.py": ("reply cache",),
    "rubrics/load.py": ("rubric", "rubric that judges", "policy"),
    "rubrics/weights.py": ("weights",),
    "runs/directory.py": ("manifest", "summary"),
    "runs/store.py": ("run file", "notes on users", "induced criteria"),
    "studies/learning/published.py": ("published results",),
    "studies/replay/items.py": ("item set", "item set of a run"),
}
"""By module that opens files of users: the cases that break them."""

OWN_FILES: Final = frozenset(
    {
        "__main__.py",  # standard streams
        "agents/memory/feedback_aware.py",  # what it has saved itself, as those of the next three
        "agents/memory/systems.py",
        "agents/memory/trained.py",
        "agents/memory/written.py",
        "agents/memory/vendors/process.py",  # its own module, and what its process printed
        "agents/memory/vendors/worker.py",  # pipes, and connections that it refuses
        "annotate/page.py",
        "app/chat.py",  # a file to write to
        "app/outputs.py",  # a file to write to
        "llm/folder_embeddings.py",  # settings of a model; what is none is passed over
        "llm/identity.py",  # bytes, for a digest
        "core/files.py",  # what the others read through
        "data/formats/sources/__init__.py",  # the entries that ship
        "door/pytest_plugin.py",  # its own records
        "door/run.py",  # a page, shown as it stands
        "judges/known_answers.py",
        "judges/answers/judgments.py",
        "judges/local/evidence.py",
        "judges/local/model.py",
        "judges/local/roleplay.py",
        "report/html.py",
        "retrieval/ranked.py",
        "rubrics/templates.py",
        "signals/markers.py",
        "studies/learning/judged.py",
        "app/tune/compare.py",  # what `tune` has written
        "training/online.py",  # its own sessions
        "training/rollouts.py",  # the first line, to see what reads the rest
        "training/tuning.py",  # what it has written itself; of inputs a digest
        "training/row_files.py",  # what `pairs` has written
        "training/targets/llamafactory.py",  # a description of data sets, to which it adds one
        "training/targets/shards.py",
    }
)
"""Modules that open what ships with the package, or read nothing out of it."""
