"""The users of RecLLMSim that the shared data holds, as the studies of satisfaction see them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

__all__ = ["folder", "read_study"]


def folder() -> Path | None:
    """Return where the data lies; None where nobody said."""
    shared = os.environ.get("DIALOGAUGE_SHARED")
    return Path(shared) / "data" / "recllmsim" if shared else None


def read_study(at: Path, part: Literal["test", "train"] = "test") -> Any:  # noqa: ANN401 - imported where measured
    """Return the blocks of the dev users (`test`) or of the training users (`train`)."""
    from dialogauge.core import Conversation
    from dialogauge.data import read_conversations, read_split
    from dialogauge.studies.satisfaction.blocks import study_data

    talks = [c for c in read_conversations([str(at / "human_exp_V2")]) if isinstance(c, Conversation)]
    return study_data(talks, split=read_split(str(at / "split.json")), part=part)
