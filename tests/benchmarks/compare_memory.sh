#!/usr/bin/env bash
# Compares the peak resident memory of loading and running VGG-19 (575 MB of random weights) with this project and with ONNX Runtime,
# one thread each, in the same run.
#
#   tests/benchmarks/compare_memory.sh [--python PYTHON] [--caffe2 PROGRAM] [--folder DIR] [--json FILE]
#
# --python: an interpreter with onnxruntime and numpy; without them the script prints a message and skips.
# --folder: where the two models (1.3 GB) are written and kept; existing ones are reused.
set -euo pipefail
cd "$(dirname "$0")/../.."

python="python3"
program="build/release/bin/caffe2"
folder="build/compare_memory"
rest=()
while [ $# -gt 0 ]; do
  case "$1" in
    --python) python="$2"; shift 2 ;;
    --caffe2) program="$2"; shift 2 ;;
    --folder) folder="$2"; shift 2 ;;
    --json) rest+=("$1" "$2"); shift 2 ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] && exit 0 || exit 2 ;;
  esac
done

if [ ! -x "$program" ]; then
  echo "compare_memory: no program \"$program\": build the release preset first, or set --caffe2" >&2
  exit 1
fi
if ! "$python" -c "import onnxruntime, numpy" 2>/dev/null; then
  echo "compare_memory: skipped: \"$python\" has no onnxruntime or no numpy; name another interpreter with --python" >&2
  exit 0
fi
exec "$python" tests/benchmarks/compare_memory.py --program "$program" --folder "$folder" "${rest[@]}"
