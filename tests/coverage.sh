#!/usr/bin/env bash
# Prints the line coverage of the core and the CPU context by the tests, folder by folder, and fails if it is below 90 %.
#
#   tests/coverage.sh [--lines]     builds in build/coverage (reused by later calls), runs ctest, runs gcovr
#
# --lines also lists the lines of each file that no test reached. A line counts once, however many sources include it. This
# build uses no precompiled headers, so it also checks that every source compiles with only its own includes.
set -euo pipefail
cd "$(dirname "$0")/.."
lines=0
case "${1:-}" in
  "") ;;
  --lines) lines=1 ;;
  *)
    echo "usage: tests/coverage.sh [--lines]" >&2
    exit 2
    ;;
esac

if ! command -v gcovr > /dev/null; then
  echo "coverage: gcovr is missing; install the package gcovr (third_party/README.md)" >&2
  exit 1
fi
tree=build/coverage
cmake -S . -B $tree -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCAFFE2RT_COVERAGE=ON > /dev/null
cmake --build $tree
find $tree -name '*.gcda' -delete
ctest --test-dir $tree -j2 -LE embedding --output-on-failure | tail -3

folders=(caffe2_core/{base,device,tensor,io,graph,runtime} contexts/cpu)
gcovr --root . --filter "($(IFS='|'; echo "${folders[*]}"))/" -j 2 --json $tree/coverage.json $tree
report() { gcovr --root . --add-tracefile $tree/coverage.json "$@"; }
lines_of() { report --print-summary --output /dev/null "$@" | sed -n 's/^lines: //p'; }
if [ $lines -eq 1 ]; then report; fi
for folder in "${folders[@]}"; do printf '%-24s %s\n' "$folder" "$(lines_of --filter "$folder/")"; done
printf '%-24s %s\n' all "$(lines_of)"
report --fail-under-line 90 --output /dev/null
