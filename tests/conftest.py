"""Settings of all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sets import PART

TESTS = Path(__file__).resolve().parent

# As every command does before it loads numpy: with more threads an iterative fit ends a few digits elsewhere.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# So small a model gains nothing from more, and where workers share the cores it loses most of its time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Each commit of a run waits for the disk: a third of the time of a flow. Containers often have 64 MB of this.
_MEMORY = Path("/dev/shm")
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Everybody draws the same examples, so that a test fails by a change and not by chance: where `CI` is set,
# Hypothesis would do so by itself, and nowhere else. A busy machine is no fault of the code.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    # Of a test that takes `tmp_path` each example writes over the files of the one before.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# What `make test` draws.
settings.register_profile("short", settings.get_profile("house"), max_examples=60 // PART)
# `make soak` draws new ones, from the seed that it prints.
settings.register_profile("fresh", settings.get_profile("house"), derandomize=False, print_blob=True)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--short", action="store_true", help="without the tests that are marked long, and with fewer examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--short"):
        settings.load_profile("short")
    # What pytest makes of the tests' source is kept beside it. In a fresh clone every second process begins
    # at the other end, so that it finds half of it made.
    second = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 1
    if second and [Path(argument).resolve() for argument in config.args] == [TESTS]:
        config.args = sorted((str(path) for path in _rooms()), reverse=True)


def _rooms() -> Iterator[Path]:
    return (path for path in TESTS.iterdir() if path.is_dir() and any(path.rglob("test_*.py")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parts[len(TESTS.parts)])  # whatever was read first
    if config.getoption("--short"):
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
