"""The arena from Python: agents ranked by who did better on the same dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from dialogauge.core import Conversation, InputError
from dialogauge.door.library import AnyPath, Sources, finished_run, observer_for, read, run_directory
from dialogauge.door.run import Run
from dialogauge.door.working import carry_out


def arena(  # noqa: PLR0913 - the everyday settings by name
    source: AnyPath | Run | Sequence[AnyPath | Run] | Mapping[str, Sources],
    *,
    judge: str | None = None,
    ratings: AnyPath | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    out: AnyPath | None = None,
    progress: bool | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Rank agents by who did better on the same dialogue, or by votes.

    Args:
        source: Judged runs or files of conversations, one of each agent; files of votes; or arenas to put
            together. By name: `{"alpha": ..., "beta": ...}`, each a run, a path, or conversations in memory.
        judge: `people`, `scores`, `local` or `llm`; None for `llm` where a model is given, `people` where
            there are votes, else `scores`.
        ratings: A file of people's votes between the agents.
        model: A model that compares, as for `judge`.
        base_url: The endpoint.
        api_key_env: The name of the variable that holds the key.
        out: The run directory; a temporary one where None. With the same one only what is new is asked.
        progress: Whether progress is shown; None for yes in a terminal or a notebook.
        settings: Every other setting of `dialogauge arena`, by its name in docs/library.md.

    Returns:
        The run. `summary.answers` says in sentences who leads; `summary.agents` has ratings, intervals and
        ranks; a DataFrame of it has a vote a row.

    Raises:
        UsageError: One agent alone, no dialogue in common, or a setting that is unknown or of no use.
        InputError: A file cannot be read, or not one vote in it.
        StoreError: The run directory is of no use.
        EndpointError: The endpoint as a whole is of no use. What was judged is stored.
    """
    from dialogauge.app.arena.run import run_arena
    from dialogauge.app.arena.settings import ArenaOptions
    from dialogauge.app.merging import settings_from

    inputs, talks = _sorted(source)
    everyday = {"judge": judge, "model": model, "base_url": base_url, "api_key_env": api_key_env}
    chosen = {**settings, **{name: value for name, value in everyday.items() if value is not None}}
    chosen |= {} if ratings is None else {"ratings_file": fspath(ratings)}
    with run_directory(out) as path:
        options = settings_from(ArenaOptions, **chosen, inputs=inputs, out=fspath(path))
        observer = observer_for(progress)
        ended = carry_out(lambda stop: run_arena(options, observer, talks, stop))
        return finished_run(path, ended, temporary=out is None)


def _sorted(
    source: AnyPath | Run | Sequence[AnyPath | Run] | Mapping[str, Sources],
) -> tuple[tuple[str, ...], dict[str, list[Conversation | InputError]]]:
    """Tell what stands on disk from what is in memory."""
    if not isinstance(source, Mapping):
        several = [source] if isinstance(source, str | PathLike | Run) else source
        return tuple(map(_path, several)), {}
    inputs: list[str] = []
    talks: dict[str, list[Conversation | InputError]] = {}
    for name, one in source.items():
        if isinstance(one, str | PathLike | Run):
            inputs.append(f"{name}={_path(one)}")
        else:
            conversations = read(one)
            talks[name] = [*conversations, *conversations.faults]
    return tuple(inputs), talks


def _path(one: AnyPath | Run) -> str:
    return fspath(one.path if isinstance(one, Run) else one)
