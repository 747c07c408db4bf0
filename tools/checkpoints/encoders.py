"""Tiny encoders and what transformers computes with them: token ids by Hugging Face's tokenizers, vectors and scores by its forward
passes in double precision. Needs torch, transformers, tokenizers and sentencepiece; see README.md."""

import json
import sys
import tempfile
import unicodedata
from pathlib import Path

# So that `tokenizers` is the package, and not the file beside this one.
sys.path.append(sys.path.pop(0))

import sentencepiece
import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from weights import hashed

OUTPUT = Path(__file__).parent / "../../test/model/reference/checkpoints/encoders.json"
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Größere Straßen führen über Österreich; naïve façade déjà vu, São Paulo.",
    "Жили-были старик со старухой у самого синего моря.",
    "敏捷的棕色狐狸跳过了懒狗。漢字と仮名 ｶﾀｶﾅ ガ",
    "안녕하세요 세계 नमस्ते दुनिया สวัสดีชาวโลก مرحبا بالعالم",
    "İstanbul ILIK ΣΊΣΥΦΟΣ ǅ ẞ ﬁne ½ ① ｆｕｌｌ",
    "e\u0301a\u0300o\u0308 n\u0303 か\u3099 क\u094d\u200dष \u1100\u1161\u11a8",
    "  two  spaces\tand\nlines\u00a0nbsp\u3000wide \u2028 end  ",
    "a word <mask> then [MASK] and </s> or [SEP] ▁marks▁",
    "😀 👩‍👩‍👧‍👦 🇩🇪 ❤️ zero\u200bwidth soft\u00adhyphen",
    "don't http://example.com/a?b=1&c=2 C++ 3.14",
    " ",
    "x",
    "x" * 130,
    "word " * 40,
]
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
ROBERTA = {"max_position_embeddings": 258, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
ROBERTA_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def wordpiece(lowercase, strip_accents):
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # A mark of GGUF's, which is in no vocabulary of BERT's.
    texts = [text.replace("▁", "") for text in TEXTS]
    made.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def byte_level():
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(TEXTS, trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], initial_alphabet=alphabet, show_progress=False
    ))
    made.add_special_tokens([AddedToken("<mask>", special=True, lstrip=True, normalized=False)])
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    return made


def character_rules():
    """NFKC of what the texts hold, and of two characters that are written as one; spaces of all kinds; what vanishes."""
    rules = {}
    for text in TEXTS:
        for i, character in enumerate(text):
            for source in (character, text[i:i + 2]):
                target = unicodedata.normalize("NFKC", source)
                is_one = len(source) == 1 or len(target) == 1
                if target != source and is_one and " " not in source:
                    rules[source] = target
    rules.update({"\t": " ", "\n": " ", "\u200b": "", "\u00ad": ""})
    return rules


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        number, wire = divmod(varint(), 8)
        size = {0: None, 1: 8, 5: 4}.get(wire, 0)
        if size is None:
            yield number, varint()
        else:
            size = size or varint()
            yield number, data[at:at + size]
            at += size


def unigram(shape):
    with tempfile.TemporaryDirectory() as folder:
        rules, corpus, prefix = Path(folder) / "rules.tsv", Path(folder) / "corpus.txt", f"{folder}/model"
        codes = lambda text: " ".join(f"{ord(character):X}" for character in text)
        rules.write_text("".join(f"{codes(a)}\t{codes(b)}\n" for a, b in character_rules().items()))
        corpus.write_text("\n".join(TEXTS))
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus), model_prefix=prefix, vocab_size=260, model_type="unigram", hard_vocab_limit=False,
            normalization_rule_tsv=str(rules), minloglevel=2,
        )
        data = Path(f"{prefix}.model").read_bytes()
        pieces = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
        vocab = [(pieces.id_to_piece(id), pieces.get_score(id)) for id in range(3, pieces.get_piece_size())]
    [normalization] = [value for number, value in fields(data) if number == 3]
    [character_map] = [value for number, value in fields(normalization) if number == 2]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    made = Tokenizer(models.Unigram([*((text, 0.0) for text in special), *vocab, ("<mask>", 0.0)], 3, False))
    precompiled = normalizers.Precompiled(character_map)
    if shape == "split":
        made.normalizer = precompiled
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    else:
        strip = normalizers.Strip(left=False, right=True)
        made.normalizer = normalizers.Sequence([precompiled, strip, normalizers.Replace(Regex(" {2,}"), "▁")])
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    made.add_special_tokens([AddedToken("<mask>", special=True, lstrip=True, normalized=False)])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return made


