#!/usr/bin/env bash
# Compares the speed of this project with ONNX Runtime, OpenVINO and ncnn on twelve nets with random weights, all in turns in one run.
#
#   tests/benchmarks/compare_with_engines.sh [--folder DIR] [--runner PROGRAM] [--threads 1,2] [--batch 1,8] [--nets NAME,...]
#       [--engines NAME,...] [--rounds N] [--milliseconds N] [--cpus N,...] [--separate-batch-norm] [--json FILE] [--plot FILE.svg]
#       [--precision bf16|int8] [--memory] [--load]
#
# --folder DIR (build/engines): an environment with the other engines, and the nets (5 GB). What is missing is installed with pip or
# written; engines that pip cannot install are left out. --memory and --load compare these instead of the speed.
# --precision compares with OpenVINO in that precision; int8 nets are written by caffe2 quantize and by NNCF (pip: nncf, openvino).
# Run it on an idle machine: the share of the CPUs that other processes used is printed.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder="build/engines"
runner="build/release/bin/engine_runner"
rest=()
while [ $# -gt 0 ]; do
  case "$1" in
    --folder) folder="$2"; shift 2 ;;
    --runner) runner="$2"; shift 2 ;;
    --threads | --batch | --nets | --engines | --rounds | --milliseconds | --cpus | --json | --plot | --precision) rest+=("$1" "$2"); shift 2 ;;
    --separate-batch-norm | --memory | --load) rest+=("$1"); shift ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] && exit 0 || exit 2 ;;
  esac
done

if [ ! -x "$runner" ]; then
  echo "compare_with_engines: no program \"$runner\": build the release preset first, or set --runner" >&2
  exit 1
fi
python="$folder/env/bin/python"
if [ ! -x "$python" ]; then
  echo "Installing other engines in $folder" >&2
  mkdir -p "$folder"
  python3 -m venv "$folder/env"
fi
"$python" -c 'import numpy' 2>/dev/null || "$python" -m pip install --quiet numpy
# pnnx converts nets for ncnn. Its program needs none of the packages that its Python module needs, PyTorch among them.
packages=(onnxruntime openvino ncnn "--no-deps pnnx")
case " ${rest[*]} " in *" int8 "*) packages+=(nncf) ;; esac
for package in "${packages[@]}"; do
  mark="$folder/env/tried_${package##* }"
  if [ ! -e "$mark" ]; then
    # shellcheck disable=SC2086
    "$python" -m pip install --quiet $package || echo "compare_with_engines: pip cannot install ${package##* }" >&2
    touch "$mark"
  fi
done
exec "$python" tests/benchmarks/peers/compare.py --runner "$runner" --folder "$folder/nets" "${rest[@]}"
