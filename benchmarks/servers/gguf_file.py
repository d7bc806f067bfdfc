"""Writes the tiny model of the bench as a GGUF file, for the servers that are built on llama.cpp.

    python benchmarks/servers/gguf_file.py MODEL_FOLDER FILE.gguf

Runs with the Python of the servers (`gguf`, `numpy`, `safetensors`), not with that of dialogauge.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import load_file

_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
_BLOCK_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(folder: Path, file: Path) -> None:
    """Write a Llama model with a byte-level BPE tokenizer, both saved by transformers, as one file."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(file, "llama")
    _add_architecture(writer, config)
    _add_tokenizer(writer, folder)
    for name, values in load_file(folder / "model.safetensors").items():
        writer.add_tensor(_tensor_name(name), _as_llama_cpp(name, values, config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_architecture(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    heads = config["num_attention_heads"]
    rope = config.get("rope_parameters") or config
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def _add_tokenizer(writer: gguf.GGUFWriter, folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = {entry["content"]: entry["id"] for entry in tokenizer["added_tokens"]}
    vocabulary = {**tokenizer["model"]["vocab"], **special}
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    kinds = [gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL for token in tokens]
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")  # single digits, then the byte level of GPT-2
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(special["<|end|>"])
    writer.add_pad_token_id(special["<|pad|>"])
    writer.add_bool(gguf.Keys.Tokenizer.ADD_BOS, False)  # noqa: FBT003 - as the library takes it
    writer.add_chat_template((folder / "chat_template.jinja").read_text(encoding="utf-8"))


def _tensor_name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    _, _, block, *rest = name.split(".")
    return f"blk.{block}.{_BLOCK_NAMES['.'.join(rest[:-1])]}.weight"


def _as_llama_cpp(name: str, values: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    """Order the rows of queries and keys as llama.cpp rotates them: neighbours, not halves."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(name.split(".")[-2])
    values = values.astype(np.float32)
    if heads is None:
        return values
    number = config[heads]
    apart = values.reshape(number, 2, values.shape[0] // number // 2, values.shape[1])
    return np.ascontiguousarray(apart.swapaxes(1, 2).reshape(values.shape))


if __name__ == "__main__":
    write_gguf(Path(sys.argv[1]), Path(sys.argv[2]))
