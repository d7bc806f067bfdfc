"""The process in which a vendor's package runs: JSON lines in, JSON lines out.

What the package prints goes to a file, in Python and below; it reads nothing. A connection to any place but
the endpoints that are named for it is refused, whichever thread of it opens one, and is a fault.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ITEMS: Final = 20
"""Asked of a package where tokens alone bound the room."""


def spoken(dialogue: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the messages that say something, each with its position."""
    roles, texts = ("user", "assistant"), ((n, m) for n, m in enumerate(dialogue["messages"]))
    return [(n, m) for n, m in texts if m["role"] in roles and str(m.get("content") or "").strip()]


class Watch:
    """Sees where a package connects to, and what it sends by httpx, which OpenAI's client is made of."""

    def __init__(self, places: list[list[Any]]) -> None:
        """Watch from now on; the host and port of each place may be reached."""
        self._hosts, self._places = {host for host, _ in places}, {(host, port) for host, port in places}
        self._refused, self._failed, self._spent = list[str](), dict[str, str](), [0, 0, 0]
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
        """Return calls, tokens in and tokens out since the last time, and the first word that was broken."""
        fault = next(iter(self._refused), None) or next(iter(self._failed.values()), None)
        spent, self._spent, self._refused, self._failed = self._spent, [0, 0, 0], [], {}
        return {"spent": spent, "fault": fault}

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if event in ("socket.getaddrinfo", "socket.gethostbyname"):
            place = args[0].decode() if isinstance(args[0], bytes) else args[0]
            known = place is None or place in self._hosts
        elif event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(args[-1], tuple):
            place, known = ":".join(map(str, args[-1][:2])), args[-1][:2] in self._places
        else:  # other sockets are files of this machine
            return
        if not known:
            self._refused.append(f"it connects to {place}, which is none of its endpoints")
            raise ConnectionRefusedError(self._refused[-1])

    def _counting(self, send: Any) -> Any:  # noqa: ANN401
        def counted(client: Any, request: Any, **more: Any) -> Any:  # noqa: ANN401
            path = request.url.path
            self._spent[0] += 1
            self._failed[path] = f"its endpoint gave no answer for {path}"
            response = send(client, request, **more)
            if response.status_code >= 400:
                self._failed[path] = f"its endpoint gave HTTP {response.status_code} for {path}"
                return response
            del self._failed[path]  # a second try mends what failed before
            usage = {} if more.get("stream") else response.json().get("usage") or {}
            for place, key in enumerate(("prompt_tokens", "completion_tokens"), 1):
                self._spent[place] += usage.get(key) or 0
            return response

        return counted


def main() -> None:
    """Answer a first line, which says what to load, and then requests for memories, until there are no more.

    A memory is opened with its first request, in a new folder of its own.
    """
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    setup: dict[str, Any] = {}
    memories = dict[str, Any]()
    for line in requests:
        request, reply = json.loads(line), dict[str, Any]()
        if not setup:
            setup, watch = request, Watch(request["places"])
        try:
            module, adapter = setup["adapter"]
            adapter = getattr(import_module(f"{__package__}.{module}"), adapter)
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
    os._exit(0)  # no thread of the package keeps it
