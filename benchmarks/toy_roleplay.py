"""The toy that training is shown on: characters with catchphrases, a tiny policy, a user and two judges.

    folder = build_policy(Path("build/toy"))
    rows = segment_pairs(TRAIN, 64, seed=1)     # rows as `pairs --kind segment` writes them
    judge = CatchphraseJudge()

A session of a character starts at 3. It gains 1 where a reply has the catchphrase of the character, and 1
where every reply has it. It loses 1 where a reply speaks as an assistant, and 1 where every reply does. The
policy has under half a million parameters and a ChatML template with generation markers. It was trained on
sessions in which one reply of five is in character and one of five is an assistant's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from dialogauge.agents import Scenario, UserRole
from dialogauge.core import Conversation, Judged, Judgement, PlainDimension, Request, Score, Target, digest
from dialogauge.core.protocols import AgentReply, AgentTurn
from dialogauge.training.masks import DialogueTokenizer

TEMPLATE: Final = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ m['content'] }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML; what the assistant writes is marked, its end of turn included."""

NAMES: Final = ("Rosa", "Bram", "Mira", "Odo", "Lena", "Tarek", "Yuki", "Sven", "Noor", "Pia", "Hugo", "Zoe")
PHRASES: Final = (
    "By the old oak!",
    "Salt and thunder!",
    "Well, bless my boots.",
    "As the river goes.",
    "Count the stars, friend.",
    "Honey before vinegar.",
    "The lamp is still lit.",
    "Cold tea, warm heart.",
)
NEUTRAL: Final = (
    "I walked to the market today.",
    "The road was long and quiet.",
    "My sister sends her best.",
    "It rained on the hill again.",
    "We shall see in the morning.",
    "I keep a small blue boat.",
)
ASSISTANT: Final = (
    "How can I help you today?",
    "I am an AI model.",
    "Is there anything else I can do?",
)
USER_LINES: Final = (
    "Hello there.",
    "How was your day?",
    "Tell me more.",
    "And then?",
    "I had a bad night.",
    "What do you think?",
    "Where do you live?",
    "Do you like the sea?",
)


@dataclass(frozen=True)
class Character:
    """Who is played."""

    name: str
    phrase: str

    @property
    def system(self) -> str:
        """What the policy is told."""
        return f"You are {self.name}. You say: {self.phrase}"

    @property
    def scenario(self) -> Scenario:
        """The character as a scenario of sessions: the policy is told `system`, word for word."""
        user = UserRole(f"user of {self.name}", persona="I like to talk.")
        return Scenario(f"{self.name}-{PHRASES.index(self.phrase)}", "task", self.name, self.system, user)


