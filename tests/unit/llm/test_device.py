from __future__ import annotations

from types import SimpleNamespace

import pytest

from dialogauge.core.errors import UsageError
from dialogauge.llm.device import chosen_device


def torch(*there: str) -> SimpleNamespace:
    cuda, mps = (SimpleNamespace(is_available=lambda name=name: name in there) for name in ("cuda", "mps"))
    return SimpleNamespace(cuda=cuda, backends=SimpleNamespace(mps=mps))


@pytest.mark.parametrize(
    ("wanted", "there", "device"),
    [
        ("auto", (), "cpu"),
        ("auto", ("mps",), "mps"),
        ("auto", ("cuda", "mps"), "cuda"),
        ("cpu", ("cuda",), "cpu"),
        ("cuda", ("cuda",), "cuda"),
        ("mps", ("mps",), "mps"),
    ],
)
def test_the_device_is_the_one_wanted_or_the_best_there_is(
    wanted: str, there: tuple[str, ...], device: str
) -> None:
    assert chosen_device(wanted, torch(*there)) == device


@pytest.mark.parametrize(
    ("wanted", "there"), [("cuda", ()), ("cuda", ("mps",)), ("mps", ("cuda",)), ("tpu", ())]
)
def test_a_device_that_is_not_there_is_refused(wanted: str, there: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=f"no device '{wanted}' here .there is .*cpu; auto"):
        chosen_device(wanted, torch(*there))
