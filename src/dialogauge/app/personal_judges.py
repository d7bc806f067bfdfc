"""The judges of the satisfaction study that ask a model, by name, and the clients of their roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, cast

from dialogauge.app.build import BuiltJudge, Clients
from dialogauge.app.settings import UserJudgeOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.protocols import Judge, Sight
from dialogauge.judges.encoder.judge import encoder_judge
from dialogauge.judges.encoder.text import ENCODER_JUDGES
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.judges.personal.baselines import HISTORY_JUDGES, Strategy, build_history_judge

if TYPE_CHECKING:
    from dialogauge.judges.personal.judge import ContextSource
    from dialogauge.llm import ChatClient

ROLES: Final = ("judge", "memory_builder")
"""Whom a study may ask; the builder of memories is the judge's model where no other is named."""


class Models(Clients):
    """The clients of the roles, built when a judge asks for them."""

    def __init__(self, options: UserJudgeOptions) -> None:
        """Build nothing yet."""
        super().__init__(options)
        self.options = options
        self._by_role: dict[str, ChatClient] = {}

    def client(self, role: str = "judge") -> ChatClient:
        """Return the client of a role; UsageError when the role has no model."""
        o = self.options
        if role not in o.roles:
            msg = f"the judge {o.judge} needs a language model"
            hint = "give --model NAME --base-url URL, or [roles.judge] in the configuration file"
            raise UsageError(msg, hint=hint)
        if role not in self._by_role:
            self._by_role[role] = self.build(o.roles[role], role)
        return self._by_role[role]


Builder = Callable[[Models], Judge]


def _rubric(name: str, context: Callable[[Models], ContextSource] | None = None) -> Builder:
    """Return what builds a judge that is a file in `rubrics/files/personal` and perhaps a context."""

    def build(models: Models) -> Judge:
        from dialogauge.judges.personal.judge import PersonalRubricJudge
        from dialogauge.rubrics import load_personal

        return PersonalRubricJudge(
            models.options.judge,
            load_personal(f"session_{name}" if models.options.level == "session" else name),
            models.client(),
            context=None if context is None else context(models),
            language=models.options.language,
        )

    return build


def _memory(models: Models) -> ContextSource:
    from dialogauge.judges.personal.memory_build import MemoryContext

    return MemoryContext(models.client("memory_builder"))


def _few_shot(models: Models) -> ContextSource:
    del models
    from dialogauge.judges.personal.examples import FewShotContext

    return FewShotContext()


def _retrieved(models: Models) -> ContextSource:
    from dialogauge.judges.personal.examples import RetrievedExamples

    o, plain = models.options, RetrievedExamples()
    return RetrievedExamples(o.strategy or plain.strategy, o.k or plain.k)


def _induced(models: Models) -> ContextSource:
    from dialogauge.judges.personal.spur import InducedCriteria

    return InducedCriteria(models.client())


MODEL_JUDGES: Final[Mapping[str, Builder]] = {
    "memory": _rubric("memory", _memory),
    "no-memory": _rubric("no_memory"),
    "zero-shot": _rubric("zero_shot"),
    "few-shot": _rubric("few_shot", _few_shot),
    "task-rubric": _rubric("task_rubric"),
    "prometheus": _rubric("prometheus"),
    "rag": _rubric("rag", _retrieved),
    "spur": _rubric("spur", _induced),
}
"""The judges that ask a model, by name."""


def build_satisfaction_judge(
    options: UserJudgeOptions, *, mode: Sight = "foresight", encoder: str | None = None
) -> BuiltJudge:
    """Build the judge that the options name.

    Raises UsageError when it needs a model and has none, or needs what is not installed.
    """
    o = options
    if o.judge in MODEL_JUDGES:
        models = Models(o)
        return BuiltJudge(MODEL_JUDGES[o.judge](models), models.limits, models.close)
    judge = build_personal_judge(o.judge, mode=mode, strategy=o.strategy, k=o.k, encoder=encoder)
    return BuiltJudge(judge)


PERSONAL_JUDGES: Final = (*HISTORY_JUDGES, "local", "local-user", *ENCODER_JUDGES)
"""The judges that ask no model; `MODEL_JUDGES` has the others."""


def build_personal_judge(
    name: str,
    *,
    mode: Sight = "foresight",
    strategy: str | None = None,
    k: int | None = None,
    encoder: str | None = None,
) -> Judge:
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
        return LocalJudge(mode, rubric_id="satisfaction")
    if name in HISTORY_JUDGES:
        return build_history_judge(name, strategy=cast("Strategy | None", strategy), k=k)
    if name in ENCODER_JUDGES:
        return encoder_judge(name, model=encoder)
    msg = f"no judge is called {name!r}"
    raise UsageError(msg, hint=f"there are {', '.join((*PERSONAL_JUDGES, *MODEL_JUDGES))}")
