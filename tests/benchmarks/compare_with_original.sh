#!/usr/bin/env bash
# Times every call of CASES.tsv with the original Caffe2 and with this project, one thread each, in the same run.
#
#   tests/benchmarks/compare_with_original.sh [--original DIR] [--caffe2 PROGRAM] [--models DIR] [--rounds N] [--case TEXT] [--json FILE]
#
# --original DIR: a Python 3.6 to 3.9 environment with torch==1.8.1, the last release that contains Caffe2. If DIR does not exist,
# it is created (1.5 GB) with the first of python3.8, python3.9 and python3.7 that is installed. Debian 12 has no package of
# these; pyenv and uv can install them.
# No code of the original is part of this project.
set -euo pipefail
cd "$(dirname "$0")/../.."

original="${CAFFE2_ORIGINAL:-build/original}"
program="build/release/bin/caffe2"
models="${CAFFE2_TEST_SHARED:-../shared}/models"
rest=()
while [ $# -gt 0 ]; do
  case "$1" in
    --original) original="$2"; shift 2 ;;
    --caffe2) program="$2"; shift 2 ;;
    --models) models="$2"; shift 2 ;;
    --rounds | --case | --json) rest+=("$1" "$2"); shift 2 ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] && exit 0 || exit 2 ;;
  esac
done

if [ ! -f "$models/CASES.tsv" ]; then
  echo "compare_with_original: no \"$models/CASES.tsv\"; name the folder with --models DIR" >&2
  exit 1
fi
if [ ! -x "$program" ]; then
  echo "compare_with_original: no program \"$program\": build the release preset first, or set --caffe2" >&2
  exit 1
fi
if [ ! -x "$original/bin/python" ]; then
  python=""
  for candidate in python3.8 python3.9 python3.7; do
    if command -v "$candidate" >/dev/null; then python="$candidate"; break; fi
  done
  if [ -z "$python" ]; then
    echo "compare_with_original: the original needs Python 3.8 (install one with pyenv or uv), or --original DIR" >&2
    exit 1
  fi
  echo "Installing the original in $original (1.5 GB)" >&2
  "$python" -m venv "$original"
  "$original/bin/pip" install --quiet 'torch==1.8.1' 'numpy==1.19.5' 'protobuf==3.19.6' future six
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
exec "$original/bin/python" tests/benchmarks/compare_with_original.py --program "$program" --models "$models" "${rest[@]}"
