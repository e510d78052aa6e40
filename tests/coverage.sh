#!/usr/bin/env bash
# Prints the line coverage of the core and the CPU context by the tests, folder by folder, and fails if it is below 90 %.
#
#   tests/coverage.sh [--lines]     builds in build/coverage (reused by later calls), runs ctest, reads gcov
#
# --lines also lists every line that no test reached, as FILE:LINE. A line counts once, however many sources include it. This
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

tree=build/coverage
cmake -S . -B $tree -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCAFFE2RT_COVERAGE=ON > /dev/null
cmake --build $tree
find $tree -name '*.gcda' -delete
ctest --test-dir $tree -j2 -LE embedding --output-on-failure | tail -3

# For every file with code in an object, gcov -t prints "-:0:Source:FILE" followed by lines "count:line:text". A count of "-"
# means no code; "#####" and "=====" mean that the line was never run.
find $tree -name '*.gcda' -print0 |
  xargs -0 gcov -t -s "$PWD" -r 2> /dev/null |
  awk -F: -v want_lines=$lines '
    { count = $1; gsub(/[ \t]/, "", count); line = $2 + 0 }
    line == 0 { if ($3 == "Source") file = $4; next }
    count == "-" || file !~ /^(caffe2_core\/(base|device|tensor|io|graph|runtime)|contexts\/cpu)\// { next }
    { key = file ":" line; seen[key] = 1; if (count !~ /^[#=]/ && count + 0 > 0) ran[key] = 1 }
    END {
      for (key in seen) {
        folder = key
        sub(/\/[^\/]*$/, "", folder)
        ++total[folder]; ++all
        if (key in ran) { ++reached[folder]; ++all_reached } else if (want_lines) print key | "sort -t: -k1,1 -k2,2n"
      }
      close("sort -t: -k1,1 -k2,2n")
      if (all == 0) { print "coverage: gcov reported no line"; exit 1 }
      for (folder in total) printf "%-24s %6d of %6d lines %6.1f %%\n", folder, reached[folder], total[folder],
                                   100 * reached[folder] / total[folder] | "sort"
      close("sort")
      printf "%-24s %6d of %6d lines %6.1f %%\n", "all", all_reached, all, 100 * all_reached / all
      exit all_reached < 0.9 * all
    }'
