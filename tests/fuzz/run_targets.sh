#!/usr/bin/env bash
# Runs the libFuzzer targets of a build, two at a time, and fails if one of them has a finding.
#
#   tests/fuzz/run_targets.sh SECONDS [TARGET...]     e.g. 600 net_text plan; without names all targets
#
# CAFFE2_FUZZ_SEED: the random seed, 1 by default. CAFFE2_FUZZ_TREE: the build, build/asan by default. In its folder fuzz, each
# target has a folder with the inputs that reached new code (found; the next call continues with them), its findings and its
# log. The first inputs are in seeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
export tree=${CAFFE2_FUZZ_TREE:-build/asan}
if ! [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  echo "usage: tests/fuzz/run_targets.sh SECONDS [TARGET...]" >&2
  exit 2
fi
export seconds=$1
shift
targets=("$@")
if [ $# -eq 0 ]; then targets=(net_text net_binary init_net pack plan minidb tensor numpy image caffe_text caffe_model onnx_model onnx_data); fi

# Each input works on files; in memory that takes a seventh of the time.
if [ -d /dev/shm ]; then export TMPDIR=/dev/shm; fi
TMPDIR=$(mktemp -d --tmpdir caffe2_fuzz.XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

"$tree/bin/caffe2_fuzz" --write-corpus "$tree/fuzz/seeds"

run() {
  local name=$1 folder=$tree/fuzz/$1 inputs=()
  mkdir -p "$folder/found" "$folder/findings"
  # The entropic schedule and the names of functions would take half of the time.
  local options=(-max_total_time="$seconds" -seed="${CAFFE2_FUZZ_SEED:-1}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
                 -entropic=0 -print_funcs=0 -artifact_prefix="$folder/findings/")
  if [ -e "tests/fuzz/dictionaries/$name.dict" ]; then options+=(-dict="tests/fuzz/dictionaries/$name.dict"); fi
  local source
  for source in "$tree/fuzz/seeds/$name" "tests/fuzz/corpus/$name"; do
    if [ -d "$source" ]; then inputs+=("$source"); fi
  done
  if UBSAN_OPTIONS=print_stacktrace=1 "$tree/bin/fuzz_$name" "${options[@]}" "$folder/found" "${inputs[@]}" \
      > "$folder/log" 2>&1; then
    printf '%-12s %s inputs run, %s kept\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")" "$(find "$folder/found" -type f | wc -l)"
  else
    tail -n 60 "$folder/log"
    printf '%-12s FAILED: the log is %s/log, the input is in %s/findings\n' "$name" "$folder" "$folder"
    return 1
  fi
}
export -f run
printf '%s\n' "${targets[@]}" | xargs -P 2 -I TARGET bash -c 'run TARGET'
