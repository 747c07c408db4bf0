#!/bin/sh
# Makes the tokenizer, where there is none yet, and the rows for training.
#   sh prepare.sh [work-dir] [tokens in short rows] [tokens in rows of 4,096]
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$here/.work}
mkdir -p "$work"
py=${PYTHON:-python3}
cd "$here"
[ -e "$work/tokenizer.json" ] || $py -m training.train_tokenizer --out "$work/tokenizer.json"
$py -m training.corpus --out "$work" --name train-1024 --length 1024 --tokens "${2:-60e6}" --seed 7
$py -m training.corpus --out "$work" --name train-4096 --length 4096 --tokens "${3:-10e6}" --seed 8 --long 1
$py -m training.corpus --out "$work" --name held-1024 --length 1024 --tokens 2e5 --seed 99 --held-out
