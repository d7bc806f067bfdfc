"""Other trainers' own readers on our files: what they would train on, beside the masks of `training.masks`.

    python -m benchmarks trainers

Each trainer has an environment of its own under build/trainers, made when it is missing: torch for the CPU,
what its readers import, and the trainer itself without what it asks for beside. A reader that cannot be
loaded is a row of the table, with its error.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.process import ROOT, in_process
from benchmarks.trainers.cases import (
    dialogues,
    long_dialogues,
    long_segments,
    reply_pairs,
    save_tokenizer,
    scenarios,
    segments,
)
from dialogauge.training import DialogueTokenizer, load_dialogue_tokenizer, write_target

VERSIONS: Final = {"llamafactory": "0.9.5", "verl": "0.9.1", "openrlhf": "0.11.2"}
_FOLDER: Final = ROOT / "build" / "trainers"
_STUB: Final = ROOT / "benchmarks" / "stub.py"
_HERE: Final = Path(__file__).parent
_FITS: Final = 8_192
SESSION: Final = {"The lamp is still lit.<|im_end|>", "灯还亮着。<|im_end|>"}
"""What the engines of the readers say in a session."""


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Read our files with each trainer; print and return what agreed."""
    if quick:
        return {}
    try:
        from transformers.utils import logging
    except ImportError as error:
        print(f"not measured: {error}; `make trainers` installs it", flush=True)
        return {}
    logging.set_verbosity_error()  # of a row that is cut it says that it is long
    figures: dict[str, Any] = {"turns_per_second": speed(times)}
    for name, version in VERSIONS.items():
        rows = _checked(name, version)
        figures[name] = {"version": version, "rows": rows}
        for row in rows:
            print(f"{name} {version:8} {row['rows']:16} {row['came_to']}", flush=True)
    return figures


