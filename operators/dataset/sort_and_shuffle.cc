// SortAndShuffle: an order of the records of a dataset for training in batches of similar size.
//   cursor, fields  ->  int64 [records]: numbers of records
// The records are sorted by a field, for example the lengths of sequences. Then the records within
// windows of shuffle_size batches are shuffled, except in the last window, and at last the batches.
// The order is the same in every run, and as in Caffe2, whose shuffles start from the same seed
// each time.
#include <algorithm>
#include <climits>
#include <numeric>
#include <random>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kSortField{"sort_by_field_idx",
                                       1,
                                       "field to sort by, int32, in domain 0; -1: do not sort",
                                       {[](int field) { return field >= -1; }, "at least -1"}};
constexpr ArgumentSpec<int> kSortBatchSize{"batch_size",
                                           1,
                                           "number of records in a batch, above 0",
                                           {[](int size) { return size > 0; }, "above 0"}};
constexpr ArgumentSpec<int> kSortShuffleSize{
    "shuffle_size",
    1,
    "number of batches among which records are shuffled, above 0",
    {[](int size) { return size > 0; }, "above 0"}};

template <class Iterator>
void ShuffleAsCaffe2(Iterator begin, Iterator end) {
  std::shuffle(begin, end, std::minstd_rand0());
}

class SortAndShuffleOp final : public Operator<CPUContext> {
 public:
  SortAndShuffleOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        sort_field_(ReadArgument(kSortField)),
        batch_size_(ReadArgument(kSortBatchSize)),
        shuffle_size_(ReadArgument(kSortShuffleSize)) {}

  bool RunOnDevice() override {
    const TreeCursor& cursor = CursorInput(*this, 1);
    const DatasetFields& fields = cursor.fields;
    CAFFE_ENFORCE(sort_field_ < static_cast<int64_t>(fields.size()), "argument \"", kSortField.name,
                  "\" is ", sort_field_, ", want it below ", fields.size(),
                  ", the number of fields");
    CAFFE_ENFORCE(fields.size() > 0, "the cursor has no fields, want at least one");
    const Tensor& first = Input(1);
    CAFFE_ENFORCE_GT(first.dim(), 0, "dimensions of input 1 (", fields.name(0), ")");
    const int64_t records = first.dim(0);
    order_.resize(static_cast<size_t>(records));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    if (sort_field_ >= 0) Sort(fields, records);
    const int64_t window = batch_size_ * std::min(shuffle_size_, records / batch_size_);
    for (int64_t begin = 0; window > 1 && begin < records - window; begin += window) {
      ShuffleAsCaffe2(order_.begin() + begin, order_.begin() + begin + window);
    }
    WriteBatches(OutputData<int64_t>(0, {records}));
    return true;
  }

 private:
  void Sort(const DatasetFields& fields, int64_t records) {
    const size_t field = static_cast<size_t>(sort_field_);
    CAFFE_ENFORCE_EQ(fields.domain(field), 0u, "domain of field \"", fields.name(field),
                     "\", by which the records are sorted");
    const Tensor& keys = Input(static_cast<int>(sort_field_) + 1);
    CAFFE_ENFORCE_GE(keys.numel(), records, "elements of field \"", fields.name(field),
                     "\", by which the records are sorted, want one for each record");
    const int32_t* const values = keys.data<int32_t>();
    std::sort(order_.begin(), order_.end(),
              [values](int64_t a, int64_t b) { return values[a] < values[b]; });
  }

  // Writes the order with the batches shuffled. Records after the last full batch stay at the end.
  void WriteBatches(int64_t* out) {
    const int64_t records = static_cast<int64_t>(order_.size());
    const int64_t batches = records / batch_size_;
    batches_.resize(static_cast<size_t>(batches));
    std::iota(batches_.begin(), batches_.end(), int64_t{0});
    ShuffleAsCaffe2(batches_.begin(), batches_.end());
    for (const int64_t batch : batches_) {
      out = std::copy_n(order_.begin() + batch * batch_size_, batch_size_, out);
    }
    std::copy(order_.begin() + batches * batch_size_, order_.end(), out);
  }

  const int64_t sort_field_;
  const int64_t batch_size_;
  const int64_t shuffle_size_;  // batches
  std::vector<int64_t> order_, batches_;
};

}  // namespace

void RegisterSortAndShuffle() {
  RegisterSchema("SortAndShuffle", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Args(kSortField, kSortBatchSize, kSortShuffleSize)
      .Input(0, "cursor", "a cursor from CreateTreeCursor; its position does not matter")
      .Input(1, "field_0, field_1, ...", "the dataset: one tensor for each field of the cursor")
      .Output(0, "indices", "numbers of records, int64, for ReadRandomBatch")
      .SynchronizedInputs({0})
      .SetDoc(
          "Sorts the records of a dataset by a field, shuffles them within windows of batch_size * "
          "shuffle_size records, and then shuffles the batches. The order is the same in every "
          "run.");
  RegisterCpuOperator<SortAndShuffleOp>("SortAndShuffle", __FILE__);
  // As in Caffe2, no gradient maker: the output is an order of records.
}

}  // namespace caffe2rt
