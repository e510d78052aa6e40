// ReadRandomBatch: reads records of a dataset in an order that a tensor gives.
//   cursor, order, offsets, fields  ->  the rows of each field that belong to the records
// The records are those at the next batch_size positions of `order`. The cursor counts positions in
// `order`.
#include <algorithm>
#include <climits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kRandomBatchSize{"batch_size", 1,
                                             "number of records to read; 0 or less: none"};
constexpr ArgumentSpec<bool> kRandomBatchEnforceSize{
    "enforce_batch_size", false, "return no records if fewer than batch_size are left"};
constexpr ArgumentSpec<bool> kRandomBatchLoop{
    "loop_over", false,
    "begin again at the end of the order; with enforce_batch_size, before a batch that would be "
    "too small"};

class ReadRandomBatchOp final : public Operator<CPUContext> {
 public:
  ReadRandomBatchOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        batch_size_(ReadArgument(kRandomBatchSize)),
        enforce_size_(ReadArgument(kRandomBatchEnforceSize)),
        loops_(ReadArgument(kRandomBatchLoop)) {}

  bool RunOnDevice() override {
    TreeCursor& cursor = CursorInput(*this, 3);
    CAFFE_ENFORCE_GE(static_cast<size_t>(OutputSize()), cursor.fields.size(),
                     "outputs, want at least one for each field of the cursor");
    const Tensor& order = Input(1);
    const Tensor& offsets = Input(2);
    CAFFE_ENFORCE(
        offsets.dim() == 2 && offsets.dim(1) >= static_cast<int64_t>(cursor.fields.num_domains()),
        "input 2 (offsets) has shape ", offsets.sizes(),
        ", want two dimensions, and at "
        "least ",
        cursor.fields.num_domains(), " columns, as ComputeOffset makes them");
    records_ = order.data<int64_t>();
    offsets_ = offsets.data<int64_t>();
    columns_ = offsets.dim(1);
    TakePositions(&cursor, order.numel());
    for (int64_t i = begin_; i < end_; ++i) {
      CAFFE_ENFORCE(records_[i] >= 0 && records_[i] < offsets.dim(0) - 1, "input 1 (order) has ",
                    records_[i], " at position ", i, ", want 0 to ", offsets.dim(0) - 2,
                    ", as input 2 (offsets) has ", offsets.dim(0), " rows");
    }
    for (size_t i = 0; i < cursor.fields.size(); ++i) CopyField(cursor.fields, i);
    return true;
  }

 private:
  // Sets begin_ and end_ to the positions of the batch in the order, and moves the cursor.
  void TakePositions(TreeCursor* cursor, int64_t size) {
    const int64_t batch = std::max<int64_t>(batch_size_, 0);
    const MutexLock lock(cursor->mutex);
    int64_t position = cursor->offsets.empty() ? 0 : cursor->offsets[0];
    CAFFE_ENFORCE(position >= 0 && position <= INT64_MAX - batch, "position of the cursor is ",
                  position, ", want at least 0");
    const bool too_small = enforce_size_ && position + batch > size;
    if (loops_ && (position >= size || too_small)) position = 0;
    begin_ = std::min(position, size);
    end_ = std::min(position + batch, size);
    if (too_small && !loops_) end_ = begin_;
    cursor->offsets.assign(1, position + batch);
  }

  // Copies the rows of a field, record by record.
  void CopyField(const DatasetFields& fields, size_t field) {
    const Tensor& in = Input(3 + static_cast<int>(field));
    const int64_t domain = static_cast<int64_t>(fields.domain(field));
    CAFFE_ENFORCE_GT(in.dim(), 0, "dimensions of input ", 3 + field, " (", fields.name(field), ")");
    int64_t total = 0;
    for (int64_t i = begin_; i < end_; ++i) {
      const int64_t* const row = offsets_ + records_[i] * columns_ + domain;
      CAFFE_ENFORCE(row[0] >= 0 && row[0] <= row[columns_] && row[columns_] <= in.dim(0),
                    "input 2 (offsets) states that record ", records_[i], " has rows ", row[0],
                    " to ", row[columns_], " of input ", 3 + field, " (", fields.name(field),
                    "), which has shape ", in.sizes());
      total = CheckedAdd(total, row[columns_] - row[0]);
    }
    dims_ = in.dims();
    dims_[0] = total;
    Tensor* const out = Output(static_cast<int>(field));
    out->Resize(dims_);
    if (!in.dtype().IsSet()) return;
    char* to = static_cast<char*>(out->raw_mutable_data(in.dtype()));
    if (out->numel() == 0) return;
    const char* const from = static_cast<const char*>(in.raw_data());
    const int64_t row_items = in.size_from_dim(1);
    const size_t row_bytes = static_cast<size_t>(row_items) * in.itemsize();
    for (int64_t i = begin_; i < end_; ++i) {
      const int64_t* const row = offsets_ + records_[i] * columns_ + domain;
      const size_t rows = static_cast<size_t>(row[columns_] - row[0]);
      context_.CopyItemsSameDevice(in.dtype(), rows * static_cast<size_t>(row_items),
                                   from + static_cast<size_t>(row[0]) * row_bytes, to);
      to += rows * row_bytes;
    }
  }

  const int64_t batch_size_;
  const bool enforce_size_, loops_;
  // Of the current run.
  const int64_t* records_ = nullptr;  // the order
  const int64_t* offsets_ = nullptr;
  int64_t columns_ = 0;  // of the offsets
  int64_t begin_ = 0, end_ = 0;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterReadRandomBatch() {
  RegisterSchema("ReadRandomBatch", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .Args(kRandomBatchSize, kRandomBatchEnforceSize, kRandomBatchLoop)
      .Input(0, "cursor", "a cursor from CreateTreeCursor, which counts positions in the order")
      .Input(1, "order", "numbers of records, int64, for example from SortAndShuffle")
      .Input(2, "offsets", "the first rows of each record, int64, from ComputeOffset")
      .Input(3, "field_0, field_1, ...", "the dataset: one tensor for each field of the cursor")
      .Output(0, "batch_0, batch_1, ...", "the rows of each field that belong to the records")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Reads the next batch_size records of a dataset in the order that a tensor gives.");
  RegisterCpuOperator<ReadRandomBatchOp>("ReadRandomBatch", __FILE__);
  // The position of the rows is not an input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ReadRandomBatch", __FILE__);
}

}  // namespace caffe2rt
