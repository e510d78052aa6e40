#pragma once
// TensorProtosDBInput: reads records of tensors from a database.
//   reader: DBReader  ->  one tensor for each tensor of a record
// A record is a serialized TensorProtos with as many tensors as the operator has outputs. Without
// `batch_size` an output is the tensor of one record. With it, an output holds the tensors of
// batch_size records, and its shape is [batch_size, shape of one tensor]. After the last record of
// the database the first one follows. Batches are read ahead (batch_ahead.h).

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2rt/caffe2.pb.h"
#include "operators/io/batch_ahead.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kInputBatchSize{
    "batch_size",
    0,
    "number of records in each output, stacked in a new first dimension; 0: one record, without "
    "the new dimension",
    {[](int size) { return size >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<bool> kNoPrefetch{"no_prefetch", false,
                                                "1: do not read ahead on a thread of the operator"};
// An argument of this library, not of Caffe2.
inline constexpr ArgumentSpec<std::string> kOnRecordError{
    "on_error",
    "stop",
    "stop: a record that is damaged is an error; skip: the next one takes its place, with a "
    "warning "
    "(an argument of this library, not of Caffe2)",
    {[](const std::string& what) { return what == "stop" || what == "skip"; }, "stop or skip"}};
// More damaged records in a row than this are an error.
inline constexpr int kMostSkippedInARow = 1000;

// Batches of records of tensors in CPU memory, read ahead.
class [[gnu::visibility("default")]] TensorProtosBatches {
 public:
  // The arguments of an operator with an output for each tensor of a record.
  explicit TensorProtosBatches(const OperatorBase& op);

  // Returns the tensors of the next batch, which are valid until the next call. THROWS if a record is not a TensorProtos, if it has
  // another number of tensors than the operator has outputs, or if a tensor differs in shape or type
  // from those of the items before; with on_error "skip", the next record takes its place.
  const std::vector<Tensor>& Next(const db::DBReader& reader) {
    ahead_.Next(reader, [this] { std::swap(tensors_, taken_); });
    return taken_;
  }
  // Records that were left out because they are damaged, also in batches that no run has taken.
  int64_t skipped() const { return skipped_; }

 private:
  void Fill(BatchRecords & records);
  // Reads the next record that is not damaged, as item `item`.
  void ReadItem(BatchRecords & records, int64_t item);
  void PlaceRecord(int64_t item);
  void PlaceTensor(const std::string& subject, size_t tensor, int64_t item);

  const int64_t batch_size_;  // 0: one record, not a batch
  const bool skips_damaged_;
  std::atomic<int64_t> skipped_ = 0;
  db::DBRecord record_;
  TensorProtos protos_;
  std::vector<Tensor> tensors_;  // of the batch that is read
  std::vector<Tensor> taken_;
  BatchAhead ahead_;  // last: its thread uses the others
};

template <class Context>
class TensorProtosDBInputOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TensorProtosDBInputOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), batches_(*this) {}

  int64_t skipped() const { return batches_.skipped(); }

  bool RunOnDevice() override {
    const std::vector<Tensor>& tensors = batches_.Next(OperatorBase::Input<db::DBReader>(0));
    for (size_t i = 0; i < tensors.size(); ++i) {
      Output(static_cast<int>(i))->CopyFrom(tensors[i], &this->context_);
    }
    return true;
  }

 private:
  TensorProtosBatches batches_;
};

}  // namespace caffe2rt
