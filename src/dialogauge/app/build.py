"""Judges by name: the only place that knows which class answers to which setting."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialogauge.app.clients import Clients
from dialogauge.app.option_groups import LimitOptions, UserJudgeOptions
from dialogauge.app.settings import JudgeOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.files import read_text
from dialogauge.core.protocols import Judge, Sight
from dialogauge.core.values import Value

if TYPE_CHECKING:
    from dialogauge.judges.personal.judge import ContextSource
    from dialogauge.llm import ChatClient
    from dialogauge.rubrics import Policies


class BuiltJudge(Value):
    """A judge, and the clients that it asks, if any."""

    judge: Judge
    clients: Clients = field(default_factory=lambda: Clients(LimitOptions()))
    worked_examples: frozenset[str] = frozenset()
    """Ids of conversations that its prompt shows solved, and that it may not judge."""


def session_dimensions(rubric: str) -> tuple[str, ...]:
    """Return the dimensions whose mean is the score of a session.

    Raises UsageError where the rubric scores none as a whole, or where there is no such mean.
    """
    from dialogauge.rubrics import load_rubric

    dimensions = load_rubric(rubric).asks_people("conversation")
    if not dimensions:
        msg = f"the rubric {rubric!r} scores no session as a whole"
        raise UsageError(msg, hint="give one of the level conversation, such as roleplay")
    scales = {d.scale for d in dimensions}
    if len(scales) > 1 or not dimensions[0].scale.higher_is_better:
        msg = f"the dimensions of the rubric {rubric!r} have no mean by which a session could win"
        raise UsageError(msg, hint="give one whose dimensions share a scale on which higher is better")
    return tuple(d.name for d in dimensions)


def build_judge(options: JudgeOptions, *, dry: bool = False, clients: Clients | None = None) -> BuiltJudge:
    """Build the judge that the options name; a dry one asks nothing, and counts what it would ask.

    It asks through `clients` where some are there: what else a command asks is then on the same budget.
    """
    if options.judge == "fitted":
        return BuiltJudge(_fitted(options))
    from dialogauge.rubrics import load_policies, load_rubric

    rubric = load_rubric(options.rubric)
    policies = None if options.policy_file is None else load_policies(options.policy_file)
    if options.judge == "local":
        if policies is not None and "policy" not in rubric.shows:
            msg = f"the rubric {rubric.id!r} shows no policy"
            raise UsageError(msg, hint="leave --policy out, or give --rubric td-turn or td-dialogue")
        return BuiltJudge(_local(options, rubric.id, policies))
    from dialogauge.judges.rubric.judge import RubricJudge

    if options.role is None:
        msg = "the judge llm needs a model"
        raise UsageError(msg, hint="give --model NAME --base-url URL")
    source = None
    if options.source_file is not None:
        source = read_text(options.source_file, "source", hint="--source takes a UTF-8 text file")
    clients = Clients(options, dry=dry) if clients is None else clients
    window = options.role.context_tokens
    if options.weights_file is not None:
        from dialogauge.rubrics import with_weights

        rubric = with_weights(rubric, options.weights_file)
    judge = RubricJudge(
        rubric,
        clients.build(options.role, "judge"),
        language=options.language,
        window=options.window,
        mode=options.mode,
        source=source,
        policies=policies,
        calls=options.calls,
        room=None if window is None else max(window - (options.role.max_tokens or 0), 1),
    )
    return BuiltJudge(judge, clients, rubric.example_ids)


def _fitted(options: JudgeOptions) -> Judge:
    from dialogauge.judges.fitted.judge import RatingsJudge
    from dialogauge.judges.fitted.model import RatingsModel
    from dialogauge.runs import RunDirectory, read_manifest
    from dialogauge.studies.fit.study import FIT

    path = Path(options.fitted_model or "")
    if path.is_dir():
        manifest = read_manifest(RunDirectory(path))
        if manifest is not None and manifest.study != FIT:
            msg = f"{path} is a run of `dialogauge {manifest.study}`"
            raise UsageError(msg, hint="give a run of `dialogauge fit`")
        if manifest is not None and manifest.pending_units:
            msg = f"the run {path} is not finished, and has no model yet"
            raise UsageError(msg, hint="give its `dialogauge fit` command again: it goes on where it stopped")
        path /= "model.json"
    text = read_text(path, "model of ratings", hint="`dialogauge fit DATA -o RUN` writes it")
    return RatingsJudge(RatingsModel.from_json(text, file=str(path)))


def _local(options: JudgeOptions, rubric: str, policies: Policies | None) -> Judge:
    from dialogauge.judges.local.judge import RUBRICS, LocalJudge
    from dialogauge.judges.local.model import LocalCoefficients

    coefficients = None
    if options.local_model is not None:
        hint = "`dialogauge fit DATA -o FILE` writes them"
        text = read_text(options.local_model, "coefficients", hint=hint)
        coefficients = LocalCoefficients.from_json(text, file=options.local_model)
    if rubric not in RUBRICS:
        msg = f"the local judge cannot judge by the rubric {rubric!r}"
        known = ", ".join(RUBRICS)
        raise UsageError(msg, hint=f"it knows {known}; give a model (--model, --base-url) for others")
    return LocalJudge(options.mode, options.language, coefficients, rubric, policies)


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


def build_satisfaction_judge(
    options: UserJudgeOptions,
    *,
    mode: Sight = "foresight",
    dry: bool = False,
) -> BuiltJudge:
    """Build the judge that the options name.

    Args:
        options: They name one of `MODEL_JUDGES`, or a judge that asks none.
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
        from dialogauge.judges.local.judge import LocalJudge, Rubric

        of_sessions: Rubric = "session-guarded" if options.guard else "session"
        by = of_sessions if options.level == "session" else "satisfaction"
        return BuiltJudge(LocalJudge(mode, rubric_id=by))
    from dialogauge.judges.encoder.judge import encoder_judge
    from dialogauge.judges.encoder.text import ENCODER_JUDGES
    from dialogauge.judges.personal.baselines import HISTORY_JUDGES, build_history_judge

    if name in HISTORY_JUDGES:
        return BuiltJudge(build_history_judge(name, strategy=options.strategy, k=options.k))
    if name in ENCODER_JUDGES:
        return BuiltJudge(encoder_judge(name, model=options.encoder, device=options.device))
    msg = f"no judge is called {name!r}"
    known = (*HISTORY_JUDGES, "local", "local-user", *ENCODER_JUDGES, *MODEL_JUDGES)
    raise UsageError(msg, hint=f"there are {', '.join(known)}")


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
