"""The replay benchmark: other replies in frozen states of real conversations, scored for the same users."""

from dialogauge.bench.replay.aggregate import Aggregate, aggregate
from dialogauge.bench.replay.contexts import CONTEXTS, Context, Prompted, Prompter
from dialogauge.bench.replay.hard import hard_picks
from dialogauge.bench.replay.items import ItemSet, ReplayItem, read_items
from dialogauge.bench.replay.memory import DialogueMemory, refuse_own_scenario
from dialogauge.bench.replay.pairwise import Pairing, compare_pair, compare_pairs
from dialogauge.bench.replay.selection import RULES, Rule, gold_mix, select_items, selected_on_gold
from dialogauge.bench.replay.states import Stage, replaced, set_stage, state_digest
from dialogauge.bench.replay.table import ORIGINAL, ScoreTable, UserDraws

__all__ = [
    "CONTEXTS",
    "ORIGINAL",
    "RULES",
    "Aggregate",
    "Context",
    "DialogueMemory",
    "ItemSet",
    "Pairing",
    "Prompted",
    "Prompter",
    "ReplayItem",
    "Rule",
    "ScoreTable",
    "Stage",
    "UserDraws",
    "aggregate",
    "compare_pair",
    "compare_pairs",
    "gold_mix",
    "hard_picks",
    "read_items",
    "refuse_own_scenario",
    "replaced",
    "select_items",
    "selected_on_gold",
    "set_stage",
    "state_digest",
]
