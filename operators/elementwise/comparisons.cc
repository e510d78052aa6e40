// LT, LE, GT, GE, EQ, NE: bool from two numbers.

#include "caffe2_core/graph/gradient.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

namespace {

template <class Function>
void RegisterComparison(const char* type, const char* doc) {
  RegisterBinary<Function, float, double, int32_t, int64_t, bool>(
      {.type = type, .doc = doc, .result = TensorProto::BOOL}, __FILE__);
}

}  // namespace

void RegisterComparisons() {
  RegisterComparison<LessFunction>("LT", "Y = A < B.");
  RegisterComparison<LessEqualFunction>("LE", "Y = A <= B.");
  RegisterComparison<GreaterFunction>("GT", "Y = A > B.");
  RegisterComparison<GreaterEqualFunction>("GE", "Y = A >= B.");
  RegisterComparison<EqualFunction>("EQ", "Y = A == B.");
  RegisterComparison<NotEqualFunction>("NE", "Y = A != B.");
  // Not differentiable.
  for (const char* type : {"LT", "LE", "GT", "GE", "EQ", "NE"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
