// SelfBinningHistogram: counts the elements of all inputs in bins between their least and their
// largest element.
//   X1, X2, ... float or double, any shapes
//     ->  the num_bins + 1 edges, their counts int64
// The last edge is a little above the largest element, so its count is 0.
#include <algorithm>
#include <cmath>
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kNumBins{"num_bins",
                                     0,
                                     "the number of bins, at least 1; must be given",
                                     {[](int bins) { return bins >= 1; }, "at least 1"},
                                     true};
constexpr ArgumentSpec<std::string> kBinSpacing{
    "bin_spacing",
    "linear",
    "linear or logarithmic",
    {[](const std::string& name) { return name == "linear" || name == "logarithmic"; },
     "linear or logarithmic"}};
constexpr ArgumentSpec<float> kLogspaceStart{
    "logspace_start",
    1e-24f,
    "the least edge of logarithmic bins, above 0; smaller elements are in the first bin",
    {[](float start) { return start > 0; }, "above 0"}};
constexpr ArgumentSpec<bool> kAbsoluteValues{"abs", false, "1: count the absolute values"};

class SelfBinningHistogramOp final : public Operator<CPUContext> {
 public:
  SelfBinningHistogramOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        bins_(ReadArgument(kNumBins)),
        is_logarithmic_(ReadArgument(kBinSpacing) == "logarithmic"),
        start_(ReadArgument(kLogspaceStart)),
        is_absolute_(ReadArgument(kAbsoluteValues)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double>(
        Input(0).dtype(), "input 0", [this](auto element) { return Count<decltype(element)>(); });
  }

 private:
  // The range of elements; is empty if there are none.
  template <class T>
  struct Range {
    T least = 0, largest = 0;
    bool is_empty = true;
  };

  template <class T>
  T ValueOf(T x) const {
    return is_absolute_ ? std::abs(x) : x;
  }

  template <class T>
  bool Count() {
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).template IsType<T>(), "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want those of input 0, ", TypeMeta::Name<T>());
    }
    Range<T> range = RangeOf<T>();
    const int64_t size = bins_ + 1;
    T* const edges = OutputData<T>(0, {size});
    int64_t* const counts = OutputData<int64_t>(1, {size});
    std::fill_n(counts, size, int64_t{0});
    std::fill_n(edges, size, T{0});
    if (range.is_empty) return true;
    const bool is_wide = SetEdges(range, edges);
    for (int i = 0; i < InputSize(); ++i) {
      const T* const x = Input(i).template data<T>();
      for (int64_t k = 0; k < Input(i).numel(); ++k) {
        const int64_t above =
            is_wide ? std::upper_bound(edges, edges + size, ValueOf(x[k])) - edges : 0;
        ++counts[std::max<int64_t>(above, 1) - 1];
      }
    }
    return true;
  }

  template <class T>
  Range<T> RangeOf() const {
    Range<T> range;
    for (int i = 0; i < InputSize(); ++i) {
      const T* const x = Input(i).template data<T>();
      for (int64_t k = 0; k < Input(i).numel(); ++k) {
        const T value = ValueOf(x[k]);
        CAFFE_ENFORCE(std::isfinite(value), "element ", k, " of input ", i, " is ", value,
                      ", want finite numbers");
        range.least = range.is_empty ? value : std::min(range.least, value);
        range.largest = range.is_empty ? value : std::max(range.largest, value);
        range.is_empty = false;
      }
    }
    return range;
  }

  // Returns false if the elements are too close for the last edge to be above all of them; all are
  // in the first bin then.
  template <class T>
  bool SetEdges(Range<T> range, T* edges) const {
    if (is_logarithmic_) {
      range.least = std::max(range.least, static_cast<T>(start_));
      range.largest = std::max(range.largest, static_cast<T>(start_));
    }
    const T width = range.largest - range.least;
    const T end = is_logarithmic_ ? range.least + (width + width * kMargin<T>)
                                  : range.largest + width * kMargin<T>;
    CAFFE_ENFORCE(std::isfinite(end - range.least), "the range of the elements is from ",
                  range.least, " to ", range.largest, ", want a finite width");
    for (int64_t i = 0; i <= bins_; ++i) {
      const T ratio = static_cast<T>(i) / static_cast<T>(bins_);
      edges[i] = is_logarithmic_
                     ? range.least * std::exp((std::log(end) - std::log(range.least)) * ratio)
                     : range.least + ratio * (end - range.least);
    }
    return end > range.largest;
  }

  // How far the last edge is above the largest element, of the width.
  template <class T>
  static constexpr T kMargin = static_cast<T>(0.0001);

  const int64_t bins_;
  const bool is_logarithmic_;
  const float start_;
  const bool is_absolute_;
};

}  // namespace

void RegisterSelfBinningHistogram() {
  RegisterSchema("SelfBinningHistogram", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(2)
      .Args(kNumBins, kBinSpacing, kLogspaceStart, kAbsoluteValues)
      .Input(0, "X1, X2, ...", "tensors of any shapes, all float or all double")
      .Output(0, "histogram_values", "[num_bins + 1], of the type of X1: the edges of the bins")
      .Output(1, "histogram_counts",
              "[num_bins + 1] int64: the number of elements from each edge to the next one; 0 for "
              "the last edge")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputsOfInputType(def, in);
        const std::vector<int64_t> dims = {int64_t{ArgumentHelper(def).Read(kNumBins)} + 1};
        if (out[0].has_data_type()) out[0] = CreateTensorShape(dims, out[0].data_type());
        out[1] = CreateTensorShape(dims, TensorProto::INT64);
        return out;
      })
      .SetDoc(
          "Computes bins of the same width, or with logarithmic spacing of the same ratio, from "
          "the least to just above the largest element of all inputs, and counts the elements in "
          "each bin. If the elements do not differ, all are in the first bin; without elements the "
          "outputs are 0.");
  RegisterCpuOperator<SelfBinningHistogramOp>("SelfBinningHistogram", __FILE__);
  // Counts are no differentiable function.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SelfBinningHistogram", __FILE__);
}

}  // namespace caffe2rt
