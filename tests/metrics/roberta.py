"""Make a RoBERTa of any shape, laid out as on the hub: its words learnt from texts, its weights drawn by seed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path


def make_roberta(folder: Path, texts: Iterable[str], **shape: int) -> None:
    """Write the folder of a RoBERTa; `shape` changes what RobertaConfig says of a tiny one."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel

    tiny = {
        "vocab_size": 500,
        "hidden_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 128,
    }
    shape = tiny | shape
    folder.mkdir(parents=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = ByteLevelBPETokenizer()
    words.train_from_iterator(texts, shape["vocab_size"], min_frequency=1, special_tokens=special)
    words.save_model(str(folder))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 512, "tokenizer_class": "RobertaTokenizer"})
    )
    config = RobertaConfig(
        **shape,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=3 / shape["hidden_size"] ** 0.5,  # else all vectors look alike
    )
    torch.manual_seed(0)
    RobertaModel(config).save_pretrained(folder)
