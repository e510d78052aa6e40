#!/usr/bin/env bash
# Tests and times the library on this machine's GPU. Prints a line for each step; the full output is in results/.
#
#   CAFFE2_TEST_SHARED=folder   a folder with models and recorded cases; without it those steps are skipped
#   LD_LIBRARY_PATH             the folders of cuBLAS, cuDNN and cuRAND, if the loader does not find them by itself
#
# Exit code: 0 if nothing failed, 1 if a step failed, 3 if there is no GPU.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${RESULTS:-$root/results}
mkdir -p "$results"
# The bundle's own folders come first, so that the tests load these libraries.
export LD_LIBRARY_PATH=$root/lib:$root/lib/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CAFFE2_CUDA_MODULE=$root/lib/libcaffe2_cuda.so
failed=0 passed=0 skipped=0

echo "glibc $(ldd --version 2>/dev/null | sed -n '1s/.* //p'), $(uname -sr)"
"$root/bin/caffe2" devices || exit 1
if ! "$root/bin/caffe2" devices --json | grep -q '"state": "ready"'; then
  echo "run.sh: no usable CUDA device (the line above has the reason): nothing was tested" >&2
  exit 3
fi
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv,noheader

skip() { echo "SKIPPED  $1: $2"; skipped=$((skipped + 1)); }
# step NAME COMMAND...
step() {
  local name=$1; shift
  local missing
  missing=$(ldd "$1" 2>/dev/null | awk '/not found/ {print $1}' | sort -u | tr '\n' ' ')
  if [ -n "$missing" ]; then skip "$name" "this machine has no $missing"; return; fi
  if "$@" >"$results/$name.log" 2>&1; then
    echo "passed   $name: $(tail -n 1 "$results/$name.log")"; passed=$((passed + 1))
  else
    echo "FAILED   $name (exit code $?), see $results/$name.log: $(tail -n 1 "$results/$name.log")"; failed=$((failed + 1))
  fi
}

step conformance "$root/bin/cuda_conformance"
for pool in thc none cub async; do
  CAFFE2_TEST_CUDA_POOL=$pool step "contexts_$pool" "$root/bin/cuda_test"
done
for program in "$root"/bin/*_on_cuda; do
  [ -x "$program" ] && CAFFE2_TEST_DEVICE=cuda step "$(basename "$program")" "$program"
done

oracle=$root/bin/caffe2_oracle_on_fake
if [ ! -d "${CAFFE2_TEST_SHARED:-}/oracle" ]; then
  skip oracle "CAFFE2_TEST_SHARED does not name a folder with recorded cases"
elif [ -x "$oracle" ]; then
  step oracle_engines "$oracle" --device cuda "$CAFFE2_TEST_SHARED/oracle"
  step oracle_native "$oracle" --device cuda --native "$CAFFE2_TEST_SHARED/oracle"
else
  skip oracle "this bundle has no caffe2_oracle"
fi

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$sanitizer" ]; then
  skip compute-sanitizer "it is not installed"
else
  for tool in memcheck racecheck; do
    for program in elementwise_test_on_cuda reduce_test_on_cuda norm_test_on_cuda; do
      [ -x "$root/bin/$program" ] &&
        CAFFE2_TEST_DEVICE=cuda step "${tool}_$program" "$sanitizer" --tool $tool --error-exitcode 9 "$root/bin/$program"
    done
  done
fi

for pool in raw async none cub thc; do
  step "bench_pool_$pool" "$root/bin/cuda_bench" --pool $pool
done
step bench_copies "$root/bin/cuda_bench" --copies
if command -v python3 >/dev/null; then
  step bench_nets env PYTHONPATH="$root" python3 "$root/compare.py" "$root"
  cat "$results/bench_nets.log"
else
  skip bench_nets "python3 is not installed"
fi
cat "$results"/bench_pool_*.log "$results/bench_copies.log" 2>/dev/null

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
