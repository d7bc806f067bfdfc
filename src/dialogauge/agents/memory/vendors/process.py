"""A vendor's memory system in a process of its own: started once, and asked about each memory by its name."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, TextIO, cast
from urllib.parse import urlsplit

from dialogauge.agents.memory.foreign import as_items, called, plain_dialogue
from dialogauge.agents.memory.protocol import Feedback, Memory, Retrieved, Room, SystemFault
from dialogauge.core import Conversation, MissingExtra, Usage, UsageError, digest
from dialogauge.core.files import read_toml
from dialogauge.llm import Endpoint, Secrets, folder_digest

VENDORS: Final[Mapping[str, str]] = {
    "mem0": "facts that a model took out of dialogues, by mem0ai",
    "amem": "messages, with what a model noted of them, by A-mem",
}
"""By name what each gives to an answer; each has a module and settings of that name here, and an extra."""
_PACKAGES: Final = {
    "mem0": ("mem0ai", "2.", "Mem0Adapter", ("llm", "memory", "add", "search")),
    "amem": ("A-mem", "0.2.", "AMemAdapter", ("system",)),
}
"""By name the package on PyPI, how its version begins, what adapts it, and the tables of its settings."""
_START: Final = "from dialogauge.agents.memory.vendors.worker import main; main()"
_QUIET: Final = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MEM0_TELEMETRY": "False",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set before anything is imported: no telemetry, nothing fetched."""
_SHOWN: Final = 300
"""Characters of what a package printed last."""


@dataclass
class VendorProcess:
    """The process, with nothing of our environment but where Python finds modules; it ends with `close`."""

    setup: Mapping[str, Any]
    """`adapter`, `settings`, `model` and `embedder`, as `start_vendor` has them."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One call at a time, of all memories."""
    _asking: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Start it, and let it import its package; UsageError where that fails."""
        models = [self.setup["model"], self.setup["embedder"]]
        self._secrets = Secrets([key for model in models if (key := model.get("api_key"))])
        self._home = tempfile.TemporaryDirectory(prefix="dialogauge-", ignore_cleanup_errors=True)
        home = Path(self._home.name)
        self._printed, self.folder = home / "printed.txt", home / "memories"
        environment = {
            **_QUIET,
            "HOME": str(home),
            "MEM0_DIR": str(home),
            "OPENAI_BASE_URL": self.setup["model"]["base_url"],
            "PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path),
        }
        with self._printed.open("wb") as printed:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                env=environment,
                cwd=home,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for us; without us its input ends, and so does it
            )
        urls = [urlsplit(model["base_url"]) for model in models if model.get("base_url")]
        places = [(url.hostname, url.port or (443 if url.scheme == "https" else 80)) for url in urls]
        try:
            fault = self.ask({**self.setup, "places": places, "folder": str(self.folder)})["fault"]
        except SystemFault as ended:
            fault = str(ended)
        if fault:
            self._end()
            msg = f"{self.setup['adapter'][0]} cannot be loaded: {fault}"
            raise UsageError(msg)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it answers: `spent`, `fault`, empty where all went well, and `items`.

        Raises SystemFault where it has ended, or has not come back from another call.
        """
        if not self._asking.acquire(blocking=False):
            msg = "an earlier call of its process has not come back"
            raise SystemFault(msg)
        try:
            requests, replies = cast("TextIO", self._process.stdin), cast("TextIO", self._process.stdout)
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            reply: dict[str, Any] = json.loads(replies.readline())
        except (OSError, ValueError) as error:
            printed = self._printed.read_text("utf-8", "replace").strip()[-_SHOWN:]
            msg = f"its process ended: {self._secrets.mask(printed) or 'it printed nothing'}"
            raise SystemFault(msg) from error
        finally:
            self._asking.release()
        return {**reply, "fault": self._secrets.mask(reply["fault"] or reply.get("error") or "")}

    async def close(self) -> None:
        """End it, and remove what it kept."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._home.cleanup()


@dataclass
class VendorMemory(Memory):
    """One memory of a process."""

    process: VendorProcess
    name: str
    about: Mapping[str, Any]
    """Package, settings and models."""
    digest: str

    def __post_init__(self) -> None:
        """Take the turn of the process, and a name in it."""
        self.turn, self.memory = self.process.turn, token_hex(8)

    def describe(self) -> Mapping[str, Any]:
        """Return package, settings and models."""
        return self.about

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Let it take in a dialogue; no package takes feedback."""
        del feedback
        _, usage = await self._ask({"dialogue": plain_dialogue(conversation)})
        return usage

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Let it give items."""
        items, usage = await self._ask({"question": question, "k": room.items})
        return replace(as_items(items, self.name, room), usage=usage)

    async def _ask(self, request: Mapping[str, Any]) -> tuple[object, Usage]:
        """Return items, where any are asked for, and what its models took; SystemFault for a fault."""
        reply = await called(self.process.ask, {"memory": self.memory, **request})
        calls, prompts, completions = reply["spent"]
        usage = Usage(calls, 0, prompts, completions, None if calls else 0.0)
        if reply["fault"]:
            raise SystemFault(reply["fault"], usage)
        return reply.get("items"), usage


def start_vendor(
    system: str, file: str | None, model: Mapping[str, Any], embedder: Mapping[str, Any]
) -> tuple[VendorProcess, Callable[[str], Memory]]:
    """Start the process of a system, and return what makes empty memories, of a name.

    Args:
        system: One of `VENDORS`.
        file: A configuration in the place of ours; None for ours.
        model: `model`, `base_url` and `api_key` (or None) of the model that it asks.
        embedder: The same of a model that embeds, or `folder`.

    Raises:
        MissingExtra: Its package is not installed.
        ConfigError: The file cannot be read.
        UsageError: The package is of another series or cannot be loaded, the file has a table that the
            adapter does not take, or the embedder is one that the package cannot ask.
    """
    package, series, adapter, tables = _PACKAGES[system]
    own, install = Path(__file__).with_name(f"{system}.toml"), f"pip install 'dialogauge[{system}]'"
    try:
        installed = version(package)
    except PackageNotFoundError as error:
        msg = f"{system} needs the package {package}"
        raise MissingExtra(msg, hint=install) from error
    if not installed.startswith(series):
        msg = f"{system} is measured by {package} {series}x, and {installed} is installed"
        raise UsageError(msg, hint=install)
    settings = read_toml(own if file is None else Path(file), f"configuration of {system}")
    if unknown := sorted(settings.keys() - {*tables}):
        msg = f"{file}: {system} has no table {unknown[0]!r}"
        raise UsageError(msg, hint=f"it has {', '.join(tables)}")
    if system == "amem" and "folder" not in embedder:
        msg = "A-Mem embeds in its own process: it can ask no endpoint for vectors"
        raise UsageError(msg, hint="give the folder of a model with --role embedder=file:FOLDER")
    about = {
        "package": f"{package} {installed}",
        "settings": settings,
        "settings_digest": digest(settings),
        "model": _shown(model),
        "embedder": _shown(embedder),
    }
    made_of = [about, own.with_suffix(".py").read_text("utf-8")]
    process = VendorProcess(
        {"adapter": (system, adapter), "settings": settings, "model": model, "embedder": embedder}
    )
    return process, lambda name: VendorMemory(process, name, about, digest([name, made_of]))


def _shown(model: Mapping[str, Any]) -> dict[str, Any]:
    if "folder" in model:
        return {"folder": Path(model["folder"]).name, "digest": folder_digest(Path(model["folder"]))}
    return {"model": model["model"], "base_url": Endpoint(model["base_url"]).shown_url}
