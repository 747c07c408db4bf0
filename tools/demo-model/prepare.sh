#!/bin/sh
# Writes the corpus, the tokenizer and the packed rows into the work folder.
#   sh prepare.sh [work-dir]
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$here/.work}
mkdir -p "$work"
py=${PYTHON:-/usr/bin/python3}
cd "$here"
$py generate.py --out "$work/corpus.jsonl" --docs 80000 --seed 7
$py generate.py --out "$work/corpus-long.jsonl" --docs 9000 --seed 8 --long 0.12
$py generate.py --out "$work/held-out.jsonl" --docs 700 --seed 99 --long 0.02 --held-out
[ -e "$work/tokenizer.json" ] || $py tokenizer.py "$work/corpus.jsonl" --out "$work/tokenizer.json"
$py pack.py "$work/corpus.jsonl" --tokenizer "$work/tokenizer.json" --length 512 --out "$work/train-512.npz"
$py pack.py "$work/corpus-long.jsonl" --tokenizer "$work/tokenizer.json" --length 2048 --out "$work/train-2048.npz"
$py pack.py "$work/held-out.jsonl" --tokenizer "$work/tokenizer.json" --length 512 --out "$work/held-out-512.npz"
$py render.py "$work/held-out.jsonl" "$here/held-out.jsonl"
