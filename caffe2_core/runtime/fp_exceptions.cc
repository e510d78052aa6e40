#include "caffe2_core/runtime/fp_exceptions.h"

#include <algorithm>
#include <cfenv>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/piece_fp_exceptions.h"
#include "caffe2_core/tensor/tensor_stats.h"

namespace caffe2rt {
namespace {

constexpr int kWatched = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

std::string NamesOf(int exceptions) {
  std::string names;
  const auto add = [&](int exception, const char* name) {
    if ((exceptions & exception) != 0) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(FE_DIVBYZERO, "division by zero (FE_DIVBYZERO)");
  add(FE_INVALID, "invalid operation (FE_INVALID)");
  add(FE_OVERFLOW, "overflow (FE_OVERFLOW)");
  return names;
}

template <class Blobs>
bool AnyHasNaN(const Blobs& blobs) {
  return std::any_of(blobs.begin(), blobs.end(), [](const Blob* blob) {
    return blob != nullptr && blob->IsTensor(CPU) && NonFiniteIn(*blob).nan;
  });
}

}  // namespace

bool RunCheckingFpExceptions(OperatorBase* op, int stream_id) {
  CollectFpExceptionsOfPieces(true);  // the option is for the process, so it stays on
  const bool reads_nan = AnyHasNaN(op->Inputs());
  std::feclearexcept(FE_ALL_EXCEPT);
  const bool success = op->Run(stream_id);
  const int raised = std::fetestexcept(kWatched);
  CAFFE_ENFORCE(raised == 0, "floating-point exception in the operator: ", NamesOf(raised),
                "; --caffe2_operator_throw_if_fp_exceptions=false turns this check off");
  // Functions of several elements at a time compute NaN without raising an exception.
  CAFFE_ENFORCE(reads_nan || !AnyHasNaN(op->Outputs()),
                "the operator computes NaN from inputs without NaN; "
                "--caffe2_operator_throw_if_fp_exceptions=false turns this check off");
  return success;
}

}  // namespace caffe2rt
