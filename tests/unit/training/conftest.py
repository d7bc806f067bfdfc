from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def policy(tmp_path_factory):
    """The folder of the tiny policy."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tiny_policy import tiny_policy

    return tiny_policy(tmp_path_factory.getbasetemp())
