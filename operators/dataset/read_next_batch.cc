// ReadNextBatch: reads the next records of a dataset (tree_cursor.h).
//   cursor, fields  ->  the rows of each field that belong to the next batch_size records
// The cursor moves behind these records. At the end of the dataset there may be fewer, and then
// none.
#include <climits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kNextBatchSize{"batch_size",
                                           1,
                                           "number of records to read, at least 0",
                                           {[](int size) { return size >= 0; }, "at least 0"}};
constexpr ArgumentSpec<bool> kNextBatchEnforceSize{
    "enforce_batch_size", false, "return no records if fewer than batch_size are left"};

class ReadNextBatchOp final : public Operator<CPUContext> {
 public:
  ReadNextBatchOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        batch_size_(ReadArgument(kNextBatchSize)),
        enforce_size_(ReadArgument(kNextBatchEnforceSize)) {}

  bool RunOnDevice() override {
    TreeCursor& cursor = CursorInput(*this, 1);
    CAFFE_ENFORCE_GE(static_cast<size_t>(OutputSize()), cursor.fields.size(),
                     "outputs, want at least one for each field of the cursor");
    rows_.Bind(cursor.fields, *this, 1);
    {
      const MutexLock lock(cursor.mutex);
      begin_ = cursor.offsets;
      if (begin_.empty()) begin_.assign(cursor.fields.num_domains(), 0);
      end_ = begin_;
      rows_.Advance(batch_size_, &end_, &counts_);
      cursor.offsets = end_;
    }
    if (enforce_size_ && counts_[0] < batch_size_) counts_.assign(counts_.size(), 0);
    for (size_t i = 0; i < cursor.fields.size(); ++i) {
      const size_t domain = cursor.fields.domain(i);
      rows_.CopyRows(i, begin_[domain], counts_[domain], &context_, Output(static_cast<int>(i)));
    }
    return true;
  }

 private:
  const int64_t batch_size_;
  const bool enforce_size_;
  DatasetRows rows_;
  DatasetOffsets begin_, end_;
  std::vector<int64_t> counts_;
};

}  // namespace

void RegisterReadNextBatch() {
  RegisterSchema("ReadNextBatch", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .Args(kNextBatchSize, kNextBatchEnforceSize)
      .Input(0, "cursor", "a cursor from CreateTreeCursor")
      .Input(1, "field_0, field_1, ...", "the dataset: one tensor for each field of the cursor")
      .Output(0, "batch_0, batch_1, ...", "the rows of each field that belong to the records")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Reads the next batch_size records of a dataset and moves the cursor behind them.");
  RegisterCpuOperator<ReadNextBatchOp>("ReadNextBatch", __FILE__);
  // The position of the rows is not an input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ReadNextBatch", __FILE__);
}

}  // namespace caffe2rt
