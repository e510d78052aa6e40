// CheckDatasetConsistency: checks that the tensors of a dataset fit together (tree_cursor.h).
//   fields  ->  nothing
// Fails unless the fields of each domain have the same number of rows, which is the sum of the
// lengths that split them.
#include <climits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

class CheckDatasetConsistencyOp final : public Operator<CPUContext> {
 public:
  CheckDatasetConsistencyOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), fields_(ReadArgument(kDatasetFields)) {}

  bool RunOnDevice() override {
    CAFFE_ENFORCE_EQ(static_cast<size_t>(InputSize()), fields_.size(),
                     "inputs, want one for each "
                     "name in argument \"",
                     kDatasetFields.name, "\"");
    rows_.Bind(fields_, *this, 0);
    for (size_t i = 0; i < fields_.size(); ++i) {
      CAFFE_ENFORCE_EQ(rows_.tensor(i).dim(0), rows_.rows(fields_.domain(i)), "rows of field \"",
                       fields_.name(i), "\", want as many as other fields of its domain have");
    }
    offsets_.clear();
    rows_.Advance(rows_.rows(0), &offsets_, &counts_);
    for (size_t domain = 1; domain < fields_.num_domains(); ++domain) {
      (void)rows_.tensor(fields_.lengths_of(domain)).data<int32_t>();  // THROWS for another type
      CAFFE_ENFORCE_EQ(offsets_[domain], rows_.rows(domain), "sum of field \"",
                       fields_.name(fields_.lengths_of(domain)),
                       "\", want the number of rows that it splits");
    }
    return true;
  }

 private:
  const DatasetFields fields_;
  DatasetRows rows_;
  DatasetOffsets offsets_;
  std::vector<int64_t> counts_;
};

}  // namespace

void RegisterCheckDatasetConsistency() {
  RegisterSchema("CheckDatasetConsistency", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(0)
      .Arg(kDatasetFields)
      .Input(0, "field_0, field_1, ...", "the dataset: one tensor for each name in fields")
      .SetDoc(
          "Fails unless the lengths in a dataset match the rows of the fields that they split.");
  RegisterCpuOperator<CheckDatasetConsistencyOp>("CheckDatasetConsistency", __FILE__);
  // The operator has no outputs.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CheckDatasetConsistency", __FILE__);
}

}  // namespace caffe2rt
