"""A memory of your own behind HTTP, in ten lines; any language will do.

    python memory_server.py &
    dialogauge learn run --system http://127.0.0.1:8765

`POST /add` takes a dialogue in, `POST /retrieve` gives items for a question. One server holds several
memories, each under its name.
"""

from __future__ import annotations

from collections import defaultdict

from aiohttp import web
from own_memory import WordMemory

MEMORIES: defaultdict[str | None, WordMemory] = defaultdict(WordMemory)
routes = web.RouteTableDef()


@routes.post("/add")
async def add(request: web.Request) -> web.Response:
    """Take in `{"memory": name, "dialogue": ...}`."""
    asked = await request.json()
    MEMORIES[asked.get("memory")].add_dialogue(asked["dialogue"])
    return web.json_response({})


@routes.post("/retrieve")
async def retrieve(request: web.Request) -> web.Response:
    """Answer `{"memory": name, "question": text, "k": most items}` with `{"items": [...]}`."""
    asked = await request.json()
    items = MEMORIES[asked.get("memory")].retrieve(asked["question"], asked["k"])
    return web.json_response({"items": items})


def app() -> web.Application:
    """Return the server."""
    made = web.Application()
    made.add_routes(routes)
    return made


if __name__ == "__main__":
    web.run_app(app(), host="127.0.0.1", port=8765)
