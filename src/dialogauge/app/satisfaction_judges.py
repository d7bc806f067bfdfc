"""The judges of the satisfaction study that ask no model, by name."""

from __future__ import annotations

from typing import Final, cast

from dialogauge.app.satisfaction_models import MODEL_JUDGES
from dialogauge.core.errors import UsageError
from dialogauge.judge.history import HISTORY_JUDGES, STRATEGIES, Strategy, build_history_judge
from dialogauge.judge.local import LocalJudge
from dialogauge.judge.personal import PersonalJudge, Sight
from dialogauge.judge.personal_local import LocalBlockJudge
from dialogauge.judge.user import LocalUserJudge

__all__ = ["PERSONAL_JUDGES", "build_personal_judge"]

PERSONAL_JUDGES: Final = (*HISTORY_JUDGES, "local", "local-user")
"""The judges that ask no model; `satisfaction_models` has the others."""

_FITTED: Final = ("encoder", "encoder-ordinal")


def build_personal_judge(
    name: str, *, mode: Sight = "foresight", strategy: str | None = None, k: int | None = None
) -> PersonalJudge:
    """Build a judge.

    Args:
        name: One of `PERSONAL_JUDGES`.
        mode: What `local` and `local-user` may read of what followed a reply; the others never do.
        strategy: Of `episodic-nearest`.
        k: Of `episodic-nearest`.

    Raises:
        UsageError: The judge is not there, or a setting is not one of its own.
    """
    if strategy is not None and strategy not in STRATEGIES:
        msg = f"--strategy {strategy!r} is not known"
        raise UsageError(msg, hint=f"there are {', '.join(STRATEGIES)}")
    if name in ("local", "local-user"):
        if strategy is not None or k is not None:
            msg = f"the judge {name} takes neither --strategy nor --k"
            raise UsageError(msg, hint="they belong to episodic-nearest")
        if name == "local-user":
            return LocalUserJudge(mode)
        return LocalBlockJudge(LocalJudge(mode, rubric_id="satisfaction"))
    if name in HISTORY_JUDGES:
        if mode != "foresight":
            msg = f"the judge {name} reads nothing that follows a reply"
            raise UsageError(msg, hint="leave --mode out")
        return build_history_judge(name, strategy=cast("Strategy | None", strategy), k=k)
    hint = f"there are {', '.join((*PERSONAL_JUDGES, *MODEL_JUDGES))}"
    if name in _FITTED:
        msg = f"the judge {name} needs a fitted model and is not part of this version"
        raise UsageError(msg, hint=hint)
    msg = f"no judge is called {name!r}"
    raise UsageError(msg, hint=hint)
