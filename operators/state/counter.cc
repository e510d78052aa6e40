// CreateCounter, ResetCounter, CountUp, CountDown, CheckCounterDone, RetrieveCount
#include "operators/state/counter.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

// In files, the name does not depend on how int64_t is defined.
constexpr char kCounterBlobType[] = "std::unique_ptr<Counter<int64_t>>";

// A counter is stored as a tensor with one element, its count.
class CounterSerializer : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    const auto& counter = *static_cast<const CounterBlob*>(object);
    CAFFE_ENFORCE(counter != nullptr, "blob \"", name, "\" holds no counter");
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(kCounterBlobType);
    TensorProto* const tensor = proto.mutable_tensor();
    tensor->set_name(name);
    tensor->set_data_type(TensorProto_DataType_INT64);
    tensor->add_dims(1);
    tensor->add_int64_data(counter->Count());
    acceptor(name, ProtoToBinary(proto));
  }
};

class CounterDeserializer : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    const TensorProto& tensor = proto.tensor();
    CAFFE_ENFORCE(tensor.data_type() == TensorProto_DataType_INT64 && tensor.int64_data_size() == 1,
                  "the record of counter \"", proto.name(), "\" has ", tensor.int64_data_size(),
                  " int64 numbers, want 1");
    *blob->GetMutable<CounterBlob>() = std::make_unique<Counter<int64_t>>(tensor.int64_data(0));
  }
};

// The schema of an operator on an existing counter.
OpSchema& CounterSchema(const char* type) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "counter", "a counter from CreateCounter")
      .SynchronizedInputs({0})
      .DeviceInferenceFunction(OnCPU({0}, {0}));
}

void RegisterReads() {
  CounterSchema("CheckCounterDone")
      .Output(0, "done", "bool scalar, on the CPU")
      .ScalarType(TensorProto_DataType_BOOL)
      .SetDoc("Checks whether the count is 0 or below.");
  RegisterCpuOperator<CheckCounterDoneOp<CPUContext>>("CheckCounterDone", __FILE__);
  // As in Caffe2, no gradient maker: a counter is not a tensor.

  CounterSchema("RetrieveCount")
      .Output(0, "count", "int64 scalar, on the CPU")
      .ScalarType(TensorProto_DataType_INT64)
      .SetDoc("Returns the count.");
  RegisterCpuOperator<RetrieveCountOp<CPUContext>>("RetrieveCount", __FILE__);
}

void RegisterChanges() {
  CounterSchema("ResetCounter")
      .NumOutputs(0, 1)
      .Arg(kInitialCount)
      .Output(0, "previous_value", "the count before, int64 scalar, on the CPU; may be omitted")
      .ScalarType(TensorProto_DataType_INT64)
      .ModifiesInputs({0})
      .SetDoc("Sets the count to init_count.");
  RegisterCpuOperator<ResetCounterOp<CPUContext>>("ResetCounter", __FILE__);

  CounterSchema("CountUp")
      .Output(0, "previous_count", "the count before, int64 scalar, on the CPU")
      .ScalarType(TensorProto_DataType_INT64)
      .ModifiesInputs({0})
      .SetDoc("Adds 1 to the count.");
  RegisterCpuOperator<CountUpOp<CPUContext>>("CountUp", __FILE__);

  CounterSchema("CountDown")
      .Output(0, "done", "whether the count is now below 0, bool scalar, on the CPU")
      .ScalarType(TensorProto_DataType_BOOL)
      .ModifiesInputs({0})
      .SetDoc("Subtracts 1 from the count.");
  RegisterCpuOperator<CountDownOp<CPUContext>>("CountDown", __FILE__);
}

}  // namespace

void RegisterCounter() {
  DeclareSynchronizedType<CounterBlob>();
  BlobSerializerRegistry().Register(
      TypeMeta::Id<CounterBlob>(), [] { return std::make_unique<CounterSerializer>(); }, __FILE__);
  BlobDeserializerRegistry().Register(
      kCounterBlobType, [] { return std::make_unique<CounterDeserializer>(); }, __FILE__);
  RegisterSchema("CreateCounter", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kInitialCount)
      .Output(0, "counter", "a counter of int64 numbers")
      .SetDoc("Creates a counter.");
  RegisterCpuOperator<CreateCounterOp<CPUContext>>("CreateCounter", __FILE__);
  RegisterChanges();
  RegisterReads();
  // A count does not depend on other values.
  for (const char* type :
       {"CreateCounter", "ResetCounter", "CountUp", "CountDown", "RetrieveCount"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
