"""The settings of training: what each method takes, with the defaults of DynSess."""

# Without the future import: settings are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.core.settings import setting
from dialogauge.core.values import Value


class TrainSettings(Value, kw_only=True):
    """What every method has."""

    heading: ClassVar[str] = "Training"

    learning_rate: float = setting(1e-6, "Learning rate at its highest.", low=0)
    epochs: float = setting(2.0, "How often each row is seen.", low=0)
    steps: int | None = setting(
        None, "Steps of the optimiser, in place of --epochs.", low=1, otherwise="by --epochs"
    )
    batch_size: int = setting(8, "Rows on the device at once.", low=1)
    accumulation: int = setting(1, "Batches of a step.", low=1)
    warmup: float = setting(0.1, "Share of the steps in which the learning rate rises.", low=0, high=1)
    max_length: int = setting(8192, "Tokens of a dialogue; older turns go first.", low=8)
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", "bf16 computes in 16 bits; auto does where the device has it."
    )
    lora: bool = setting(False, "Train an adapter of low rank, and merge it in the end.")
    lora_r: int = setting(16, "Rank of the adapter.", low=1)
    lora_alpha: int = setting(32, "Scale of the adapter.", low=1)
    lora_dropout: float = setting(
        0.0, "Share of the adapter's input that is left out by chance in training.", low=0, high=0.99
    )
    log_every: int = setting(5, "Steps between two lines of the log.", low=1)
    save_every: int = setting(50, "Steps between two checkpoints.", low=1)
    seed: int = setting(0, "Seed of the order of rows, and of chance in the model.", low=0, high=2**32 - 1)

    def total_steps(self, rows: int) -> int:
        """Return the steps of the optimiser for so many rows."""
        per_epoch = -(-rows // (self.batch_size * self.accumulation))
        return self.steps or max(1, round(self.epochs * per_epoch))


class SftSettings(TrainSettings):
    """What fine-tuning on dialogues has."""

    learning_rate: float = setting(1e-5, "Learning rate at its highest.", low=0)
    epochs: float = setting(1.0, "How often each row is seen.", low=0)


class PairSettings(TrainSettings):
    """What training on pairs has."""

    beta: float = setting(0.1, "How dear it is to leave the model as it was.", low=0)
    length_norm: bool = setting(False, "Divide the reward of a side by its tokens.")
    sft_alpha: float = setting(0.0, "Weight of the winners' likelihood in the loss.", low=0)


class PlaySettings(Value, kw_only=True):
    """How a model in this process plays sessions."""

    heading: ClassVar[str] = "Training"

    turns: int = setting(
        10, "New turns of a session; grpo trains on 1, and plays so many with held-out personas.", low=1
    )
    reply_tokens: int = setting(256, "Tokens of a reply at most: the cap.", low=1)
    temperature: float = setting(1.0, "Temperature of the replies.", low=0.01)


class OnlineSettings(TrainSettings, PlaySettings):
    """What training on played sessions has."""

    batch_size: int = setting(
        8, "Sessions on the device at once; with --accumulation those of a step.", low=1
    )
    steps: int | None = setting(
        None, "Batches of sessions, in place of --epochs.", low=1, otherwise="by --epochs"
    )
    log_every: int = setting(1, "Steps between two lines of the log.", low=1)
    save_every: int = setting(25, "Steps between two checkpoints.", low=1)
    group: int = setting(8, "Sessions of a persona that are held against each other.", low=2)
    iterations: int = setting(2, "Updates by the same sessions; at 1 the clip never acts.", low=1)
    clip: float = setting(0.2, "How far the ratio of a token may leave 1.", low=0)
    beta: float = setting(0.02, "Weight of the divergence from the model before.", low=0)
    kl_unbiased: bool = setting(False, "Weight the divergence by the ratio: use_bias_correction_kl of TRL.")
    truncated_cost: float = setting(0.5, "What a reply that the cap cuts off costs its session.", low=0)
    repeated_cost: float = setting(0.5, "What a reply that repeats an earlier one costs its session.", low=0)
    second_every: int = setting(5, "Batches of sessions between two questions to the second judge.", low=1)

    @property
    def sessions(self) -> int:
        """Sessions of a step."""
        return self.batch_size * self.accumulation

    def total_steps(self, rows: int) -> int:
        """Return the batches of sessions for so many prompts; each has `iterations` updates."""
        batches = -(-rows * self.group // self.sessions)
        return self.steps or max(1, round(self.epochs * batches))
