"""Writes models/demo/ in the Hugging Face layout from the last checkpoint.

    python3 export.py [--work-dir .work] [--out ../../models/demo]
"""
import argparse
import json
import os
import shutil

import numpy as np
import torch

from tokenizer import CHAT_TEMPLATE, SPECIALS, Tokenizer
from weights import HERE, MODEL_DIR, write_safetensors


def dump(path, data):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False, indent=2)
        f.write("\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(HERE, ".work"))
    ap.add_argument("--out", default=MODEL_DIR)
    args = ap.parse_args()
    saved = torch.load(os.path.join(args.work_dir, "checkpoint.pt"), map_location="cpu")
    tok = Tokenizer(os.path.join(args.work_dir, "tokenizer.json"))
    c = saved["config"]
    tmp = os.path.join(args.work_dir, "export")
    os.makedirs(tmp, exist_ok=True)
    os.makedirs(args.out, exist_ok=True)
    tensors = {"model." + n: t.numpy().astype(np.float16) for n, t in sorted(saved["model"].items())}
    write_safetensors(os.path.join(tmp, "model.safetensors"), tensors)
    dump(os.path.join(tmp, "config.json"), {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": tok.bos, "eos_token_id": tok.eos, "pad_token_id": tok.pad, "head_dim": c["head_dim"],
        "hidden_act": "silu", "hidden_size": c["hidden_size"], "initializer_range": 0.02,
        "intermediate_size": c["intermediate_size"], "max_position_embeddings": c["max_position_embeddings"],
        "mlp_bias": False, "model_type": "llama", "num_attention_heads": c["num_attention_heads"],
        "num_hidden_layers": c["num_hidden_layers"], "num_key_value_heads": c["num_key_value_heads"],
        "pretraining_tp": 1, "rms_norm_eps": c["rms_norm_eps"], "rope_scaling": None, "rope_theta": c["rope_theta"],
        "tie_word_embeddings": True, "torch_dtype": "float16", "transformers_version": "4.46.0", "use_cache": True,
        "vocab_size": c["vocab_size"]})
    dump(os.path.join(tmp, "generation_config.json"), {
        "bos_token_id": tok.bos, "eos_token_id": tok.eos, "pad_token_id": tok.pad, "do_sample": True,
        "temperature": 0.5, "top_k": 40, "top_p": 0.9, "transformers_version": "4.46.0"})
    dump(os.path.join(tmp, "tokenizer_config.json"), {
        "add_bos_token": True, "add_eos_token": False, "add_prefix_space": False,
        "added_tokens_decoder": {str(tok.special[s]): {
            "content": s, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": True} for s in SPECIALS},
        "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<|pad|>", "unk_token": None,
        "chat_template": CHAT_TEMPLATE, "clean_up_tokenization_spaces": False, "model_max_length": 2048,
        "tokenizer_class": "PreTrainedTokenizerFast"})
    shutil.copy(os.path.join(args.work_dir, "tokenizer.json"), os.path.join(tmp, "tokenizer.json"))
    total = 0
    for name in sorted(os.listdir(tmp)):
        total += os.path.getsize(os.path.join(tmp, name))
        shutil.copyfile(os.path.join(tmp, name), os.path.join(args.out, "." + name + ".tmp"))
        os.replace(os.path.join(args.out, "." + name + ".tmp"), os.path.join(args.out, name))
    print(f"step {saved['state']['step']}: {sum(t.size for t in tensors.values())} parameters, {total} bytes")


if __name__ == "__main__":
    main()
