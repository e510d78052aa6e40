#!/bin/bash
# compare_compile_time.sh ORIGINAL PREFIX: compares the time that a source takes to compile with the headers of the last Caffe2
# release that has them (PyTorch 1.8.1) and with this library's compat headers.
#
# ORIGINAL is the folder that contains its caffe2/, c10/ and ATen/, PREFIX an installation of this library. The protobuf headers of
# both come from the protoc of this machine. The sources are those of ten operators (project/operators/new_operators.cc) and of one
# operator of that file. Prints the processor time of the fastest of three compilations in seconds, and the ratio, for each
# compiler. Fails if this library's headers take longer. Not a test: the original's headers are not part of the project.
set -euo pipefail
if [ $# -ne 2 ] || [ ! -f "$1/caffe2/core/operator.h" ] || [ ! -d "$2/include/caffe2rt" ]; then
  echo "usage: $0 ORIGINAL PREFIX; ORIGINAL contains caffe2/core/operator.h, PREFIX include/caffe2rt" >&2
  exit 2
fi
original=$(realpath "$1") prefix=$(realpath "$2") here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The original's own generated headers need its version of protobuf.
for name in caffe2 caffe2_legacy hsm metanet predictor_consts; do
  protoc -I"$prefix/include" --cpp_out="$work" "caffe2/proto/$name.proto"
done
# The original was built with a BLAS library that may be missing. It includes this header for the enumerations.
cat > "$work/mkl_cblas.h" <<'HEADER'
#pragma once
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };
enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 };
enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 };
HEADER
cat > "$work/one_operator.cc" <<'SOURCE'
#include "caffe2/core/operator.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
namespace {

template <typename T, class Context>
class OneScaleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  template <class... Args>
  explicit OneScaleOp(Args&&... args)
      : Operator<Context>(std::forward<Args>(args)...),
        scale_(this->template GetSingleArgument<float>("scale", 1.0f)) {}
  bool RunOnDevice() override {
    const auto& X = Input(0);
    auto* Y = Output(0, X.sizes(), at::dtype<T>());
    math::Scale<float, T, Context>(X.numel(), scale_, X.template data<T>(),
                                   Y->template mutable_data<T>(), &context_);
    return true;
  }

 private:
  const float scale_;
};
REGISTER_CPU_OPERATOR(OneScale, OneScaleOp<float, CPUContext>);
OPERATOR_SCHEMA(OneScale).NumInputs(1).NumOutputs(1).Arg("scale", "the factor");

}  // namespace
}  // namespace caffe2
SOURCE

# fastest COMMAND...: the processor time of the fastest of three runs, in milliseconds.
fastest() {
  local best=999999 spent TIMEFORMAT='%3U %3S'
  for _ in 1 2 3; do
    spent=$( { time "$@" > "$work/log" 2>&1 || touch "$work/failed"; } 2>&1 | awk '{ print int(1000 * ($1 + $2)) }')
    if [ -e "$work/failed" ]; then
      cat "$work/log" >&2
      echo "failed: $*" >&2
      return 1
    fi
    if [ "$spent" -lt "$best" ]; then best=$spent; fi
  done
  echo "$best"
}

# Both have -O2 and Eigen's folder; the original was written for C++14.
ours=(-std=c++20 "-I$prefix/include/caffe2rt" "-I$prefix/include/caffe2rt/caffe2_core/compat")
theirs=(-std=c++14 "-I$work" "-I$original")
slower=0
printf '%-10s %-20s %10s %10s %7s\n' compiler source original caffe2rt ratio
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null || continue
  for source in "$work/one_operator.cc" "$here/project/operators/new_operators.cc"; do
    common=(-O2 -w -I/usr/include/eigen3 -c -o /dev/null "$source")
    a=$(fastest "$compiler" "${theirs[@]}" "${common[@]}")
    b=$(fastest "$compiler" "${ours[@]}" "${common[@]}")
    printf '%-10s %-20s %9d.%02d %9d.%02d %4d %%\n' "$compiler" "$(basename "$source")" $((a / 1000)) $((a % 1000 / 10)) \
      $((b / 1000)) $((b % 1000 / 10)) $((100 * b / a))
    if [ "$b" -gt "$a" ]; then slower=1; fi
  done
done
exit $slower
