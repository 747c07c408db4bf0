"""Writes the model of the last checkpoint as a folder in the Hugging Face layout, in 8 bits as it is shipped or in float16.

    python3 -m training.export --work-dir .work --out ../../models/demo
    python3 -m training.export --work-dir .work --out .work/export --float16

8 bits: the format "int-quantized" of compressed-tensors, weights alone, a scale for each row; embeddings and norms are in float16.
"""
import argparse
import json
import os
import shutil

import numpy as np
import torch

from text.chat_format import ADDED, CHAT_TEMPLATE, END, SPECIALS, STOP
from training.tokenizer import Tokenizer
from training.weights import ROOT, to_int8, write_shards


INT8 = {"quant_method": "compressed-tensors", "format": "int-quantized", "quantization_status": "compressed", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": None, "weights": {
            "num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False}}}}


def dump(path, data):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False, indent=2)
        f.write("\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--out", help="default: export in the work folder")
    ap.add_argument("--float16", action="store_true")
    ap.add_argument("--shard-mb", type=float, default=1e6, help="weights in several files of at most so many MB")
    ap.add_argument("--sharpen", type=float, default=1.0, help="factor on all logits, put into the last norm: 3 makes temperature 1 what 0.33 was")
    args = ap.parse_args()
    out = args.out or os.path.join(args.work_dir, "export")
    saved = torch.load(os.path.join(args.work_dir, "checkpoint.pt"), map_location="cpu", weights_only=True)
    tok = Tokenizer(os.path.join(args.work_dir, "tokenizer.json"))
    c, state = saved["config"], dict(saved["model"])
    state["norm.weight"] = state["norm.weight"] * args.sharpen
    tmp = out + ".tmp"
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp)
    tensors = {}
    for n, t in sorted(state.items()):
        tensors.update({"model." + n: t.numpy().astype(np.float16)} if args.float16 else to_int8("model." + n, t.numpy()))
    write_shards(tmp, tensors, int(args.shard_mb * 1e6))
    dump(os.path.join(tmp, "config.json"), {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": None, "eos_token_id": tok.stop, "pad_token_id": tok.end, "head_dim": c["head_dim"],
        "hidden_act": "silu", "hidden_size": c["hidden_size"], "initializer_range": 0.02,
        "intermediate_size": c["intermediate_size"], "max_position_embeddings": c["max_position_embeddings"],
        "mlp_bias": False, "model_type": "llama", "num_attention_heads": c["num_attention_heads"],
        "num_hidden_layers": c["num_hidden_layers"], "num_key_value_heads": c["num_key_value_heads"],
        "pretraining_tp": 1, "rms_norm_eps": c["rms_norm_eps"], "rope_scaling": None, "rope_theta": c["rope_theta"],
        "tie_word_embeddings": True, "torch_dtype": "float16", "transformers_version": "4.46.0", "use_cache": True,
        "vocab_size": c["vocab_size"], **({} if args.float16 else {"quantization_config": INT8})})
    dump(os.path.join(tmp, "generation_config.json"), {
        "eos_token_id": [tok.stop, tok.end], "pad_token_id": tok.end, "do_sample": True,
        "temperature": 0.5, "top_k": 40, "top_p": 0.9, "transformers_version": "4.46.0"})
    dump(os.path.join(tmp, "tokenizer_config.json"), {
        "add_bos_token": False, "add_prefix_space": False,
        "added_tokens_decoder": {str(tok.special[s]): {
            "content": s, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": s in SPECIALS} for s in ADDED},
        "bos_token": None, "eos_token": STOP, "pad_token": END, "unk_token": None,
        "chat_template": CHAT_TEMPLATE, "clean_up_tokenization_spaces": False,
        "model_max_length": c["max_position_embeddings"], "tokenizer_class": "PreTrainedTokenizerFast"})
    shutil.copy(os.path.join(args.work_dir, "tokenizer.json"), os.path.join(tmp, "tokenizer.json"))
    shutil.rmtree(out, ignore_errors=True)
    os.replace(tmp, out)
    total = sum(os.path.getsize(os.path.join(out, n)) for n in os.listdir(out))
    print(f"step {saved['state']['step']}: {sum(t.numel() for t in state.values())} parameters, {total} bytes in {out}")


if __name__ == "__main__":
    main()
