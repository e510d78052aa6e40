#include "operators/io/tensor_protos_db_input.h"

#include <climits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/record_checksum.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

// Makes `proto`, one item of a batch, a segment of the tensor that holds the whole batch.
void PlaceInBatch(TensorProto* proto, int64_t item, int64_t batch_size, const Tensor& batch) {
  const std::vector<int64_t> dims(proto->dims().begin(), proto->dims().end());
  const int64_t size = CheckedProduct(dims);
  (void)CheckedMultiply(batch_size, size);
  proto->clear_dims();
  proto->add_dims(batch_size);
  for (const int64_t dim : dims) proto->add_dims(dim);
  if (item > 0) {
    const std::vector<int64_t> want(batch.dims().begin() + 1, batch.dims().end());
    CAFFE_ENFORCE(dims == want, "the shape of a tensor is ", dims, ", want ", want,
                  ", the shape of the tensors before it in the batch");
  }
  TensorProto::Segment* const segment = proto->mutable_segment();
  segment->set_begin(item * size);
  segment->set_end((item + 1) * size);
}

}  // namespace

TensorProtosBatches::TensorProtosBatches(const OperatorBase& op)
    : batch_size_(op.ReadArgument(kInputBatchSize)),
      skips_damaged_(op.ReadArgument(kOnRecordError) == "skip"),
      ahead_([this](BatchRecords& records) { Fill(records); }, !op.ReadArgument(kNoPrefetch)) {
  for (int i = 0; i < op.OutputSize(); ++i) {
    tensors_.emplace_back(CPU);
    taken_.emplace_back(CPU);
  }
}

void TensorProtosBatches::Fill(BatchRecords& records) {
  const int64_t items = batch_size_ > 0 ? batch_size_ : 1;
  for (int64_t item = 0; item < items; ++item) ReadItem(records, item);
}

void TensorProtosBatches::ReadItem(BatchRecords& records, int64_t item) {
  for (int in_a_row = 0;; ++in_a_row) {
    const db::DBReaderPosition before = records.position();
    try {
      records.Read(&record_);
      return PlaceRecord(item);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const RunStopped&) {
      throw;
    } catch (const EnforceNotMet& error) {
      const bool is_behind = records.position() != before;
      if (!skips_damaged_ || !is_behind || in_a_row == kMostSkippedInARow) throw;
      ++skipped_;
      LOG(WARNING) << "TensorProtosDBInput leaves out a damaged record: " << error.message();
    }
  }
}

namespace {

// The record without its checksum.
std::string_view Checked(const std::string& subject, const std::string& record) {
  try {
    return CheckedRecord(record);
  } catch (EnforceNotMet& error) {
    error.AppendMessage(subject);
    throw;
  }
}

}  // namespace

void TensorProtosBatches::PlaceRecord(int64_t item) {
  const std::string subject = "record " + record_.key;
  ParseBinaryProto(Checked(subject, record_.value), subject, &protos_);
  if (CaffeDatum datum; protos_.protos_size() == 0 && ParseDatum(record_.value, &datum)) {
    CAFFE_THROW(subject, " is a Datum of Caffe, want TensorProtos; ", kDatumRemedy);
  }
  CAFFE_ENFORCE_EQ(static_cast<size_t>(protos_.protos_size()), tensors_.size(), "tensors in ",
                   subject, ", want one for each output");
  for (size_t i = 0; i < tensors_.size(); ++i) PlaceTensor(subject, i, item);
}

void TensorProtosBatches::PlaceTensor(const std::string& subject, size_t i, int64_t item) {
  TensorProto* const proto = protos_.mutable_protos(static_cast<int>(i));
  Tensor* const tensor = &tensors_[i];
  const TypeMeta before = tensor->dtype();
  // Before the tensor changes, because the items before must stay if this one is left out.
  const auto check_type = [&](TypeMeta got) {
    CAFFE_ENFORCE(item == 0 || got == before, "tensor ", i, " of ", subject, " is ", got.name(),
                  ", want ", before.name(), ", the type of the tensors before it in the batch");
  };
  try {
    if (batch_size_ > 0) PlaceInBatch(proto, item, batch_size_, *tensor);
    if (proto->data_type() != TensorProto::UNDEFINED) {
      check_type(DataTypeToTypeMeta(proto->data_type()));
    }
    TensorDeserializer().Deserialize(*proto, tensor);
  } catch (EnforceNotMet& error) {
    error.AppendMessage(MakeString(subject, ", tensor ", i));
    throw;
  }
  check_type(tensor->dtype());
}

void RegisterTensorProtosDbInput() {
  RegisterSchema("TensorProtosDBInput", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .Args(kInputBatchSize, kNoPrefetch, kOnRecordError)
      .Input(0, "reader", "DBReader, as CreateDB makes it")
      .Output(0, "tensor_0, tensor_1, ...",
              "the tensors of the next record or records: one output for each tensor of a record")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc(
          "Reads the next record of a database, a serialized TensorProtos, or the next batch_size "
          "records. After the last record the first one follows. From the second run on, the next "
          "batch "
          "is read ahead on a thread of the operator; the position of the reader stays behind the "
          "records that a run has put out.");
  RegisterCpuOperator<TensorProtosDBInputOp<CPUContext>>("TensorProtosDBInput", __FILE__);
  // The input is not a tensor.
  RegisterGradient<NoGradient>("TensorProtosDBInput", __FILE__);
}

}  // namespace caffe2rt
