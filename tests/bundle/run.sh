#!/usr/bin/env bash
# Starts run.py, which tests and times the library on this machine's GPU.
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! command -v python3 >/dev/null; then
  echo "run.sh: python3 is not installed: nothing was tested" >&2
  exit 1
fi
exec python3 "$folder/run.py" "$@"
