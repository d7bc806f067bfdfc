"""Starts one of the servers with the tiny model, and waits until it answers."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import environment
from benchmarks.servers.model import TinyModel
from servers.openai_stub import OpenAIStub
from servers.tiny_model import ModelReply

__all__ = ["SERVERS", "Server", "started", "version_of"]

_START_S = 180.0
_ALONE = {
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
"""The servers reach nothing beyond this machine, and need no key."""
_WIDE, _NARROW = 16_384, 4_096
_LITELLM = """
model_list:
  - model_name: tiny
    litellm_params: {{model: openai/tiny, api_base: "{url}", api_key: none}}
litellm_settings: {{telemetry: false}}
"""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    name: str
    url: str
    model: str
    """As requests name it."""
    grammar: bool
    """Whether it holds replies to a schema."""
    context: int | None
    """Tokens that it takes; None where it does not look."""


@dataclass(frozen=True)
class _Kind:
    package: str
    command: Callable[[Path, TinyModel, int, int, Path], list[str]]
    model: Callable[[TinyModel], str]
    grammar: bool = True
    narrow: bool = True
    """Whether it can be started with a small context."""


def _llama_cpp(python: Path, model: TinyModel, port: int, context: int, _: Path) -> list[str]:
    script = Path(__file__).with_name("llama_cpp_server.py")
    return [str(python), str(script), str(model.gguf), str(port), str(context)]


def _llama_cpp_python(python: Path, model: TinyModel, port: int, context: int, _: Path) -> list[str]:
    words = ["--model", model.gguf, "--host", "127.0.0.1", "--port", port, "--n_ctx", context]
    return [str(python), "-m", "llama_cpp.server", *map(str, words)]


def _transformers(python: Path, model: TinyModel, port: int, _: int, __: Path) -> list[str]:
    words = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", str(model.folder)]
    return [str(python.with_name("transformers")), "serve", *words]


def _litellm(python: Path, _: TinyModel, port: int, __: int, config: Path) -> list[str]:
    words = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    return [str(python.with_name("litellm")), *words]


SERVERS: dict[str, _Kind] = {
    "llama.cpp": _Kind("xllamacpp", _llama_cpp, lambda model: model.gguf.name),
    "llama-cpp-python": _Kind("llama-cpp-python", _llama_cpp_python, lambda model: str(model.gguf)),
    "transformers-serve": _Kind(
        "transformers", _transformers, lambda model: str(model.folder), grammar=False, narrow=False
    ),
    "litellm": _Kind("litellm", _litellm, lambda _: "tiny", narrow=False),
}


def version_of(name: str, python: Path) -> str:
    """Return package and version of a server."""
    package = SERVERS[name].package
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return f"{package} {done.stdout.strip()}"


@contextlib.contextmanager
def started(
    name: str, python: Path, model: TinyModel, folder: Path, *, narrow: bool = False
) -> Iterator[Server | None]:
    """Run a server while the context lasts; None where it cannot be had with a small context."""
    kind = SERVERS[name]
    if narrow and not kind.narrow:
        yield None
        return
    context = _NARROW if narrow else _WIDE
    with contextlib.ExitStack() as stack:
        config = folder / "litellm.yaml"
        if name == "litellm":
            stub = stack.enter_context(OpenAIStub(ModelReply(model.folder), threaded=True))
            config.write_text(_LITELLM.format(url=stub.url), encoding="utf-8")
        port = _free_port()
        log = stack.enter_context((folder / f"{name}.log").open("ab"))
        process = subprocess.Popen(
            kind.command(python, model, port, context, config),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=environment(**_ALONE),
        )
        stack.callback(_end, process)
        url = f"http://127.0.0.1:{port}/v1"
        asked_as = kind.model(model)
        _wait_until_it_answers(url, asked_as, process)
        limit = None if name == "litellm" else context
        yield Server(name, url, asked_as, kind.grammar, limit)


def _wait_until_it_answers(url: str, model: str, process: subprocess.Popen[bytes]) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4}
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError),
            urllib.request.urlopen(request, timeout=_START_S),
        ):
            return
        time.sleep(0.5)
    raise RuntimeError(f"the server does not answer at {url}; see its log")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
