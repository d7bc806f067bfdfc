"""The supervised judges: an encoder fine-tuned on the training users before the first block is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING, Any

from dialogauge.core import Judged, JudgeFailure, Judgement, MissingExtra, Request, UsageError, digest
from dialogauge.core.protocols import Reads, Reply
from dialogauge.judges.encoder.text import ENCODER_JUDGES, EncoderSettings, decoded_score, encoder_text
from dialogauge.judges.personal.baselines import NO_USER, SATISFACTION

if TYPE_CHECKING:
    from dialogauge.judges.encoder.training import EncoderFit

_VERSION = 1
"""Raised when text or training change, so that stored judgements are not taken for new ones."""


def encoder_judge(name: str, *, model: str | None = None, device: str = "auto") -> EncoderJudge:
    """Build one of `ENCODER_JUDGES`.

    Args:
        name: `encoder` or `encoder-ordinal`.
        model: A folder or a name that transformers finds; `bert-base-chinese` when None.
        device: Where it is trained and asked: `auto`, `cpu`, `cuda` or `mps`.

    Raises:
        MissingExtra: torch or transformers are not installed.
        UsageError: No judge is called so.
    """
    if name not in ENCODER_JUDGES:
        msg = f"no encoder judge is called {name!r}"
        raise UsageError(msg, hint=f"there are {', '.join(ENCODER_JUDGES)}")
    missing = [module for module in ("torch", "transformers") if find_spec(module) is None]
    if missing:
        msg = f"the judge {name} is trained here and needs {' and '.join(missing)}"
        raise MissingExtra(msg, hint="pip install 'dialogauge[train]'")
    settings = EncoderSettings(ordinal=name == "encoder-ordinal")
    return EncoderJudge(settings if model is None else replace(settings, model=model), device)


class EncoderJudge:
    """Fine-tunes on the population that a block comes with, and keeps the network for the next ones."""

    dimensions = (SATISFACTION,)
    reads: frozenset[Reads] = frozenset({"profile", "history", "others"})
    together = True

    def __init__(self, settings: EncoderSettings, device: str = "auto") -> None:
        self._settings, self._device = settings, device
        self._fitted: tuple[str, EncoderFit] | None = None
        self._records: list[Mapping[str, Any]] = []

    @property
    def name(self) -> str:
        """`encoder` or `encoder-ordinal`."""
        return "encoder-ordinal" if self._settings.ordinal else "encoder"

    @cached_property
    def digest(self) -> str:
        """Changes with every setting, not with the weights behind a model's name."""
        known = {"judge": self.name, "settings": asdict(self._settings), "version": _VERSION}
        return digest({**known, "reads": sorted(self.reads)})

    def describe(self) -> Mapping[str, Any]:
        """Return the settings, and the record of each fit."""
        fits = {"fits": [dict(r) for r in self._records]} if self._records else {}
        return {"kind": "encoder", "settings": asdict(self._settings), **fits}

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets; all fail when no other user is known, or the user is not.

        Raises:
            UsageError: The encoder cannot be loaded.
        """
        view = request.view
        if view is None:
            return request.failed(NO_USER)
        if not request.others.scores:
            return request.failed("no training user is known: there is nothing to learn from")
        blocks = request.others.blocks
        known = digest([[list(b.view.scores), [[r.reply.id, r.score] for r in b.ratings]] for b in blocks])
        if self._fitted is None or self._fitted[0] != known:
            from dialogauge.judges.encoder.training import fit_encoder

            fit = fit_encoder(request.others, self._settings, self._device)
            self._fitted = known, fit
            self._records.append(fit.record)
        network = self._fitted[1].network
        texts = [encoder_text(view, r, messages=self._settings.messages) for r in view.targets]
        probabilities = network.probabilities([network.encode(text) for text in texts])
        return tuple(self._row(r, p) for r, p in zip(view.targets, probabilities, strict=True))

    def _row(self, reply: Reply, probabilities: tuple[float, ...]) -> Judged:
        if not all(map(isfinite, probabilities)):
            failure = JudgeFailure("judge_error", "the network gives no finite probabilities: it diverged")
            return Judged(reply.target, failure)
        kind = "steps" if self._settings.ordinal else "probabilities"
        details = {"turn_id": reply.id, kind: [round(p, 4) for p in probabilities]}
        score = decoded_score(probabilities, self._settings)
        return Judged(reply.target, Judgement({SATISFACTION.name: score}, details=details))
