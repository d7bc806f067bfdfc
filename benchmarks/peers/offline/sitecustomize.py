"""Python loads this first: what would leave the machine is refused, and written to the file NETWORK_LOG."""

import os
import sys

_HERE = {"localhost", "127.0.0.1", "::1", "0.0.0.0", ""}


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = args[0].decode() if isinstance(args[0], bytes) else args[0]
    elif event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    if host is None or str(host) in _HERE:
        return
    with open(os.environ["NETWORK_LOG"], "a") as log:  # noqa: PTH123 - pathlib may not be loaded yet
        log.write(f"{host}\n")
    raise OSError(f"{host} is beyond this machine")


sys.addaudithook(_refuse)
