// Histogram: counts the elements of all inputs between edges.
//   X1, X2, ... float or double, any shapes  ->  int64 [edges - 1]
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<float> kHistogramEdges{
    "bin_edges",
    "edges of the bins, at least 2, strictly ascending; a bin has its lower edge, not the upper "
    "one",
    {[](const std::vector<float>& edges) {
       for (size_t i = 1; i < edges.size(); ++i) {
         if (!(edges[i - 1] < edges[i])) return false;
       }
       return edges.size() >= 2;
     },
     "at least 2 strictly ascending numbers"},
    true};

class HistogramOp final : public Operator<CPUContext> {
 public:
  HistogramOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), edges_(ReadArgument(kHistogramEdges)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double>(
        Input(0).dtype(), "input 0", [this](auto element) { return Count<decltype(element)>(); });
  }

 private:
  template <class T>
  bool Count() {
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).template IsType<T>(), "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want those of input 0, ", TypeMeta::Name<T>());
    }
    const auto bins = static_cast<int64_t>(edges_.size()) - 1;
    Input(0).template data<T>();
    int64_t* const counts = OutputData<int64_t>(0, {bins});
    std::fill_n(counts, bins, int64_t{0});
    for (int i = 0; i < InputSize(); ++i) {
      const T* const x = Input(i).template data<T>();
      for (int64_t k = 0; k < Input(i).numel(); ++k) {
        // Not for NaN.
        if (!(x[k] >= static_cast<T>(edges_.front()) && x[k] < static_cast<T>(edges_.back()))) {
          continue;
        }
        const auto above = std::upper_bound(edges_.begin(), edges_.end(), x[k]);
        ++counts[above - edges_.begin() - 1];
      }
    }
    return true;
  }

  const std::vector<float> edges_;
};

}  // namespace

void RegisterHistogram() {
  RegisterSchema("Histogram", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Arg(kHistogramEdges)
      .Input(0, "X1, X2, ...", "tensors of any shapes, all float or all double")
      .Output(0, "histogram", "int64, the number of elements in each bin")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        const auto bins =
            static_cast<int64_t>(ArgumentHelper(def).Read(kHistogramEdges).size()) - 1;
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{bins}, TensorProto_DataType_INT64)};
      })
      .SetDoc(
          "Counts the elements of all inputs in each bin. Elements below the first edge, at or "
          "above the last one, and NaN are not counted.");
  RegisterCpuOperator<HistogramOp>("Histogram", __FILE__);
  // Counts are no differentiable function.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Histogram", __FILE__);
}

}  // namespace caffe2rt
