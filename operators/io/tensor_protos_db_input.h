#pragma once
// TensorProtosDBInput: reads records of tensors from a database.
//   reader: DBReader  ->  one tensor for each tensor of a record
// A record is a serialized TensorProtos with as many tensors as the operator has outputs. Without
// `batch_size` an output is the tensor of one record. With it, an output holds the tensors of
// batch_size records, and its shape is [batch_size, shape of one tensor]. After the last record of
// the database the first one follows.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kInputBatchSize{
    "batch_size",
    0,
    "number of records in each output, stacked in a new first dimension; 0: one record, without "
    "the new dimension",
    {[](int size) { return size >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<bool> kNoPrefetch{
    "no_prefetch", false, "has no effect; accepted for compatibility: records are not read ahead"};

// Reads the next record and puts its tensors into `outputs` (CPU), as item `item` of a batch of
// `batch_size` (0: not a batch). THROWS if the record is not a TensorProtos, if it has another
// number of tensors than `outputs`, or if a tensor differs in shape or type from those of the items
// before.
[[gnu::visibility("default")]] void ReadTensorProtos(const db::DBReader& reader, int64_t item,
                                                     int64_t batch_size,
                                                     const std::vector<Tensor*>& outputs);

template <class Context>
class TensorProtosDBInputOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TensorProtosDBInputOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), batch_size_(this->ReadArgument(kInputBatchSize)) {}

  bool RunOnDevice() override {
    const auto& reader = OperatorBase::Input<db::DBReader>(0);
    const size_t count = static_cast<size_t>(OutputSize());
    outputs_.resize(count);
    if constexpr (Context::GetDeviceType() == CPU) {
      for (size_t i = 0; i < count; ++i) outputs_[i] = Output(static_cast<int>(i));
    } else {
      while (host_.size() < count) host_.emplace_back(CPU);
      for (size_t i = 0; i < count; ++i) outputs_[i] = &host_[i];
    }
    const int64_t records = batch_size_ > 0 ? batch_size_ : 1;
    for (int64_t item = 0; item < records; ++item) {
      ReadTensorProtos(reader, item, batch_size_, outputs_);
    }
    if constexpr (Context::GetDeviceType() != CPU) {
      for (size_t i = 0; i < count; ++i) {
        Output(static_cast<int>(i))->CopyFrom(host_[i], &this->context_);
      }
    }
    return true;
  }

 private:
  const int64_t batch_size_;
  std::vector<Tensor*> outputs_;
  std::vector<Tensor> host_;  // the batch before it is copied to a device
};

}  // namespace caffe2rt
