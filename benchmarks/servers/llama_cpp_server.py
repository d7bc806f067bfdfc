"""Runs the HTTP server of llama.cpp that the package xllamacpp carries, until its input ends.

python benchmarks/servers/llama_cpp_server.py FILE.gguf PORT CONTEXT
"""

from __future__ import annotations

import sys

import xllamacpp


def main(file: str, port: int, context: int) -> None:
    """Serve the model with a context of so many tokens for each of two requests at once."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.n_ctx = 2 * context
    parameters.n_parallel = 2
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    server = xllamacpp.Server(parameters)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
