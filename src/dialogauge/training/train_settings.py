"""The settings of training: what each method takes, with the defaults of DynSess."""

# Without the future import: settings are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.core.settings import setting
from dialogauge.core.values import Value


class TrainSettings(Value, kw_only=True):
    """What every method has."""

    heading: ClassVar[str] = "Training"

    learning_rate: float = setting(1e-6, "Learning rate at its highest.", low=0, key="learning_rate")
    epochs: float = setting(2.0, "How often each row is seen.", low=0, key="epochs")
    steps: int | None = setting(
        None, "Steps of the optimiser, in place of --epochs.", low=1, otherwise="by --epochs", key="steps"
    )
    batch_size: int = setting(8, "Rows on the device at once.", low=1, key="batch_size")
    accumulation: int = setting(1, "Batches of a step.", low=1, key="accumulation")
    warmup: float = setting(
        0.1, "Share of the steps in which the learning rate rises.", low=0, high=1, key="warmup"
    )
    max_length: int = setting(8192, "Tokens of a dialogue; older turns go first.", low=8, key="max_length")
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", "bf16 computes in 16 bits; auto does where the device has it.", key="precision"
    )
    lora: bool = setting(False, "Train an adapter of low rank, and merge it in the end.", key="lora")
    lora_r: int = setting(16, "Rank of the adapter.", low=1, key="lora_r")
    lora_alpha: int = setting(32, "Scale of the adapter.", low=1, key="lora_alpha")
    backend: Literal["trl", "plain"] = setting("trl", "TRL, or a loop in plain torch.", key="backend")
    log_every: int = setting(5, "Steps between two lines of the log.", low=1, key="log_every")
    save_every: int = setting(50, "Steps between two checkpoints.", low=1, key="save_every")
    seed: int = setting(0, "Seed of the order of rows, and of chance in the model.", low=0, high=2**32 - 1)

    def total_steps(self, rows: int) -> int:
        """Return the steps of the optimiser for so many rows."""
        per_epoch = -(-rows // (self.batch_size * self.accumulation))
        return self.steps or max(1, round(self.epochs * per_epoch))


class SftSettings(TrainSettings):
    """What fine-tuning on dialogues has."""

    learning_rate: float = setting(1e-5, "Learning rate at its highest.", low=0, key="learning_rate")
    epochs: float = setting(1.0, "How often each row is seen.", low=0, key="epochs")


class PairSettings(TrainSettings):
    """What training on pairs has."""

    beta: float = setting(0.1, "How dear it is to leave the model as it was.", low=0, key="beta")
    length_norm: bool = setting(False, "Divide the reward of a side by its tokens.", key="length_norm")
    sft_alpha: float = setting(0.0, "Weight of the winners' likelihood in the loss.", low=0, key="sft_alpha")


class PlaySettings(Value, kw_only=True):
    """How a model in this process plays sessions."""

    heading: ClassVar[str] = "Training"

    turns: int = setting(10, "New turns of a session; grpo has 1.", low=1, key="turns")
    reply_tokens: int = setting(256, "Tokens of a reply at most: the cap.", low=1, key="reply_tokens")
    temperature: float = setting(1.0, "Temperature of the replies.", low=0.01, key="temperature")