def weights(model):
    """The same numbers as `encoderWeights` of test/support/checkpoints/reference-encoders.ts."""
    for name, parameter in model.named_parameters():
        values = torch.tensor(hashed(name, parameter.numel()) / 256, dtype=torch.float64).reshape(parameter.shape)
        parameter.data = 1 + values / 2 if name.endswith("LayerNorm.weight") else values
    return model.eval().double()


def case(name, model_class, tokenizer, config, pooling="mean"):
    is_reranker = "Classification" in model_class
    config_class = getattr(transformers, model_class.replace("Model", "Config").replace("ForSequenceClassification", "Config"))
    labels = {"num_labels": 1} if is_reranker else {}
    config = {"vocab_size": tokenizer.get_vocab_size(), **SIZES, **config}
    model = weights(getattr(transformers, model_class)(config_class(**config, **labels)))
    rows = []
    with torch.no_grad():
        for at, text in enumerate(TEXTS):
            query = TEXTS[(at * 7 + 3) % len(TEXTS)] if is_reranker else None
            encoding = tokenizer.encode(query, text) if is_reranker else tokenizer.encode(text)
            ids = torch.tensor([encoding.ids])
            assert ids.shape[1] <= 256, text
            types = {"token_type_ids": torch.tensor([encoding.type_ids])} if config["type_vocab_size"] > 1 else {}
            if is_reranker:
                values = model(ids, **types).logits[0]
            else:
                states = model(ids, **types).last_hidden_state[0]
                pooled = states[0] if pooling == "cls" else states.mean(0)
                values = pooled / pooled.norm()
            rows.append({"query": query, "text": text, "ids": encoding.ids, "values": [round(float(v), 6) for v in values]})
    return {
        "name": name, "pooling": None if is_reranker else pooling,
        "config": {**config, "architectures": [model_class], "hidden_act": "gelu", "layer_norm_eps": model.config.layer_norm_eps,
                   **({"id2label": {"0": "LABEL_0"}} if is_reranker else {})},
        "tokenizer": json.loads(tokenizer.to_str()),
        "tokenizerConfig": ROBERTA_TOKENS if "oberta" in model_class else {},
        "shapes": {name: list(parameter.shape) for name, parameter in model.named_parameters()},
        "rows": rows,
    }


BERT = {"max_position_embeddings": 256, "type_vocab_size": 2}
CASES = [
    case("BERT, cased", "BertModel", wordpiece(False, None), BERT),
    case("BERT, cased without accents", "BertModel", wordpiece(False, True), BERT, "cls"),
    case("BERT, lower case with accents", "BertModel", wordpiece(True, False), BERT),
    case("BERT that reranks, two segments", "BertForSequenceClassification", wordpiece(True, None), BERT),
    case("XLM-RoBERTa, words split at whitespace", "XLMRobertaModel", unigram("split"), ROBERTA),
    case("XLM-RoBERTa, spaces stripped", "XLMRobertaModel", unigram("strip"), ROBERTA, "cls"),
    case("XLM-RoBERTa that reranks", "XLMRobertaForSequenceClassification", unigram("split"), ROBERTA),
    case("RoBERTa", "RobertaModel", byte_level(), ROBERTA),
    case("RoBERTa that reranks", "RobertaForSequenceClassification", byte_level(), ROBERTA),
]
OUTPUT.write_text(json.dumps({"cases": CASES}, ensure_ascii=False, separators=(",", ":")) + "\n")