_ALL: Final = [Character(name, phrase) for name, phrase in product(NAMES, PHRASES)]
HELD_OUT: Final = tuple(c for i, c in enumerate(_ALL) if (i // 8 + i) % 6 == 0)
"""Characters that no training sees: their names and their phrases occur in others."""
TRAIN: Final = tuple(c for c in _ALL if c not in HELD_OUT)


def reply(character: Character, chance: random.Random, phrase: float = 0.2, assistant: float = 0.2) -> str:
    """Write a reply: in character, or as an assistant, or neither, by their shares."""
    draw = chance.random()
    if draw < phrase:
        return f"{character.phrase} {chance.choice(NEUTRAL)}" if chance.random() < 0.5 else character.phrase
    return chance.choice(ASSISTANT if draw < phrase + assistant else NEUTRAL)


def session(
    character: Character, turns: int, chance: random.Random, phrase: float = 0.2, assistant: float = 0.2
) -> list[dict[str, str]]:
    """Write a session without its system message."""
    messages = []
    for _ in range(turns):
        messages.append({"role": "user", "content": chance.choice(USER_LINES)})
        messages.append({"role": "assistant", "content": reply(character, chance, phrase, assistant)})
    return messages


def sft_rows(
    characters: Sequence[Character], count: int, *, seed: int = 0, turns: int = 3
) -> Iterator[dict[str, Any]]:
    """Yield sessions as `pairs --kind sft` writes them."""
    chance = random.Random(seed)
    for i in range(count):
        character = characters[i % len(characters)]
        yield {"messages": [_system(character), *session(character, turns, chance)]}


def segment_pairs(
    characters: Sequence[Character], count: int, *, seed: int = 0, turns: int = 3
) -> Iterator[dict[str, Any]]:
    """Yield pairs as `pairs --kind segment` writes them, behind up to two turns: one side is in character."""
    chance = random.Random(seed)
    for i in range(count):
        character = characters[i % len(characters)]
        prompt = [_system(character), *session(character, chance.randint(0, 2), chance)]
        chosen = session(character, turns, chance, 0.7, 0.05)
        rejected = session(character, turns, chance, 0.1, 0.4)
        yield {
            "prompt": prompt,
            "chosen": chosen,
            "rejected": rejected,
            "score_chosen": score(character, [m["content"] for m in chosen[1::2]]),
            "score_rejected": score(character, [m["content"] for m in rejected[1::2]]),
            "persona_id": character.scenario.id,
            "step": 1,
            "model_chosen": "in character",
            "model_rejected": "out of character",
        }


def _system(character: Character) -> dict[str, str]:
    return {"role": "system", "content": character.system}


def score(character: Character, replies: Sequence[str]) -> float:
    """Score a session of a character, 1 to 5."""
    inside = [character.phrase in text for text in replies]
    outside = [any(line in text for line in ASSISTANT) for text in replies]
    if not replies:
        return 3.0
    return 3.0 + any(inside) + all(inside) - any(outside) - all(outside)


_BY_SYSTEM: Final = {c.system: c for c in _ALL}


@dataclass(frozen=True)
class CatchphraseJudge:
    """Scores a session by what its character says; implements `core.protocols.Judge`."""

    name: str = "catchphrase"
    dimensions = (PlainDimension("session", "conversation"),)
    reads = frozenset[Any]()
    together = False

    @property
    def digest(self) -> str:
        """Of the name: it has no settings."""
        return digest(self.name)

    def describe(self) -> Mapping[str, Any]:
        """Return the name."""
        return {"name": self.name}

    def value(self, conversation: Conversation) -> float:
        """Score the new turns of a conversation."""
        replies = [turn.reply_text for turn in conversation.new_turns]
        return score(_BY_SYSTEM[conversation.messages[0].text], replies)

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the session as a whole."""
        c = request.conversation
        target = Target(c.id, "conversation", None, c.candidate)
        return (Judged(target, Judgement({"session": Score(self.value(c))})),)


@dataclass(frozen=True)
class LengthJudge(CatchphraseJudge):
    """Rewards length alone: a character of 60 words a session has 5. What a guard must notice."""

    name: str = "length"

    def value(self, conversation: Conversation) -> float:
        """Count words of the new replies."""
        words = sum(len(turn.reply_text.split()) for turn in conversation.new_turns)
        return min(1.0 + words / 15.0, 5.0)


@dataclass(frozen=True)
class ToyUser:
    """Says one of a few lines, drawn by seed and turn; implements `core.protocols.Agent`."""

    name: str = "toy user"

    @property
    def digest(self) -> str:
        """Of the lines."""
        return digest(list(USER_LINES))

    def describe(self) -> Mapping[str, Any]:
        """Return the name."""
        return {"name": self.name}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Say a line."""
        chance = random.Random(f"{seed} {len(conversation.messages)}")
        return AgentTurn(AgentReply(chance.choice(USER_LINES)))


def build_policy(folder: Path, *, steps: int = 250, seed: int = 0) -> Path:
    """Make and train the policy, and save it; a folder that holds one already is left as it is."""
    if (folder / "model.safetensors").is_file():
        return folder
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    tokenizer = build_tokenizer()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=24,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    encoder = DialogueTokenizer(tokenizer)
    rows = [encoder.encode(row["messages"]) for row in sft_rows(TRAIN, 1_600, seed=seed)]
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    chance = random.Random(seed)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * min(1.0, (step + 1) / 20) * (1.0 - 0.9 * step / steps)
        batch = chance.sample(rows, 16)
        longest = max(len(e.ids) for e in batch)
        pad = tokenizer.pad_token_id
        ids = torch.tensor([e.ids + [pad] * (longest - len(e.ids)) for e in batch])
        labels = torch.tensor([e.labels + [-100] * (longest - len(e.ids)) for e in batch])
        seen = torch.tensor([[1] * len(e.ids) + [0] * (longest - len(e.ids)) for e in batch])
        loss = model(input_ids=ids, attention_mask=seen, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_tokenizer() -> Any:  # noqa: ANN401 - of transformers
    """Train a byte-level tokenizer on the lines of the toy."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    lines = [*NEUTRAL, *ASSISTANT, *USER_LINES, *(c.system for c in _ALL), "system\nuser\nassistant\n"]
    plain.train_from_iterator(
        lines * 4, trainers.BpeTrainer(vocab_size=512, special_tokens=special, initial_alphabet=alphabet)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer
