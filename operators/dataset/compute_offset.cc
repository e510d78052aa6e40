// ComputeOffset: the first rows of each record of a dataset (tree_cursor.h).
//   cursor, fields  ->  int64 [records + 1, domains]
// Row i contains the numbers of rows before the record that is i records after the cursor, for each
// domain. Rows after the last record repeat the end of the dataset. The cursor moves to the begin
// of the dataset.
#include <algorithm>
#include <climits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

class ComputeOffsetOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    TreeCursor& cursor = CursorInput(*this, 1);
    rows_.Bind(cursor.fields, *this, 1);
    const size_t domains = cursor.fields.num_domains();
    {
      const MutexLock lock(cursor.mutex);
      offsets_ = cursor.offsets;
    }
    if (offsets_.empty()) offsets_.assign(domains, 0);
    CAFFE_ENFORCE_EQ(offsets_.size(), domains,
                     "numbers in the position of the cursor, want one for each domain");
    const int64_t records = rows_.rows(0);
    int64_t* out = OutputData<int64_t>(0, {records + 1, static_cast<int64_t>(domains)});
    for (int64_t i = 0; i <= records; ++i) {
      out = std::copy(offsets_.begin(), offsets_.end(), out);
      if (i < records) rows_.Advance(1, &offsets_, &counts_);
    }
    const MutexLock lock(cursor.mutex);
    cursor.offsets.assign(domains, 0);
    return true;
  }

 private:
  DatasetRows rows_;
  DatasetOffsets offsets_;
  std::vector<int64_t> counts_;
};

}  // namespace

void RegisterComputeOffset() {
  RegisterSchema("ComputeOffset", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Input(0, "cursor", "a cursor from CreateTreeCursor")
      .Input(1, "field_0, field_1, ...", "the dataset: one tensor for each field of the cursor")
      .Output(0, "offsets", "int64 [records + 1, domains], for ReadRandomBatch")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc(
          "Returns the first rows of each record of a dataset, from the cursor on, and moves the "
          "cursor to the begin.");
  RegisterCpuOperator<ComputeOffsetOp>("ComputeOffset", __FILE__);
  // The output depends only on lengths.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ComputeOffset", __FILE__);
}

}  // namespace caffe2rt
