"""The tiny model of the bench: trained once, saved for transformers and as a GGUF file."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from servers.rubric_examples import rubric_examples
from servers.tiny_model import build_tiny_model

__all__ = ["RUBRICS", "TinyModel", "make_model"]

RUBRICS = ("card", "single")
"""What it learns: the card, and a rubric of single turns."""
_STEPS = 400


@dataclass(frozen=True)
class TinyModel:
    """One model in the forms that servers take."""

    folder: Path
    """For transformers."""
    gguf: Path
    """For llama.cpp."""


def make_model(folder: Path, python: Path) -> TinyModel:
    """Train the model, or take the one that is there; `python` is that of the servers."""
    model = TinyModel(folder / "tiny", folder / "tiny.gguf")
    examples = [example for rubric in RUBRICS for example in rubric_examples(rubric, 150)]
    build_tiny_model(model.folder, examples, steps=_STEPS, reads_system=False)
    if not model.gguf.exists():
        script = Path(__file__).with_name("gguf_file.py")
        subprocess.run([python, script, model.folder, model.gguf], check=True, capture_output=True)
    return model
