// ONNXRange: ONNX's Range (opset 27): start, start + delta, ... before limit.
//   start, limit, delta: one number each, of one type  ->  vector of that type
//
// Caffe2's Range has defaults for start and delta, and fewer element types.

#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

// The number of elements. THROWS if delta is 0, or there are too many.
template <class T>
int64_t CountOfRange(T start, T limit, T delta) {
  CAFFE_ENFORCE(delta != T(0), "input 2 (delta) is 0");
  if constexpr (std::is_integral_v<T>) {
    const bool up = delta > 0;
    if (up ? start >= limit : start <= limit) return 0;
    // Differences of int64 may need 64 bits without sign.
    const uint64_t from = static_cast<uint64_t>(int64_t{start});
    const uint64_t to = static_cast<uint64_t>(int64_t{limit});
    const uint64_t by = static_cast<uint64_t>(int64_t{delta});
    const uint64_t distance = up ? to - from : from - to, step = up ? by : uint64_t{0} - by;
    const uint64_t count = (distance - 1) / step + 1;
    CAFFE_ENFORCE_LT(count, uint64_t{1} << 62, "elements of the range from ", start, " to ", limit);
    return static_cast<int64_t>(count);
  } else {
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / delta);
    CAFFE_ENFORCE(!(count >= 0x1p62) && !std::isnan(count), "range from ", +start, " to ", +limit,
                  " by ", +delta, " is not finite");
    return count > 0 ? static_cast<int64_t>(count) : 0;
  }
}

class ONNXRangeOp final : public Operator<CPUContext> {
 public:
  using Operator::Operator;

  bool RunOnDevice() override {
    static constexpr const char* kNames[] = {"start", "limit", "delta"};
    for (int i = 0; i < 3; ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), 1, "elements of input ", i, " (", kNames[i],
                       "), want one");
      CAFFE_ENFORCE(Input(i).dtype() == Input(0).dtype(), "input ", i, " (", kNames[i],
                    ") has elements of type ", Input(i).dtype().name(), ", want ",
                    Input(0).dtype().name(), " as input 0 (start)");
    }
    return DispatchByType<int64_t, float, int32_t, double, float16, int16_t, int8_t, uint8_t,
                          uint16_t>(Input(0).dtype(), "input 0 (start)",
                                    [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class T>
  bool RunWith() {
    // Halves are computed in float; integers wrap around as bits of int64.
    using Number = std::conditional_t<std::is_same_v<T, float16>, float, T>;
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, Number>;
    const Number start = *Input(0).data<T>(), limit = *Input(1).data<T>();
    const Number delta = *Input(2).data<T>();
    const int64_t count = CountOfRange(start, limit, delta);
    T* const y = OutputData<T>(0, {count});
    ParallelElements(count, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        y[i] = T(static_cast<Number>(static_cast<Sum>(start) +
                                     static_cast<Sum>(i) * static_cast<Sum>(delta)));
    });
    return true;
  }
};

}  // namespace

void RegisterOnnxRange() {
  RegisterSchema("ONNXRange", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "start", "one number: the first element")
      .Input(1, "limit", "one number of the type of start: the end, which is left out")
      .Input(2, "delta", "one number of the type of start, not 0")
      .Output(0, "Y", "vector of the type of start")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        TensorShape shape = UnknownShape();
        if (!in.empty() && in[0].has_data_type()) shape.set_data_type(in[0].data_type());
        return std::vector<TensorShape>{shape};
      })
      .InheritOnnxSchema("Range")
      .Traits({.family = OperatorFamily::kData,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc("Writes the numbers from start to limit in steps of delta, as ONNX's Range does.");
  RegisterCpuOperator<ONNXRangeOp>("ONNXRange", __FILE__);
  // The numbers of elements make steps of the inputs.
  RegisterGradient<NoGradient>("ONNXRange", __FILE__);
}

}  // namespace caffe2rt
