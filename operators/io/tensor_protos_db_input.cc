#include "operators/io/tensor_protos_db_input.h"

#include <climits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
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

void ReadTensorProtos(const db::DBReader& reader, int64_t item, int64_t batch_size,
                      const std::vector<Tensor*>& outputs) {
  std::string key, value;
  reader.Read(&key, &value);
  const std::string subject = "record " + key;
  TensorProtos record;
  ParseBinaryProto(value, subject, &record);
  if (CaffeDatum datum; record.protos_size() == 0 && ParseDatum(value, &datum)) {
    CAFFE_THROW(subject, " is a Datum of Caffe, want TensorProtos; ", kDatumRemedy);
  }
  CAFFE_ENFORCE_EQ(static_cast<size_t>(record.protos_size()), outputs.size(), "tensors in ",
                   subject, ", want one for each output");
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorProto* const proto = record.mutable_protos(static_cast<int>(i));
    const TypeMeta before = outputs[i]->dtype();
    try {
      if (batch_size > 0) PlaceInBatch(proto, item, batch_size, *outputs[i]);
      TensorDeserializer().Deserialize(*proto, outputs[i]);
    } catch (EnforceNotMet& error) {
      error.AppendMessage(MakeString(subject, ", tensor ", i));
      throw;
    }
    CAFFE_ENFORCE(item == 0 || outputs[i]->dtype() == before, "tensor ", i, " of ", subject, " is ",
                  outputs[i]->dtype().name(), ", want ", before.name(),
                  ", the type of the tensors before it in the batch");
  }
}

void RegisterTensorProtosDbInput() {
  RegisterSchema("TensorProtosDBInput", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .Args(kInputBatchSize, kNoPrefetch)
      .Input(0, "reader", "DBReader, as CreateDB makes it")
      .Output(0, "tensor_0, tensor_1, ...",
              "the tensors of the next record or records: one output for each tensor of a record")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc(
          "Reads the next record of a database, a serialized TensorProtos, or the next batch_size "
          "records. After the last record the first one follows.");
  RegisterCpuOperator<TensorProtosDBInputOp<CPUContext>>("TensorProtosDBInput", __FILE__);
  // The input is not a tensor.
  RegisterGradient<NoGradient>("TensorProtosDBInput", __FILE__);
}

}  // namespace caffe2rt
