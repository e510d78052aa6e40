// NGramFromCategorical: the number of a combination of categories.
//   floats [N, D]  ->  int64 [N]: the sum of (index of the value in column col_ids[i]) *
//                      (product of the categorical_limits before i)
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int> kNGramColumns{"col_ids", "the columns that count"};
constexpr RepeatedArgumentSpec<int> kNGramLimits{"categorical_limits",
                                                 "the number of values of each column"};
constexpr RepeatedArgumentSpec<int> kNGramValues{
    "vals", "the values of all columns; a column's value counts by its position among these"};

class NGramFromCategoricalOp final : public Operator<CPUContext> {
 public:
  NGramFromCategoricalOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    const std::vector<int> ids = ReadArgument(kNGramColumns);
    const std::vector<int> limits = ReadArgument(kNGramLimits);
    const std::vector<int> values = ReadArgument(kNGramValues);
    CAFFE_ENFORCE_GE(ids.size(), 1u, "elements of argument col_ids");
    CAFFE_ENFORCE_EQ(limits.size(), ids.size(), "elements of argument categorical_limits");
    int64_t total = 0, factor = 1;
    for (const int limit : limits) {
      CAFFE_ENFORCE_GE(limit, 1, "argument categorical_limits");
      total = CheckedAdd<int64_t>(total, limit);
    }
    CAFFE_ENFORCE_EQ(static_cast<int64_t>(values.size()), total,
                     "elements of argument vals, want the sum of categorical_limits");
    auto next = values.begin();
    for (size_t i = 0; i < ids.size(); ++i) {
      CAFFE_ENFORCE_GE(ids[i], 0, "argument col_ids");
      most_ = std::max<int64_t>(most_, ids[i]);
      Column column{.id = ids[i], .factor = factor};
      for (int64_t j = 0; j < limits[i]; ++j) column.places.emplace_back(*next++, j);
      std::sort(column.places.begin(), column.places.end());
      columns_.push_back(std::move(column));
      factor = CheckedMultiply<int64_t>(factor, limits[i]);
    }
  }

  bool RunOnDevice() override {
    const Tensor& floats = Input(0);
    CAFFE_ENFORCE_GE(floats.dim(), 1, "rank of input 0 (floats)");
    RequireElements<float>(floats);
    const int64_t rows = floats.dim(0), width = floats.size_from_dim(1);
    CAFFE_ENFORCE_GT(width, most_, "columns of input 0 (floats) of shape ", floats.sizes(),
                     ", want more than the greatest of col_ids");
    const float* row = floats.data<float>();
    int64_t* const number = OutputData<int64_t>(0, {rows});
    for (int64_t r = 0; r < rows; ++r, row += width) {
      number[r] = 0;
      for (const Column& column : columns_) {
        number[r] += column.PlaceOf(std::round(row[column.id])) * column.factor;
      }
    }
    return true;
  }

 private:
  struct Column {
    int64_t id, factor;
    std::vector<std::pair<int, int64_t>> places = {};  // in ascending order

    // The last position of the value, 0 if there is none.
    int64_t PlaceOf(float value) const {
      const auto after = std::upper_bound(
          places.begin(), places.end(), value,
          [](float x, const auto& place) { return x < static_cast<float>(place.first); });
      if (after == places.begin()) return 0;
      const auto& found = *(after - 1);
      return static_cast<float>(found.first) == value ? found.second : 0;
    }
  };

  int64_t most_ = 0;
  std::vector<Column> columns_;
};

}  // namespace

void RegisterNGramFromCategorical() {
  RegisterSchema("NGramFromCategorical", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kNGramColumns, kNGramLimits, kNGramValues)
      .Input(0, "floats", "[N, D] float: categories, which are rounded to integers")
      .Output(0, "output", "[N] int64: the numbers of the combinations")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (in.empty() || !IsKnown(in[0]) || in[0].dims_size() < 1) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::INT64)};
        }
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{in[0].dims(0)}, TensorProto::INT64)};
      })
      .SetDoc(
          "Numbers the combination of the categories in some columns of each row. A value that "
          "argument vals does not list for its column counts as the first one.");
  RegisterCpuOperator<NGramFromCategoricalOp>("NGramFromCategorical", __FILE__);
  // Categories are not differentiable.
  RegisterGradient<NoGradient>("NGramFromCategorical", __FILE__);
}

}  // namespace caffe2rt
