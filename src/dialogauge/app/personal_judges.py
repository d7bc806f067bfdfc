"""The judges of the satisfaction study that ask a model, by name, and the clients of their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dialogauge.app.build import BuiltJudge, Clients
from dialogauge.app.option_groups import UserJudgeOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.protocols import Judge, Sight
from dialogauge.judges.encoder.judge import encoder_judge
from dialogauge.judges.encoder.text import ENCODER_JUDGES
from dialogauge.judges.local.judge import LocalJudge, Rubric
from dialogauge.judges.personal.baselines import HISTORY_JUDGES, build_history_judge

if TYPE_CHECKING:
    from dialogauge.judges.personal.judge import ContextSource
    from dialogauge.llm import ChatClient


class Models(Clients):
    """The clients of the roles, built when a judge asks for them."""

    def __init__(self, options: UserJudgeOptions, *, dry: bool = False) -> None:
        """Build nothing yet; dry clients ask nothing, and count what they would ask."""
        super().__init__(options, dry=dry)
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


MODEL_JUDGES: Final = (
    "memory",
    "no-memory",
    "zero-shot",
    "few-shot",
    "task-rubric",
    "prometheus",
    "rag",
    "spur",
)
"""The judges that ask a model; each is a file in `rubrics/files/personal`, and perhaps a context."""
PERSONAL_JUDGES: Final = (*HISTORY_JUDGES, "local", "local-user", *ENCODER_JUDGES)
"""The judges that ask none."""


def build_satisfaction_judge(
    options: UserJudgeOptions,
    *,
    mode: Sight = "foresight",
    dry: bool = False,
) -> BuiltJudge:
    """Build the judge that the options name.

    Args:
        options: They name one of `MODEL_JUDGES` or `PERSONAL_JUDGES`.
        mode: What `local` and `local-user` may read of what followed a reply; the others never do.
        dry: Ask nothing, and count what would be asked.

    Raises:
        UsageError: The judge is not there, or needs a model and has none, or what is not installed.
    """
    name = options.judge
    if name in MODEL_JUDGES:
        models = Models(options, dry=dry)
        judge = model_judge(models)
        return BuiltJudge(judge, models)
    if name == "local-user":
        from dialogauge.judges.local_user.judge import LocalUserJudge

        return BuiltJudge(LocalUserJudge(mode))
    if name == "local":
        of_sessions: Rubric = "session-guarded" if options.guard else "session"
        by = of_sessions if options.level == "session" else "satisfaction"
        return BuiltJudge(LocalJudge(mode, rubric_id=by))
    if name in HISTORY_JUDGES:
        return BuiltJudge(build_history_judge(name, strategy=options.strategy, k=options.k))
    if name in ENCODER_JUDGES:
        return BuiltJudge(encoder_judge(name, model=options.encoder, device=options.device))
    msg = f"no judge is called {name!r}"
    raise UsageError(msg, hint=f"there are {', '.join((*PERSONAL_JUDGES, *MODEL_JUDGES))}")


def model_judge(models: Models) -> Judge:
    """Build the judge of `MODEL_JUDGES` that the options of the clients name."""
    from dialogauge.judges.personal.judge import PersonalRubricJudge
    from dialogauge.rubrics import load_personal

    o = models.options
    name = o.judge.replace("-", "_")
    return PersonalRubricJudge(
        f"{o.judge}-guarded" if o.guard else o.judge,
        load_personal(f"session_{name}" if o.level == "session" else name, guarded=o.guard),
        models.client(),
        context=_context(models),
        language=o.language,
    )


def _context(models: Models) -> ContextSource | None:
    """Return what a judge is shown of histories and other users; None where it is shown nothing."""
    o = models.options
    if o.judge == "memory":
        from dialogauge.judges.personal.memory_build import MemoryContext

        client, settings = models.client("memory_builder"), o.roles["memory_builder"]
        window = settings.context_tokens
        return MemoryContext(client, room=None if window is None else window - (settings.max_tokens or 0))
    if o.judge == "spur":
        from dialogauge.judges.personal.spur import InducedCriteria

        return InducedCriteria(models.client())
    if o.judge not in ("few-shot", "rag"):
        return None
    from dialogauge.judges.personal.examples import FewShotContext, RetrievedExamples

    if o.judge == "few-shot":
        return FewShotContext()
    plain = RetrievedExamples()
    return RetrievedExamples(o.strategy or plain.strategy, o.k or plain.k)
