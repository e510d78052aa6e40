// TrimDataset: drops the last records of a dataset, so that their number is a multiple of
// multiple_of (tree_cursor.h).
//   fields  ->  the same fields, in place
#include <climits>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kTrimMultiple{
    "multiple_of",
    1,
    "the number of records becomes a multiple of this, which is above 0",
    {[](int multiple) { return multiple > 0; }, "above 0"}};

class TrimDatasetOp final : public Operator<CPUContext> {
 public:
  TrimDatasetOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        fields_(ReadArgument(kDatasetFields)),
        multiple_(ReadArgument(kTrimMultiple)) {}

  bool RunOnDevice() override {
    CAFFE_ENFORCE_EQ(static_cast<size_t>(InputSize()), fields_.size(),
                     "inputs, want one for each "
                     "name in argument \"",
                     kDatasetFields.name, "\"");
    CAFFE_ENFORCE_EQ(OutputSize(), InputSize(), "outputs, want one for each input");
    rows_.Bind(fields_, *this, 0, /*scalars=*/true);
    const int64_t left = rows_.rows(0) / multiple_ * multiple_;
    if (left == rows_.rows(0)) return true;
    ends_.clear();
    rows_.Advance(left, &ends_, &counts_);
    after_ = ends_;
    rows_.Advance(1, &after_, &counts_);  // as in Caffe2, the next record must be valid too
    // Nothing is trimmed unless all fields fit.
    for (size_t i = 0; i < fields_.size(); ++i) {
      CAFFE_ENFORCE_GE(ends_[fields_.domain(i)], 0, "sum of the lengths that split field \"",
                       fields_.name(i), "\"");
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      Output(static_cast<int>(i))->ShrinkTo(ends_[fields_.domain(i)]);
    }
    return true;
  }

 private:
  const DatasetFields fields_;
  const int64_t multiple_;
  DatasetRows rows_;
  DatasetOffsets ends_, after_;
  std::vector<int64_t> counts_;
};

}  // namespace

void RegisterTrimDataset() {
  RegisterSchema("TrimDataset", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .EnforceOneToOneInplace()
      .Args(kDatasetFields, kTrimMultiple)
      .Input(0, "field_0, field_1, ...", "the dataset: one tensor for each name in fields")
      .Output(0, "field_0, field_1, ...", "the same tensors, with fewer rows")
      .SetDoc(
          "Drops the last records of a dataset, so that the number of records is a multiple of "
          "multiple_of.");
  RegisterCpuOperator<TrimDatasetOp>("TrimDataset", __FILE__);
  // As in Caffe2, no gradient maker: records are not differentiable.
}

}  // namespace caffe2rt
