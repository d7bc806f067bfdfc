"""The process in which a vendor's package runs: JSON lines in, JSON lines out.

What the package prints goes to a file, in Python and below; it reads nothing. A connection to any place but
the endpoints that are named for it is refused, whichever thread of it opens one, and is a fault.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TextIO

ITEMS: Final = 20
"""Asked of a package where tokens alone bound the room."""
_REACHING: Final = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKING_UP: Final = ("socket.getaddrinfo", "socket.gethostbyname")


def said(dialogue: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield position, and `role`, `speaker`, `text` and `shown`, of the messages that say something."""
    date = f"[{dialogue['date']}] " if dialogue["date"] else ""
    for position, message in enumerate(dialogue["messages"]):
        text, role = message.get("content"), message["role"]
        if role in ("user", "assistant") and isinstance(text, str) and text.strip():
            speaker = message.get("name") or role
            shown = f"{date}{text}" if speaker == role else f"{date}{speaker}: {text}"
            yield position, {"role": role, "speaker": speaker, "text": text, "shown": shown}


class Watch:
    """Sees where a package connects to and what it sends by httpx, which OpenAI's client is made of."""

    def __init__(self, places: list[list[Any]]) -> None:
        """Watch from now on; the host and port of each place may be reached."""
        self._places = {(host, port) for host, port in places}
        self._hosts = {host for host, _ in self._places}
        self._refused = list[str]()
        self._failed = dict[str, str]()
        self._spent = [0, 0, 0]
        look_up = socket.getaddrinfo

        def noted(host: Any, port: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401
            addresses = look_up(host, port, *args, **more)
            if (host, port) in self._places:
                self._places |= {address[:2] for *_, address in addresses}
            return addresses

        socket.getaddrinfo = noted
        sys.addaudithook(self._see)
        for name in ("httpx", "httpx2"):
            try:
                client = import_module(name).Client
            except ImportError:
                continue
            client.send = self._counting(client.send)

    def taken(self) -> dict[str, Any]:
        """Return calls, tokens of prompts and of completions since the last time, and what was broken."""
        fault = None
        if self._refused:
            fault = f"it connects to {self._refused[0]}, which is none of its endpoints"
        elif self._failed:
            path, problem = next(iter(self._failed.items()))
            fault = f"its endpoint gave {problem} for {path}"
        spent, self._spent, self._refused, self._failed = self._spent, [0, 0, 0], [], {}
        return {"spent": spent, "fault": fault}

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _LOOKING_UP:
            host = args[0].decode() if isinstance(args[0], bytes) else args[0]
            known = host is None or host in self._hosts
        elif event in _REACHING and isinstance(args[-1], tuple):  # others are sockets of this machine's files
            host, known = f"{args[-1][0]}:{args[-1][1]}", args[-1][:2] in self._places
        else:
            return
        if not known:
            self._refused.append(str(host))
            msg = f"{host} is no endpoint of this run"
            raise ConnectionRefusedError(msg)

    def _counting(self, send: Any) -> Any:  # noqa: ANN401
        def counted(client: Any, request: Any, **more: Any) -> Any:  # noqa: ANN401
            path = request.url.path
            self._spent[0] += 1
            self._failed[path] = "no answer"
            response = send(client, request, **more)
            if response.status_code < 400:
                del self._failed[path]  # a retry may mend what failed before
                usage = {} if more.get("stream") else response.json().get("usage") or {}
                self._spent[1] += usage.get("prompt_tokens") or 0
                self._spent[2] += usage.get("completion_tokens") or 0
            else:
                self._failed[path] = f"HTTP {response.status_code}"
            return response

        return counted


def _serve(requests: TextIO, replies: TextIO) -> None:
    """Answer a first line, which says what to load, and then requests for memories, until there are no more.

    A memory is opened with its first request, in a new folder of its own.
    """
    setup: dict[str, Any] = {}
    memories = dict[str, Any]()
    for line in requests:
        request, reply = json.loads(line), dict[str, Any]()
        if not setup:
            setup, watch = request, Watch(request["places"])
        try:
            adapter = import_module(f"{__package__}.{setup['system']}").Adapter
            if (name := request.get("memory")) is not None and name not in memories:
                folder = Path(setup["folder"], name)
                folder.mkdir(parents=True)  # raises where it would hold the memory of another run
                memories[name] = adapter(folder, setup)
            if "dialogue" in request:
                memories[name].add(request["dialogue"])
            elif "question" in request:
                reply["items"] = memories[name].retrieve(request["question"], request["k"])
        except BaseException as error:  # noqa: BLE001 - foreign code
            reply["error"] = f"{type(error).__name__}: {error}"
        replies.write(json.dumps(reply | watch.taken()) + "\n")
        replies.flush()


def main() -> None:
    """Keep standard input and output to ourselves, and serve."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _serve(requests, replies)
    os._exit(0)  # threads of the package do not keep it
