// Quantile: a number that the fraction `quantile` of all elements does not exceed, by bisection.
//   X1, X2, ... float or double, any shapes  ->  [1]
#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kQuantile{
    .name = "quantile",
    .doc = "the fraction, from 0 to 1",
    .check = {[](float quantile) { return quantile >= 0 && quantile <= 1; }, "0 to 1"},
    .required = true};
constexpr ArgumentSpec<bool> kQuantileAbs{"abs", true, "1: of the absolute values"};
constexpr ArgumentSpec<float> kQuantileTol{
    "tol",
    1e-3f,
    "the search ends at an interval of this size relative to the sum of its ends, above 0",
    {[](float tol) { return tol > 0; }, "above 0"}};

class QuantileOp final : public Operator<CPUContext> {
 public:
  QuantileOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        quantile_(ReadArgument(kQuantile)),
        abs_(ReadArgument(kQuantileAbs)),
        tol_(ReadArgument(kQuantileTol)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double>(Input(0).dtype(), "input 0",
                                         [this](auto element) { return Run<decltype(element)>(); });
  }

 private:
  // Calls visit(x) for all elements, or their absolute values.
  template <class T, class Visit>
  void ForEach(const Visit& visit) const {
    for (int i = 0; i < InputSize(); ++i) {
      const T* const x = Input(i).template data<T>();
      for (int64_t k = 0; k < Input(i).numel(); ++k) visit(abs_ ? std::abs(x[k]) : x[k]);
    }
  }

  template <class T>
  bool Run() {
    int64_t total = 0;
    for (int i = 0; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).template IsType<T>(), "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want those of input 0, ", TypeMeta::Name<T>());
      total += Input(i).numel();
    }
    CAFFE_ENFORCE_GT(total, 0, "elements of all inputs");
    T low = std::numeric_limits<T>::infinity(), high = -low;
    ForEach<T>([&](T x) {  // passes over NaN
      low = std::min(low, x);
      high = std::max(high, x);
    });
    CAFFE_ENFORCE(low <= high, "all elements of the inputs are NaN, want a number");
    *OutputData<T>(0, {1}) = Search(total, low, high);
    return true;
  }

  template <class T>
  T Search(int64_t total, T low, T high) const {
    const auto rank = static_cast<int64_t>(std::ceil(quantile_ * static_cast<float>(total)));
    if (CountUpTo(low) >= rank) return low;
    while (high / 2 - low / 2 > static_cast<T>(tol_) * (std::abs(low) / 2 + std::abs(high) / 2)) {
      const T middle = low / 2 + high / 2;
      if (!(middle > low && middle < high)) break;  // no number is between them
      const int64_t count = CountUpTo(middle);
      if (count == rank) return middle;
      (count < rank ? low : high) = middle;
    }
    return high;
  }

  template <class T>
  int64_t CountUpTo(T limit) const {
    int64_t count = 0;
    ForEach<T>([&](T x) { count += x <= limit ? 1 : 0; });
    return count;
  }

  const float quantile_;
  const bool abs_;
  const float tol_;
};

}  // namespace

void RegisterQuantile() {
  RegisterSchema("Quantile", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Args(kQuantile, kQuantileAbs, kQuantileTol)
      .Input(0, "X1, X2, ...", "tensors of any shapes, all float or all double")
      .Output(0, "quantile_value", "[1], the type of the inputs")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (in.empty() || !in[0].has_data_type()) return std::vector<TensorShape>{UnknownShape()};
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{1}, in[0].data_type())};
      })
      .SetDoc(
          "Searches by bisection for a number that ceil(quantile * count) of the elements do not "
          "exceed. The search ends at the first number that has this rank, or where the interval "
          "is small. NaN has no rank, but counts as an element.");
  RegisterCpuOperator<QuantileOp>("Quantile", __FILE__);
  // It summarizes data.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Quantile", __FILE__);
}

}  // namespace caffe2rt
