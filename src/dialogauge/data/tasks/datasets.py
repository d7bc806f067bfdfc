"""The public forms of tasks: by which keys a row of each is known, and what our record takes from it.

Forms, as their authors publish them (text of theirs is in none of our files):

* MemoryBench: rows of THUIR/MemoryBench, and its `corpus/NAME.jsonl`, for all 19 subsets
* LoCoMo: snap-research/locomo, `locomo10.json`
* DialSim: scripts of github.com/jiho283/Simulator, cut at `[Date: DAY, Session #N]`
* HelloBench: Quehry/HelloBench, `data/main_data/*.jsonl`
* WritingBench: X-PLUG/WritingBench, `benchmark_query`
* WritingPrompts: rows with `prompt` and `story`
* NF-CATS: Lurunchik/NF-CATS, `nfcats/data/test.csv`
* JuDGE: oneal2000/JuDGE, `all.json` and `train.json` or `test.json`
* LexEval: CSHaitao/LexEval, `5_1.json`, `5_2.json` and `5_4.json`: the name says the subset
* IdeaBench: amir-hassan25/IdeaBench, `target_papers.csv` with `filtered_references.csv` beside it
* SciTechNews: ronaldahmed/scitechnews, and what JRE-L took of it
* LimitGen: yale-nlp/LimitGen, `annotated/CATEGORY/PAPER.json` with `sections/CATEGORY.json` above it
* LongMemEval: xiaowu0162/LongMemEval, each question with a corpus of its own
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialogauge.core import FileFault, InputError, Place, RecordFault
from dialogauge.data.json_values import json_values, written_value
from dialogauge.data.notes import excerpt
from dialogauge.data.opening import InputSource
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import open_table
from dialogauge.data.tasks.partitions import DATASETS, LOCOMO_CATEGORIES
from dialogauge.data.tasks.record import whole
from dialogauge.text import detect_language

_CONVERSATIONS: Final = (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)
"""Of LoCoMo: MemoryBench calls them Locomo-0 to Locomo-9."""
_SHORT: Final = {
    "Academic&Knowledge": "A.K.",
    "Academic&Engineering": "A.E.",
    "Creative&Design": "C.D.",
    "Politics&Law": "P.L.",
    "NFCats": "NF-CATS",
}
_SUBSETS: Final = {
    "A.K.-QA": "open_ended_qa science_problem_solve",
    "A.K.-Writing": "academic_article academic_write argumentative_writing keyword_writing",
    "C.D.": "text_completion curriculum_development character_creation idea_generation creative_write "
    "script_write continue_write guide_generation roleplaying_writing screenplay_writing story_writing",
}
"""Of HelloBench: files and categories."""
_WRITING: Final = {
    "Academic & Engineering": "A.E.",
    "Politics & Law": "P.L.",
    **dict.fromkeys(("Literature & Arts", "Education", "Advertising & Marketing"), "C.D."),
}
"""By first domain."""
_LEXEVAL: Final = {"5_1": "Summarization", "5_2": "Judge", "5_4": "QA"}
_ASPECTS: Final = {
    "methodology": "data inappropriate",
    "experimental design": "baseline dataset replace ablation",
    "result analysis": "metric analysis",
    "literature review": "citation review description",
}
"""Of a paper: the categories of what is wrong with it."""
_SESSION: Final = re.compile(r"^\[Date: (.+?), Session #\d+\]\s*$", re.MULTILINE)
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")
"""In six lists of LoCoMo ids are run together or misspelt: `D8:6; D9:17`, `D:11:26`."""
_TAG: Final = re.compile(r"\s*\[[^\]]*\]\s*")

Records = Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class PublicRow:
    """A row of a file, of whatever form."""

    value: dict[str, Any]
    place: Place
    source: InputSource
    number: int
    """In its file, from 0."""
    beside: dict[str, Any]
    """What was read of files beside it, by name."""

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        return self.value[key]

    @property
    def stem(self) -> str:
        """The name of the file without its ending."""
        return self.source.label.rpartition("/")[2].partition(".")[0]


Part = str | Callable[[PublicRow], Any]
"""A field of a row, or what is made of the row."""
Form = tuple[str, Callable[[PublicRow], Records]]
"""The keys that its rows have, and what makes our records of one."""
_IDS: Final = ("id", "index", "text_id", "CaseId", "paperId")


def our_records(row: PublicRow) -> Records:
    """Yield a row as records of our form: corpora and tasks; one of our form as it is.

    Raises `RecordFault` for one that has the keys of a public form and other things in them.
    """
    keys = row.value.keys()
    forms = () if {"q", "corpus_id"} & keys else FORMS.items()
    name = next((name for name, (needs, _) in forms if set(needs.split()) <= keys), None)
    if name is None:
        yield row.value
        return
    try:
        yield from FORMS[name][1](row)
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        msg = f"this has the keys of {name} and cannot be read: {type(error).__name__} {excerpt(str(error))}"
        raise RecordFault(msg, place=row.place, hint="is it as its authors publish it?") from error


def published_task(name: str, index: int) -> tuple[str, str]:
    """Return our name of a data set of MemoryBench, and of its task of an index there.

    The index is a position in MemoryBench's own order, so its tasks are `NAME/#INDEX`; of LoCoMo it is the
    position in the conversation, as in our ids.
    """
    if name.startswith("Locomo-") and name[7:].isdecimal() and int(name[7:]) < len(_CONVERSATIONS):
        return "LoCoMo", f"LoCoMo/conv-{_CONVERSATIONS[int(name[7:])]}-{index}"
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    return name, f"{name}/#{index}"


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value that some files hold as a text, of JSON or as Python prints it; other texts stay."""
    try:
        return written_value(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


def _record(
    id: str,
    question: object,
    gold: Mapping[str, Any],
    corpus: str | None = None,
    **more: object,
) -> dict[str, Any]:
    dataset = id.partition("/")[0]
    known = DATASETS.get(dataset)
    return {
        "id": id,
        "dataset": dataset,
        "q": question.strip() if isinstance(question, str) else question,
        "v": {key: value for key, value in gold.items() if value is not None},
        "c": corpus,
        "domain": known and known.domain,
        "task": known and known.form,
        **more,
    }


def _fields(
    keys: str, dataset: Part, question: Part, gold: Mapping[str, Part], lang: str = "en", **meta: Part
) -> Form:
    """Return a form whose rows are tasks, and the parts of a task fields of its row, or made of it.

    A row without any of `_IDS` has its number; one without `lang` the language, or that of its question.
    """

    def taken(row: PublicRow, part: Part) -> Any:  # noqa: ANN401 - any JSON value
        return part(row) if callable(part) else row.value.get(part)

    def records(row: PublicRow) -> Records:
        subset, asked = dataset(row) if callable(dataset) else dataset, taken(row, question)
        yield _record(
            f"{subset}/{next((row[key] for key in _IDS if key in row.value), row.number)}",
            asked,
            {key: taken(row, part) for key, part in gold.items()},
            lang=row.value.get("lang") or lang or detect_language(str(asked)),
            meta={key: taken(row, part) for key, part in meta.items()},
        )

    return keys, records


def _session(number: int, date: object, turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    messages = [
        {"id": one.get("dia_id", f"D{number}:{n}"), "speaker": one["speaker"], "text": one["text"].strip()}
        for n, one in enumerate(turns, 1)
    ]
    return {"session": number, "date_time": date, "messages": messages}


def _locomo(row: PublicRow) -> Records:
    yield _talk(row["sample_id"], row["conversation"])
    for number, one in enumerate(row["qa"]):
        yield _locomo_task(f"LoCoMo/{row['sample_id']}-{number}", one["question"], one)


def _talk(name: str, talk: Mapping[str, Any]) -> dict[str, Any]:
    """Return a conversation of LoCoMo as a corpus; dates without a session are passed over."""
    keys = (key for key, turns in talk.items() if key.startswith("session_") and isinstance(turns, list))
    sessions = [
        _session(n, talk.get(f"session_{n}_date_time"), talk[f"session_{n}"])
        for n in sorted(int(key[8:]) for key in keys)
    ]
    return {"corpus_id": name, "sessions": sessions}


def _locomo_task(id: str, question: str, gold: Mapping[str, Any]) -> dict[str, Any]:
    answer, known = gold.get("answer"), LOCOMO_CATEGORIES.get(gold["category"])
    ours = {
        "category": gold["category"],
        "category_name": known and known[0],
        "evidence": [f"D{int(n)}:{int(turn)}" for n, turn in _EVIDENCE.findall(" ".join(gold["evidence"]))],
        "adversarial_answer": gold.get("adversarial_answer"),
        "answer": None if answer is None else str(answer),
    }
    return _record(id, question, ours, id.partition("/")[2].rpartition("-")[0])


def _published(row: PublicRow) -> Records:
    """Take a row of MemoryBench or of our logs: the bare question where there is one, `info` as the gold."""
    gold, get = dict(plain(row["info"])), row.value.get
    dataset, id = published_task(row["dataset_name"], row["test_idx"])
    question = get("origin_question") or get("input_prompt") or plain(row["input_chat_messages"])
    if dataset != "LoCoMo" or "task_id" in row.value:
        corpus = dataset if dataset.startswith("DialSim-") else None
        yield _record(get("task_id", id), question, gold, corpus, lang=get("lang"))
        return
    gold["answer"] = gold["golden_answer"]
    if gold["category"] == 5:  # two options, of which one is that it is not mentioned
        options = plain(gold.pop("answer")).values()
        gold["adversarial_answer"] = "".join(o for o in options if not o.startswith("Not mentioned"))
    yield _locomo_task(id, question, {**gold, "evidence": [turn["dia_id"] for turn in gold["evidence"]]})


def _corpus_text(row: PublicRow) -> Records:
    """Take a script of DialSim, or a conversation of LoCoMo in MemoryBench, from its text."""
    text, name = row["text"], row.stem
    if text.lstrip().startswith("{"):
        corpus = published_task(name, 0)[1].partition("/")[2].rpartition("-")[0]
        yield _talk(corpus, json.loads(text)["conversation"])
        return
    show = next((show for show in ("friends", "bigbang", "theoffice") if show in name), None)
    parts = _SESSION.split(text)
    sessions = [
        _session(n, date, [_spoken(line) for line in lines.splitlines() if ":" in line])
        for n, (date, lines) in enumerate(zip(parts[1::2], parts[2::2], strict=True), 1)
    ]
    if not sessions:
        msg = "there is no line [Date: DAY, Session #N]"
        raise ValueError(msg)
    yield {"corpus_id": f"DialSim-{show}" if show else name, "sessions": sessions}


def _spoken(line: str) -> dict[str, str]:
    speaker, _, text = line.partition(":")
    return {"speaker": speaker.strip(), "text": text}


def _longmemeval(row: PublicRow) -> Records:
    """Take a question with its sessions by date; who answers is told the day, which some questions need."""
    name, parts = row["question_id"], ("haystack_dates", "haystack_session_ids", "haystack_sessions")
    dated = sorted(zip(*map(row.__getitem__, parts), strict=True), key=lambda one: one[0])
    sessions, evidence, whole_sessions = [], [], []
    for number, (date, id, turns) in enumerate(dated, 1):
        spoken = [{"speaker": one["role"], "text": one["content"]} for one in turns]
        sessions.append(_session(number, date, spoken))
        evidence += [f"D{number}:{turn}" for turn, one in enumerate(turns, 1) if one.get("has_answer")]
        whole_sessions += [f"{name}/D{number}"] if id in row["answer_session_ids"] else []
    yield {"corpus_id": name, "sessions": sessions}
    day = {"role": "system", "content": f"Today is {row['question_date']}."}
    gold = {"answer": str(row["answer"]), "category": row["question_type"], "evidence": evidence}
    question = [day, {"role": "user", "content": row["question"]}]
    yield _record(f"LongMemEval/{name}", question, {**gold, "evidence_sessions": whole_sessions}, name)


def _hello_file(row: PublicRow) -> str:
    return str(row["id"]).rpartition("_")[0]


def _hello(row: PublicRow) -> str:
    names = {_hello_file(row), row["category"]}
    subsets = (f"HelloBench-{s}" for s, words in _SUBSETS.items() if names & set(words.split()))
    return next(subsets, "HelloBench")


def _limitgen(row: PublicRow) -> Records:
    """Take a paper: its folder is its category, and what is wrong with it stands in a file beside that."""
    category, id = (row.source.path or Path()).parent.name, row.source.label.rpartition("/")[2][:-5]
    (labels,) = _beside(row, f"sections/{category}.json", 2, lambda file: [*map(whole, json_values(file))])
    sections = (f"{s['section_id']} {s['section_name']}:\n{s['text']}\n\n" for s in row["sections"])
    gold = {
        "category": category,
        "aspect": next((aspect for aspect, words in _ASPECTS.items() if category in words.split()), None),
        "ground_truth": labels.value[id]["ground_truth"],
    }
    text = f"Title: {row['title']}\nAbstract: {row['abstract']}\n{''.join(sections)}"
    yield _record(f"LimitGen-Syn/{category}/{id}", text, gold)


def _beside(row: PublicRow, name: str, above: int, read: Callable[[LineStream], Any]) -> Any:  # noqa: ANN401
    """Return what is read, once, of a file beside that of a row, or up to so many folders above it."""
    if name not in row.beside:
        source = row.source.beside(name, above)
        if source is None:
            msg = f"this needs {name}, which is not beside it"
            raise FileFault(msg, place=Place(row.source.name), hint="keep the files together, as published")
        row.beside[name] = read(LineStream(source))
    return row.beside[name]


def _references(row: PublicRow) -> str | None:
    """Return abstracts of what a paper of IdeaBench cites: the first three that there are; None for none."""
    name = f"{row.stem.replace('target_papers', 'filtered_references')}.csv"
    cited = _beside(row, name, 0, _by_paper).get(row["paperId"], ())
    return "\n\n".join(f"Abstract {n}: {text}" for n, text in enumerate(cited[:3], 1)) or None


def _by_paper(file: LineStream) -> dict[str, list[str]]:
    cited: dict[str, list[str]] = {}
    for one in open_table(file).rows:
        cells = whole(one).cells
        if abstract := cells["abstract"].strip():
            cited.setdefault(cells["targetPaperId"], []).append(abstract)
    return cited


FORMS: Final[Mapping[str, Form]] = {
    "MemoryBench": ("test_idx dataset_name info", _published),
    "LoCoMo": ("sample_id conversation qa", _locomo),
    "LongMemEval": ("question_id question haystack_sessions", _longmemeval),
    "LimitGen": ("title abstract sections", _limitgen),
    "HelloBench": _fields(
        "id category instruction formatted_checklists",
        _hello,
        "instruction",
        {"checklist": lambda row: plain(row["formatted_checklists"])},
        source_file=_hello_file,
    ),
    "WritingBench": _fields(
        "index query checklist domain1",
        lambda row: f"WritingBench-{_WRITING.get(row['domain1'], row['domain1'])}",
        "query",
        {"criteria": "checklist"},
        "",
        domain1="domain1",
    ),
    "WritingPrompts": _fields(
        "prompt story",
        "WritingPrompts",
        lambda row: _TAG.sub("", row["prompt"], 1),
        {"golden_answer": "story"},
    ),
    "JuDGE": _fields("text_id text fd", "JuDGE", "text", {"golden_answer": "fd", "law_articles": "la"}, "zh"),
    "JuDGE by parts": _fields(
        "CaseId Fact",
        "JuDGE",
        "Fact",
        {"golden_answer": "Full Document", "law_articles": "Law Articles"},
        "zh",
    ),
    "LexEval": _fields(
        "instruction input answer",
        lambda row: f"LexEval-{_LEXEVAL.get(row.stem, row.stem)}",
        lambda row: row["instruction"] + row["input"],
        {"golden_answer": "answer"},
        "zh",
    ),
    "IdeaBench": _fields(
        "paperId title abstract", "IdeaBench", _references, {"title": "title", "abstract": "abstract"}
    ),
    "SciTechNews": _fields(
        "sc-title sc-abstract pr-summary",
        "JRE-L",
        lambda row: f"{row['sc-title']}\n{' '.join(row['sc-abstract'].split(' ')[:1024])}",
        {"title": "pr-title", "golden_answer": "pr-summary"},
    ),
    "NF-CATS": _fields("annotated_by category question", "NF-CATS", "question", {"category": "category"}),
    "a script or a conversation as text": ("text", _corpus_text),
}
"""By name. The first whose keys a row has is taken."""