def speed(times: int) -> dict[str, float]:
    """Measure on one core: turns that are masked and written a second; a turn is a message and its reply."""
    model, folder = _FOLDER / "model", _FOLDER / "speed"
    save_tokenizer(model)
    figures: dict[str, float] = {}
    for target, kind, tokens in (
        ("trl", "segment", False),
        ("sharegpt", "sft", False),
        ("verl", "sft", False),
        ("llamafactory", "sft", True),
        ("llamafactory", "segment", True),
    ):
        rows = list(long_dialogues(100) if kind == "sft" else long_segments(50))
        turns = sum(len(messages) // 2 for row in rows for messages in row.values())
        seconds = []
        for _ in range(times):
            began = time.process_time()
            write_target(target, kind, rows, folder / f"{kind}.jsonl", model=model if tokens else None)
            seconds.append(time.process_time() - began)
        name = f"{target} {kind}{' in tokens' if tokens else ''}"
        figures[name] = round(turns / min(seconds))
        print(f"{name:32} {figures[name]:9,.0f} turns a second and core", flush=True)
    for count in (200, 800):
        kept = in_process("benchmarks.trainers", count)["mb"]
        figures[f"MB for {count} segments"] = kept
        print(f"{count:,} segments in tokens: {kept:.0f} MB at most", flush=True)
    return figures


def measure(count: int) -> dict[str, float]:
    """Write so many segments in tokens, and return how much memory it took at most."""
    folder = _FOLDER / "speed"
    write_target("llamafactory", "segment", long_segments(count), folder / "m.jsonl", model=_FOLDER / "model")
    return {"mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


def _checked(name: str, version: str) -> list[dict[str, Any]]:
    """Write the files of a trainer, let it read them, and say what came of each kind."""
    folder = _FOLDER / name
    save_tokenizer(folder / "model")
    expected = _write(name, folder)
    out = folder / "read.json"
    out.unlink(missing_ok=True)
    try:
        python = _environment(name, version)
        with _endpoint() as url:
            for roles in folder.glob("*.roles.toml"):
                text = re.sub("http://localhost:.*/v1", url, roles.read_text("utf-8"))
                roles.write_text(text, "utf-8")
            _call([python, _HERE / f"read_{name}.py", folder, out], folder)
    except subprocess.CalledProcessError as error:
        return [{"rows": "none", "came_to": f"NOT LOADED: {error.stderr.strip().splitlines()[-1]}"}]
    read = json.loads(out.read_text("utf-8"))
    return [{"rows": kind, "came_to": _compared(read[kind], rows, folder)} for kind, rows in expected.items()]


def _write(name: str, folder: Path) -> dict[str, list[Any]]:
    """Write what a trainer takes; return by file what it is to read."""
    tokenizer = load_dialogue_tokenizer(folder / "model", _FITS)

    def write(kind: str, rows: Any, file: str, *, tokens: bool = False) -> None:  # noqa: ANN401
        model = folder / "model" if tokens else None
        write_target(name, kind, rows, folder / f"{file}.jsonl", model=model)

    plain = [row for row in dialogues() if "tools" not in row]
    if name != "llamafactory":
        write("sft", dialogues(), "sft")
        write("rl", scenarios(), "rl")
        return {
            "sft": [_labels(tokenizer, row) for row in plain],
            "rl": list(scenarios()),
            "session": [SESSION],
        }
    write("sft", dialogues(), "sft")
    write("dpo", reply_pairs(), "dpo")
    write("sft", dialogues(), "sft_tokens", tokens=True)
    write("segment", segments(), "segment", tokens=True)
    return {
        "sft": [_labels(tokenizer, row) for row in plain],
        "dpo": [_labels(tokenizer, row) for row in reply_pairs()],
        "sft_tokens": [_labels(tokenizer, row) for row in dialogues()],
        "segment": [_labels(tokenizer, row) for row in segments()],
    }


def _labels(tokenizer: DialogueTokenizer, row: dict[str, Any]) -> list[dict[str, list[str]]]:
    """Return of each side what is trained on, one text for each turn of the character."""
    if "messages" in row:
        sides = [tokenizer.encode(row["messages"], tools=row.get("tools"))]
    else:
        sides = list(tokenizer.pair(row["prompt"], row["chosen"], row["rejected"]))
    return [{"labels": side.labels, "ids": side.ids} for side in sides]


@contextmanager
def _endpoint() -> Iterator[str]:
    """Serve a model that plays users and judges; yield its URL."""
    command = [sys.executable, str(_STUB), "--latency", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _compared(read: list[Any], expected: list[Any], folder: Path) -> str:
    """Say whether what a reader trains on is what we would."""
    if len(read) != len(expected):
        return f"DIFFERS: {len(read)} rows of {len(expected)}"
    tokenizer = load_dialogue_tokenizer(folder / "model")
    if expected == [SESSION]:
        said = set(_turns(tokenizer, read[0]["labels"]))
        held = said == SESSION and isinstance(read[0]["reward"], float)
        number = len(_turns(tokenizer, read[0]["labels"]))
        return f"{'' if held else 'DIFFERS: '}{number} replies as they were sampled, and a reward"
    if expected and isinstance(expected[0], dict):
        return _prompts(read, expected)
    verdicts: Counter[str] = Counter()
    for sides, ours in zip(read, expected, strict=True):
        for side, own in zip(sides, ours, strict=True):
            verdicts[_verdict(tokenizer, side["labels"], own["labels"])] += 1
    return ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())


def _verdict(tokenizer: DialogueTokenizer, theirs: list[int], ours: list[int]) -> str:
    if theirs == ours:
        return "the same labels at the same places"
    texts = [_turns(tokenizer, labels) for labels in (theirs, ours)]
    if texts[0] == texts[1]:
        return "the same labels"
    if [text.removesuffix("\n") for text in texts[0]] == texts[1]:
        return "the same labels, and the line break behind a turn"
    return f"DIFFERENT labels: {texts[0]} for {texts[1]}"


def _turns(tokenizer: DialogueTokenizer, labels: list[int]) -> list[str]:
    """Return the trained text, turn by turn."""
    turns, run = [], list[int]()
    for label in [*labels, -100]:
        if label != -100:
            run.append(label)
        elif run:
            turns.append(tokenizer.tokenizer.decode(run))
            run = []
    return turns


def _prompts(read: list[Any], expected: list[Any]) -> str:
    for one, row in zip(read, expected, strict=True):
        scenario = one["scenario"]
        scenario = json.loads(scenario) if isinstance(scenario, str) else scenario
        if scenario != row["scenario"] or one["prompt"] != row["prompt"]:
            return f"DIFFERS: {one} for {row}"
    return f"{len(read)} prompts and scenarios as they were written"


def _environment(name: str, version: str) -> Path:
    """Return the Python of a trainer's environment; made anew where what it needs has changed."""
    folder = _FOLDER / "environments" / name
    python, marker = folder / "bin" / "python", folder / "made_of.txt"
    made_of = f"{name}=={version}\n{(_HERE / f'{name}.txt').read_text('utf-8')}"
    if marker.is_file() and marker.read_text("utf-8") == made_of:
        return python
    _call([Path(sys.executable), "-m", "venv", "--clear", folder], ROOT)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*install, "-r", _HERE / f"{name}.txt"], ROOT)
    _call([*install, "--no-deps", f"{name}=={version}"], ROOT)
    _call([*install, "-e", ROOT], ROOT)  # our loops run in theirs
    marker.write_text(made_of, "utf-8")
    return python


def _call(words: list[Any], folder: Path) -> None:
    subprocess.run([str(word) for word in words], cwd=folder, check=True, capture_output=True, text=True)
