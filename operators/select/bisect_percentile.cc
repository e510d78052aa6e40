// BisectPercentile: looks up the percentile of each element in a table for its column, as Percentile
// does, with the table in arguments and with steps at its values.
//   raw_values [N, D] float  ->  percentile [N, D] float
#include <algorithm>
#include <cstddef>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<float> kPercentileRaw{
    "percentile_raw", "the values of the table, those of column 0 first, ascending in a column"};
constexpr RepeatedArgumentSpec<float> kPercentileMapping{"percentile_mapping",
                                                         "the percentile of each value"};
constexpr RepeatedArgumentSpec<float> kPercentileLower{
    "percentile_lower", "what the percentile approaches below each value"};
constexpr RepeatedArgumentSpec<float> kPercentileUpper{
    "percentile_upper", "what the percentile approaches above each value"};
constexpr RepeatedArgumentSpec<int> kPercentileLengths{
    "lengths",
    "the number of values for each column, at least 1",
    {[](const std::vector<int>& lengths) {
       return std::all_of(lengths.begin(), lengths.end(), [](int length) { return length >= 1; });
     },
     "at least 1 each"}};

class BisectPercentileOp final : public Operator<CPUContext> {
 public:
  BisectPercentileOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        raw_(ReadArgument(kPercentileRaw)),
        mapping_(ReadArgument(kPercentileMapping)),
        lower_(ReadArgument(kPercentileLower)),
        upper_(ReadArgument(kPercentileUpper)),
        lengths_(ReadArgument(kPercentileLengths)) {
    CheckSize(mapping_, "percentile_mapping");
    CheckSize(lower_, "percentile_lower");
    CheckSize(upper_, "percentile_upper");
    int64_t total = 0;
    for (const int length : lengths_) total += length;
    CAFFE_ENFORCE_EQ(raw_.size(), total,
                     "values of argument percentile_raw, want the sum of argument lengths");
    size_t k = 0;
    for (const int length : lengths_) {
      for (int i = 0; i < length; ++i, ++k) {
        CAFFE_ENFORCE(raw_[i == 0 ? k : k - 1] <= raw_[k], "value ", k,
                      " of argument percentile_raw is ", raw_[k],
                      ", want ascending values for each column");
      }
    }
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (raw_values) of shape ", X.sizes());
    CAFFE_ENFORCE_EQ(X.dim(1), lengths_.size(), "dim 1 of input 0 (raw_values) of shape ",
                     X.sizes(), ", want the values of argument lengths");
    const float* x = X.data<float>();
    float* y = OutputData<float>(0, X.sizes());
    for (int64_t row = 0; row < X.dim(0); ++row) {
      size_t first = 0;
      for (const int length : lengths_) {
        const size_t last = first + static_cast<size_t>(length);
        *y++ = PercentileOf(*x++, first, last);
        first = last;
      }
    }
    return true;
  }

 private:
  void CheckSize(const std::vector<float>& values, const char* argument) const {
    CAFFE_ENFORCE_EQ(values.size(), raw_.size(), "values of argument ", argument,
                     ", want those of argument percentile_raw");
  }

  // In the rows [first, last) of the table: 0 below the first value and 1 above the last one.
  float PercentileOf(float x, size_t first, size_t last) const {
    if (x != x) return x;
    const auto begin = raw_.begin();
    const auto above = std::upper_bound(begin + static_cast<std::ptrdiff_t>(first),
                                        begin + static_cast<std::ptrdiff_t>(last), x);
    const auto next = static_cast<size_t>(above - begin);
    if (next == first) return 0;
    const size_t at = next - 1;
    if (raw_[at] == x) return mapping_[at];
    if (next == last) return 1;
    return upper_[at] + (x - raw_[at]) / (raw_[next] - raw_[at]) * (lower_[next] - upper_[at]);
  }

  const std::vector<float> raw_, mapping_, lower_, upper_;
  const std::vector<int> lengths_;
};

}  // namespace

void RegisterBisectPercentile() {
  RegisterSchema("BisectPercentile", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kPercentileRaw, kPercentileMapping, kPercentileLower, kPercentileUpper,
            kPercentileLengths)
      .Input(0, "raw_values", "[N, D] float")
      .Output(0, "percentile", "[N, D] float: the percentiles")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Looks up the percentile of each element in the table of its column: percentile_mapping "
          "of an equal value, of which the last one counts, and otherwise a number between "
          "percentile_upper of the value below and percentile_lower of the value above, with "
          "linear interpolation. It is 0 below the first value of the table, 1 above the last one, "
          "and NaN for NaN.");
  RegisterCpuOperator<BisectPercentileOp>("BisectPercentile", __FILE__);
  // The values are data, which have no gradient.
  RegisterGradient<NoGradient>("BisectPercentile", __FILE__);
}

}  // namespace caffe2rt
