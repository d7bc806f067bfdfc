"""The folder of a plan: its files, and keeping what raters did from being written over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from dialogauge.annotate.plan import SCHEMA, AssignmentPlan
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import StoreError, UsageError
from dialogauge.core.files import read_bytes, shown_path
from dialogauge.runs import RunDirectory
from dialogauge.runs.directory import PRIVATE, write_whole
from dialogauge.runs.records import conversation_from_json, json_document


class PlanFiles:
    """The files of a plan in their folder."""

    def __init__(self, folder: Path) -> None:
        """Name them; none is opened."""
        self.folder = folder
        self.plan = folder / "plan.json"
        """Who rates what."""
        self.items = folder / "items.jsonl"
        """What is rated, as its pages show it: for training rows."""
        self.guideline = folder / "guideline.html"
        """What raters read before."""
        self.answers = folder / "answers.jsonl"
        """Every answer that was imported, as it counts now."""
        self.ratings = folder / "ratings.jsonl"
        """Ratings in the long format."""
        self.pairs = folder / "pairs.jsonl"
        """Choices between two candidates."""

    @classmethod
    def behind(cls, path: str) -> PlanFiles | None:
        """Return the folder of a plan that a path names, or one of whose files it names; else None."""
        for folder in (Path(path), Path(path).parent):
            if (files := cls(folder)).plan.is_file() and files.guideline.is_file():
                return files
        return None

    def page(self, rater: str) -> Path:
        """The page of a rater."""
        return self.folder / "pages" / f"{rater}.html"

    def label_studio(self, name: str) -> Path:
        """A file for Label Studio."""
        return self.folder / "label-studio" / name

    def expect_free(self) -> None:
        """Raise UsageError where the folder is a run, or holds files and no plan."""
        folder, hint = shown_path(self.folder), "choose another folder with -o"
        if RunDirectory(self.folder).exists:
            msg = f"{folder} is a run"
            raise UsageError(msg, hint=hint)
        if self.folder.is_dir() and not self.plan.is_file() and any(self.folder.iterdir()):
            msg = f"{folder} holds other files, and no plan"
            raise UsageError(msg, hint=hint)

    def expect_same(self, plan: AssignmentPlan) -> bool:
        """Return whether the folder holds this plan already; UsageError where it holds another."""
        if not self.plan.is_file():
            return False
        before = self.read_plan()
        if before.id != plan.id:
            msg = f"{shown_path(self.folder)} holds another plan ({before.id}), and what raters did by it"
            raise UsageError(msg, hint="choose another folder with -o; the same command makes the same plan")
        return True

    def read_plan(self) -> AssignmentPlan:
        """Read the plan; StoreError where there is none, or none that can be read."""
        folder = shown_path(self.folder)
        if not self.plan.is_file():
            msg = f"{folder} holds no plan: there is no {self.plan.name} in it"
            raise StoreError(msg, hint="give the folder that `dialogauge annotate make` wrote (its -o)")
        try:
            value = orjson.loads(read_bytes(self.plan, "plan", StoreError))
            if isinstance(value, dict) and value.get("schema", SCHEMA) != SCHEMA:
                msg = f"another dialogauge wrote the plan in {folder}: it has schema {value['schema']}"
                raise StoreError(msg, hint="import with the dialogauge that made it")
            return AssignmentPlan.from_json(value)
        except ValueError as error:
            msg = f"{shown_path(self.plan)} cannot be read: {error}"
            raise StoreError(msg, hint="give the command that made it again, into another folder") from error

    def read_items(self) -> Iterator[tuple[str, tuple[Conversation, ...]]]:
        """Yield the items with what is rated, both conversations of a pair; StoreError where that is lost."""
        file, hint = shown_path(self.items), "give the `annotate make` command again: no rating is touched"
        if not self.items.is_file():
            msg = f"{file} is missing, which holds the conversations that were rated"
            raise StoreError(msg, hint=hint)
        try:
            with self.items.open("rb") as lines:
                for value in map(orjson.loads, lines):
                    yield value["item"], tuple(map(conversation_from_json, value["conversations"]))
        except (OSError, ValueError, LookupError, TypeError) as error:
            msg = f"{file} cannot be read: {error}"
            raise StoreError(msg, hint=hint) from error

    def write_plan(self, plan: AssignmentPlan) -> None:
        """Write the plan; the folder is made for the one who makes it alone."""
        try:
            self.folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"the folder {shown_path(self.folder)} cannot be made: {error.strerror}"
            raise StoreError(msg, hint="choose another with -o") from error
        self.write(self.plan, [json_document(plan.to_json())])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing the folder; StoreError where one does."""
        directory = RunDirectory(self.folder)
        directory.lock()
        try:
            yield
        finally:
            directory.release()

    def write(self, file: Path, chunks: Iterable[bytes]) -> None:
        """Write a file, whole or not at all."""
        write_whole(file, chunks)
