"""The judges of the satisfaction study that ask no model, by name."""

from __future__ import annotations

from typing import Final, cast

from dialogauge.app.satisfaction_models import MODEL_JUDGES
from dialogauge.core.errors import UsageError
from dialogauge.judge.encoder import ENCODER_JUDGES, encoder_judge
from dialogauge.judge.history import HISTORY_JUDGES, Strategy, build_history_judge
from dialogauge.judge.local import LocalJudge
from dialogauge.judge.personal import PersonalJudge, Sight
from dialogauge.judge.personal_local import LocalBlockJudge
from dialogauge.judge.user import LocalUserJudge

__all__ = ["PERSONAL_JUDGES", "build_personal_judge"]

PERSONAL_JUDGES: Final = (*HISTORY_JUDGES, "local", "local-user", *ENCODER_JUDGES)
"""The judges that ask no model; `satisfaction_models` has the others."""


def build_personal_judge(
    name: str,
    *,
    mode: Sight = "foresight",
    strategy: str | None = None,
    k: int | None = None,
    encoder: str | None = None,
) -> PersonalJudge:
    """Build a judge.

    Args:
        name: One of `PERSONAL_JUDGES`.
        mode: What `local` and `local-user` may read of what followed a reply; the others never do.
        strategy: Of `episodic-nearest`.
        k: Of `episodic-nearest`.
        encoder: The pretrained encoder of `encoder` and `encoder-ordinal`.

    Raises:
        UsageError: The judge is not there, or needs what is not installed.
    """
    if name == "local-user":
        return LocalUserJudge(mode)
    if name == "local":
        return LocalBlockJudge(LocalJudge(mode, rubric_id="satisfaction"))
    if name in HISTORY_JUDGES:
        return build_history_judge(name, strategy=cast("Strategy | None", strategy), k=k)
    if name in ENCODER_JUDGES:
        return encoder_judge(name, model=encoder)
    msg = f"no judge is called {name!r}"
    raise UsageError(msg, hint=f"there are {', '.join((*PERSONAL_JUDGES, *MODEL_JUDGES))}")
