"""Tiny packages of the names and calls of vendors' memory systems: what they do wrong, `[add] does` says."""

from __future__ import annotations

import importlib
from pathlib import Path

MEM0 = """
import os, socket, threading, urllib.request
import httpx

class Memory:
    @classmethod
    def from_config(cls, config):
        memory = cls()
        memory.model, memory.facts = config["llm"]["config"], []
        return memory

    def add(self, messages, *, user_id, metadata, does="", infer=True):
        print("a notice of the vendor")
        os.write(1, b"and one from below Python")
        if does == "ends":
            os._exit(3)
        if does == "throws":
            raise SystemExit(self.model["api_key"])
        if does == "looks up":
            try:
                socket.getaddrinfo("telemetry.example", 443)
            except OSError:
                pass  # as telemetry does
        if does == "connects":
            def phone_home():
                with socket.socket() as phone:
                    phone.connect_ex(("127.0.0.1", 9))
            thread = threading.Thread(target=phone_home)
            thread.start()
            thread.join()
        texts = [m["content"] for m in messages]
        reply = httpx.Client().send(httpx.Request(self.model["openai_base_url"] + "/chat/completions", texts))
        owner = "somebody" if does == "mixes up" else user_id
        self.facts += [{"memory": t, "user_id": owner, "metadata": metadata, "score": 1.0} for t in texts]

    def search(self, question, *, filters, top_k, threshold):
        assert (filters.keys(), threshold) == ({"user_id"}, 0.0)
        return {"results": self.facts[:top_k]}
"""
HTTPX = """
import json, urllib.error, urllib.request
from urllib.parse import urlsplit

class Request:
    def __init__(self, url, texts):
        self.address, self.url = url, urlsplit(url)
        body = {"model": "m", "messages": [{"role": "user", "content": t} for t in texts]}
        self.data = json.dumps(body).encode()

class Response:
    def __init__(self, status_code, body):
        self.status_code, self.body = status_code, body

    def json(self):
        return json.loads(self.body)

class Client:
    def send(self, request, **more):
        head = {"Content-Type": "application/json"}
        try:
            asked = urllib.request.Request(request.address, request.data, head)
            with urllib.request.urlopen(asked) as answer:
                return Response(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return Response(error.code, b"")
"""
FACTORY = """
class EmbedderFactory:
    @staticmethod
    def create(provider, config, store):
        return EmbedderFactory

    @staticmethod
    def embed(text):
        return [0.0, 0.0]
"""
AMEM = """
import os
from types import SimpleNamespace

class AgenticMemorySystem:
    def __init__(self, model_name, llm_model, api_key, storage_path, evo_threshold, cache_size):
        assert os.environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1")
        self.notes = {}

    def add_note(self, content, time):
        note = SimpleNamespace(content=content, context=f"of {time}", keywords=["k", 7], tags=[])
        self.notes[str(len(self.notes))] = note
        return str(len(self.notes) - 1)

    def search(self, question, k):
        return [{"id": name, "score": 0.5} for name in [*self.notes, "strange"][: k if k < 9 else None]]

    def read(self, name):
        return self.notes[name]
"""


def install_vendors(folder: Path, **versions: str) -> None:
    """Write the packages to a folder of `sys.path`, in the versions that are asked for; others lack one."""
    files = {"mem0/__init__.py": MEM0, "mem0/utils/__init__.py": "", "mem0/utils/factory.py": FACTORY}
    files |= {"httpx.py": HTTPX, "httpx2.py": "raise ImportError"}
    files |= {"agentic_memory/__init__.py": "", "agentic_memory/memory_system.py": AMEM}
    for name, number in versions.items():
        about = f"{name.lower().replace('-', '_')}-{number}.dist-info/METADATA"
        files[about] = f"Name: {name}\nVersion: {number}\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    importlib.invalidate_caches()
