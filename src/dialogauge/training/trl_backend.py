"""What all trainers of TRL share here: arguments, the log, checkpoints, Ctrl-C, and that they are quiet."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.training.policy import Policy
from dialogauge.training.train_settings import TrainSettings
from dialogauge.training.tuning import TuneFolder

PLAYED: Final = "sessions/"
"""Before the names of our own figures."""
_FIGURES: Final[Mapping[str, str]] = {
    "loss": "loss",
    "learning_rate": "learning_rate",
    "kl": "kl",
    "clip_ratio/region_mean": "clip_share",
    "rewards/chosen": "reward_chosen",
    "rewards/rejected": "reward_rejected",
    "rewards/margins": "margin",
    "rewards/accuracies": "accuracy",
}
"""By TRL's name of a figure: ours. Others are not logged."""


def trl_arguments(
    policy: Policy, settings: TrainSettings, folder: TuneFolder, steps: int, **more: object
) -> dict[str, Any]:
    """Return the arguments that the configurations of all trainers take, and more."""
    return {
        "output_dir": str(folder.checkpoints),
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "learning_rate": settings.learning_rate,
        "max_steps": steps,
        "warmup_steps": round(settings.warmup * steps),
        "lr_scheduler_type": "linear",
        "weight_decay": 0.0,
        "logging_steps": settings.log_every,
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "seed": settings.seed,
        "bf16": policy.bf16,
        "use_cpu": policy.device == "cpu",
        "gradient_checkpointing": policy.device != "cpu",
        "dataloader_pin_memory": policy.device == "cuda",
        "report_to": "none",
        "disable_tqdm": True,
        **more,
    }


def quietly(trainer: type[Any]) -> type[Any]:
    """Return a class of trainers that reports to nobody, and writes no card of a model."""

    class Quiet(trainer):  # type: ignore[misc] # of TRL
        def _send_telemetry(self) -> None:
            """TRL would tell its makers which trainer is used."""

        def create_model_card(self, *args: object, **kwargs: object) -> None:
            """The page of the tuning says more."""

    Quiet.__name__ = trainer.__name__
    return Quiet


def train_with_trl(
    trainer: Any,  # noqa: ANN401 - of TRL
    folder: TuneFolder,
    at_save: Callable[[int], object] = lambda step: None,
) -> bool:
    """Train from the last checkpoint on, and say whether it came to the last step.

    Args:
        trainer: Of TRL, made with `trl_arguments`.
        folder: Where its log goes.
        at_save: Is told the number of steps done after each checkpoint.

    Raises UsageError where a checkpoint needs more than tensors and plain values to be read.
    """
    from transformers import PrinterCallback, ProgressCallback, TrainerCallback

    class Folder(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401
            stopping = folder.stops_after(state.global_step)
            if stopping:
                control.should_save = control.should_training_stop = True
            if stopping or state.global_step >= state.max_steps:
                control.should_log = True

        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401
            names = {k: _FIGURES.get(k) or k.partition(PLAYED)[2] for k in kwargs["logs"]}
            if logged := {name: kwargs["logs"][k] for k, name in names.items() if name}:
                folder.log(state.global_step, logged)

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401
            at_save(state.global_step)

    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(Folder())
    step, checkpoint = folder.go_on()
    if checkpoint is not None and step >= trainer.args.max_steps:
        trainer._load_from_checkpoint(str(checkpoint))  # `train` would do one step more
        return True
    try:
        trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    except pickle.UnpicklingError as error:
        msg = f"the checkpoint {shown_path(checkpoint or '')} holds a pickle that is not of training: {error}"
        raise UsageError(msg, hint="delete it; the one before it is taken then") from None
    return bool(trainer.state.global_step >= trainer.args.max_steps)


@contextmanager
def trl_silenced() -> Iterator[None]:
    """Keep progress bars and warnings of the libraries from the terminal while the context lasts."""
    import datasets

    datasets.disable_progress_bars()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(trl|transformers|accelerate|datasets|peft|torch)\.")
        yield
