// Percentile: looks up the percentile of each element in a table for its column.
//   original_values [N, D] float, value_to_pct [sum of lengths, 2] float, lengths [D] int32
//   ->  percentile_values [N, D] float
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

// A row of the table.
struct ValueAndPercentile {
  float value, percentile;
};

// Linear between the rows; 0 below the first value and 1 above the last one.
float PercentileOf(float x, const ValueAndPercentile* first, const ValueAndPercentile* last) {
  const ValueAndPercentile* const above = std::lower_bound(
      first, last, x, [](const ValueAndPercentile& row, float value) { return row.value < value; });
  if (above == last) return 1;
  if (above->value == x) return above->percentile;
  if (above == first) return 0;
  const ValueAndPercentile& below = above[-1];
  return below.percentile +
         (x - below.value) * (above->percentile - below.percentile) / (above->value - below.value);
}

class PercentileOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& table = Input(1);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (original_values) of shape ", X.sizes());
    CAFFE_ENFORCE(table.dim() == 2 && table.dim(1) == 2, "input 1 (value_to_pct) has shape ",
                  table.sizes(), ", want [*, 2]");
    const int64_t rows = X.dim(0), columns = X.dim(1);
    CAFFE_ENFORCE_EQ(Input(2).numel(), columns, "elements of input 2 (lengths), want the columns ",
                     "of input 0 (original_values) of shape ", X.sizes());
    RequireElements<float>(X);
    RequireElements<float>(table);
    segments_.Read<int32_t>(*this, 2, "input 2 (lengths)");
    CAFFE_ENFORCE_EQ(table.dim(0), segments_.total(),
                     "rows of input 1 (value_to_pct), want the sum of the lengths");
    const auto* const pairs = reinterpret_cast<const ValueAndPercentile*>(table.data<float>());
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = segments_.offset(c); i < segments_.offset(c + 1); ++i) {
        CAFFE_ENFORCE(pairs[i == segments_.offset(c) ? i : i - 1].value <= pairs[i].value, "row ",
                      i, " of input 1 (value_to_pct) has value ", pairs[i].value,
                      ", want ascending values for column ", c);
      }
    }
    const float* x = X.data<float>();
    float* y = OutputData<float>(0, X.sizes());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        *y++ = PercentileOf(*x++, pairs + segments_.offset(c), pairs + segments_.offset(c + 1));
      }
    }
    return true;
  }

 private:
  SegmentOffsets<CPUContext> segments_;
};

}  // namespace

void RegisterPercentile() {
  RegisterSchema("Percentile", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "original_values", "[N, D] float")
      .Input(1, "value_to_pct",
             "[sum of lengths, 2] float: a value and its percentile in each row, those of column 0 "
             "first; the values of a column ascend")
      .Input(2, "lengths", "[D] int32: the rows of value_to_pct for each column")
      .Output(0, "percentile_values", "[N, D] float: the percentiles")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Looks up the percentile of each element in the table of its column, with linear "
          "interpolation. It is 0 below the first value of the table, 1 above the last one and "
          "where the table has no rows, and 0 for NaN.");
  RegisterCpuOperator<PercentileOp>("Percentile", __FILE__);
  // The values are data, which have no gradient.
  RegisterGradient<NoGradient>("Percentile", __FILE__);
}

}  // namespace caffe2rt
