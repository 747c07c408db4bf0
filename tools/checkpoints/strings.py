"""Strings to tokenize: words, spaces, newlines, scripts, emoji, control characters, special tokens."""
import random

PLAIN = [
    "a", "the", "The cat sat on the mat.", " the", "the ", "  two  spaces  ", "   three", "    four", "\n", "\n\n", "a\nb", "a\n\nb", "a \n b",
    "\ttab", "a\t\tb", "\r\nwindows\r\n", "123", "1234567890", "12 345 6789", "3.14159", "I'll you've don't she's he'd we're I'm", "I'LL DON'T",
    "Über die Straße", "café forêt", "naïve façade", "日本語のテキスト", "中文字符", "한국어", "Привет, мир", "مرحبا", "שלום", "हिन्दी", "ไทย",
    "🙂", "👩‍👩‍👧", "🇩🇪 flag", "a🙂b", "emoji 🎉🎉🎉 end", "½ ² Ⅷ ٣", "\u00a0nbsp\u00a0", "\u2003em", "zero\u200bwidth", "\ufeffbom", "\u0000nul", "\x01\x02\x7f",
    "x" * 60, "ab" * 40, "!?!?!?", "...", "---", "=====", "(a[b]{c})", "a/b\\c", "http://example.org/?q=1&r=2", "user@example.org", "#tag @name",
    "def main():\n    return [x for x in range(10)]", "if (a && b) {\n\treturn;\n}", "<b>bold</b>", "&amp; &lt;", "`code` **bold** _it_",
    "▁", "a▁b", "▁x▁y", "Ġ", "<0x41>", "<0x", "<s", "</", "[INS", "<|", "\U0010ffff", "\ue000", "e\u0301", "\u1e9e", "ﬁ", "Å", "ǅ",
    "tokens and merges again and again", "there lives a man who tells stories", "mountains", "stars.", "He'd said so; she's sure.",
]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "etaoin ", "the and in of ", "ABCdef ", "0123456789 ", ".,;:!?'\"()- ", " \n", "äöüßéèñ ", "日本語中文한국 ", "🙂🎉👍 a",
    "a'bs'tl'", "\t \nx",
]


# For patterns that look at case and marks.
CASED = [
    "हिन्दी में", "हिन्दी-हिन्दी", "ภาษาไทย", "ÉCOLE", "École", "éCOLE", "ÉcoleÉcole", "ÜBERÜber", "iPhone", "macOS", "XMLHttpRequest", "getElementByID",
    "aB", "Ab", "AB", "aBcD", "ABCdef", "I'LL", "i'll", "ı'ſ x'ſ", "it'S'RE", "'s", "''s", "cafe\u0301", "CAFE\u0301", "e\u0301E\u0301", "\u0301a", "!\u0301a", "ǅungla",
    "ʰʱ", "aʰB", "日本語ABC日本語abc", "ABC日本", "//", "a//b", "!/\n/x", ".\n\n/ a", " /\r\n", "x /y", "1a2B3c", "12345a", "\u0085a", "a\u0085\u0085b", "\u2028x", "\x1c\x1da",
    "tab\tTab\tTAB", "  Äb  cD", "ÀÈÌàèì ÀÈÌ", "Привет МИР мИр", "ΑΒΓαβγΑ", "ﬀﬁ ﬁS", "ªº", "Ⅷⅷ", "٣٤٥٦",
]


def strings(specials, is_cased=False):
    """`specials` are those of the tokenizer; the strings are the same on every machine."""
    rng = random.Random(7)
    made = ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 24))) for alphabet in ALPHABETS for _ in range(12)]
    marked = [template.replace("@", special) for special in specials
              for template in ("@", "@the cat", "the cat@", "the @ cat", "@\nthe", "@@", "@ the@ cat\n@ ", "@  x")]
    # Five spaces and more are cut differently by every rule there is.
    return [text for text in [*PLAIN, *(CASED if is_cased else []), *made, *marked] if " " * 5 not in text and "\n" * 3 not in text]
