#pragma once
// Range: the values start, start + step, ... before stop. The inputs have one element each. One
// input is stop; two inputs are start and stop; three inputs are start, stop and step.
//
// There are ceil((stop - start) / step) elements. Caffe2 leaves the last one out for integers and a
// negative step that does not divide the distance.

#include <cmath>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/host_input.h"
#include "operators/fill/constant_fill_kernels.h"

namespace caffe2rt {

// The number of elements. THROWS if it is too large.
template <class T>
int64_t RangeLength(T start, T stop, T step) {
  if constexpr (std::is_integral_v<T>) {
    T distance;
    CAFFE_ENFORCE(!__builtin_sub_overflow(stop, start, &distance) &&
                      !(step == -1 && distance == std::numeric_limits<T>::min()),
                  "range from ", start, " to ", stop, " is too long");
    int64_t length = static_cast<int64_t>(distance / step);
    if (distance % step != 0 && (distance < 0) == (step < 0)) ++length;
    return length > 0 ? length : 0;
  } else {
    const double length = std::ceil(static_cast<double>((stop - start) / step));
    // A NaN or infinite length gives no elements, as in Caffe2.
    if (!(length > 0) || !std::isfinite(length)) return 0;
    CAFFE_ENFORCE_LT(length, 9e15, "elements of the range from ", start, " to ", stop);
    return static_cast<int64_t>(length);
  }
}

// out[i] = start + i * step.
template <class T>
void FillRange(CPUContext&, int64_t n, T start, T step, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = start + static_cast<T>(i) * step;
}

// On a device, the inputs may be in device memory or on the CPU. The host waits until it can read
// them.
template <class Context>
class RangeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RangeOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t, float, double>(
        InputAnywhere(*this, 0).dtype(), "input 0",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class T>
  void CheckNumber(int input) const {
    const Tensor& number = InputAnywhere(*this, input);
    CAFFE_ENFORCE_EQ(number.numel(), 1, "elements of input ", input, ", want one");
    RequireElements<T>(number);
  }
  template <class T>
  T Number(int input) {
    return *number_input_.Read(*this, input).template data<T>();
  }
  template <class T>
  bool RunWith() {
    const int inputs = InputSize();
    for (int i = 0; i < inputs; ++i) CheckNumber<T>(i);
    const T start = inputs > 1 ? Number<T>(0) : T(0);
    const T stop = Number<T>(inputs > 1 ? 1 : 0);
    const T step = inputs > 2 ? Number<T>(2) : T(1);
    CAFFE_ENFORCE_NE(step, T(0), "Step size cannot be 0: input 2 (step)");
    const int64_t length = RangeLength(start, stop, step);
    T* out = this->template OutputData<T>(0, {length});
    FillRange(context_, length, start, step, out);
    return true;
  }

  HostInput number_input_;
};

}  // namespace caffe2rt
