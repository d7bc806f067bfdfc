"""`dialogauge lookahead SCENARIOS --candidate REF... -o RUN`: sessions searched segment by segment."""

from __future__ import annotations

from typing import Final

from dialogauge.app.build import build_judge, session_dimensions
from dialogauge.app.candidates import read_agents, read_candidates
from dialogauge.app.clients import Clients
from dialogauge.app.command import StudyEntry, chosen_directory
from dialogauge.app.config import RoleSettings, answering, model_of
from dialogauge.app.lookahead_page import search_blocks, search_page, shown_search, stored_page
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import Plan, PlanJson
from dialogauge.app.settings import JudgeOptions, LookaheadOptions
from dialogauge.app.simulate import (
    PreparedUsers,
    chosen_scenarios,
    expect_answers,
    make_users,
    play_notes,
    session_candidates,
)
from dialogauge.app.sources import PythonInput
from dialogauge.core import UsageError
from dialogauge.core.settings import narrowed
from dialogauge.text import counted
from dialogauge.training import LookaheadStudy, SearchResult


class LookaheadPlanJson(PlanJson):
    """What `lookahead` would do."""

    messages: int
    """Of users and candidates, at most: scenarios by steps by candidates by turns, of both sides."""
    judgements: int
    """Of segments, at most; each is a call for every dimension where the rubric asks one by one."""
    scenarios: int


PreparedSearch = PreparedUsers[LookaheadOptions, LookaheadStudy]


async def _prepare(options: LookaheadOptions, python: PythonInput, *, dry: bool) -> PreparedSearch:
    """Read the scenarios, and build pool, simulator and judge on one budget."""
    del python
    scenarios = chosen_scenarios(options.inputs, real_persons=options.real_persons)
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    chosen = read_candidates(options.candidates, agents, config)
    expect_answers(chosen)
    if options.draw > len(chosen):
        msg = f"a step draws {options.draw} candidates, and the pool holds {len(chosen)}"
        raise UsageError(msg, hint="name more with --candidate, or draw fewer with --draw N")
    named, roles = references(options), dict[str, RoleSettings]()
    for role, what in (("simulator", "plays the users"), ("judge", "scores the segments")):
        if role not in named and role not in config.roles:
            msg = f"nobody {what}"
            raise UsageError(msg, hint=f"give --role {role}=MODEL@URL#KEYVAR")
        roles[role] = model_of(named.get(role), role, config.roles, agents)
    dimensions = session_dimensions(options.rubric)
    clients = Clients(options, dry=dry, sessions=True)
    try:
        pool = session_candidates(chosen, clients, options.seed)
        simulator = clients.build(roles["simulator"], "simulator")
        of_judge = narrowed(JudgeOptions, options, inputs=(), judge="llm", role=roles["judge"])
        judge = build_judge(of_judge, clients=clients).judge
    except BaseException:
        await clients.close()
        raise
    study = LookaheadStudy(
        scenarios,
        {},
        pool,
        judge,
        dimensions,
        search_page,
        segments=options.segments,
        segment_turns=options.segment_turns,
        draw=options.draw,
        min_margin=options.min_margin,
        judge_repeats=options.judge_repeats,
        seed=options.seed,
        rubric=options.rubric,
        simulator={"name": simulator.name, **answering(roles["simulator"])},
        counting=dry,
    )
    return PreparedSearch(
        options=options,
        study=study,
        clients=clients,
        judge=judge.name,
        workers=options.max_concurrency,
        simulator=simulator,
    )


def _counts(prepared: PreparedSearch, units: int) -> dict[str, int]:
    messages, judgements = _most(prepared.options, units)
    return {"messages": messages, "judgements": judgements, "scenarios": units}


def _most(options: LookaheadOptions, scenarios: int) -> tuple[int, int]:
    """Return how many messages and judgements some scenarios take at most."""
    segments = scenarios * options.segments * options.draw
    return segments * options.segment_turns * 2, segments * options.judge_repeats


def _plan_words(plan: Plan, options: LookaheadOptions) -> str:
    messages, judgements = _most(options, plan.left)
    return (
        f"would search {plan.left:,} of {counted(plan.counts['scenarios'], 'scenario')}: at most "
        f"{messages:,} messages, and {judgements:,} judgements by {plan.judge}"
    )


ENTRY: Final = StudyEntry(
    name="lookahead",
    prints=SearchResult,
    plans=LookaheadPlanJson,
    unit="scenario",
    prepare=_prepare,
    directory=lambda options: chosen_directory(options, "-lookahead"),
    begin=make_users,
    notes=play_notes,
    failed_share=lambda result: result.failed_share,
    counts=_counts,
    measured=20,
    plan_words=_plan_words,
    view=lambda outcome: search_blocks(outcome.result),
    page=stored_page,
    shown=shown_search,
)
