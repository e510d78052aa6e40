// CreateTreeCursor, ResetCursor, GetCursorOffset: positions in datasets (tree_cursor.h).
//
//   CreateTreeCursor             ->  cursor, at the begin
//   ResetCursor       cursor     ->  nothing; moves the cursor to the begin
//   GetCursorOffset   cursor     ->  int32 [domains]: rows before the cursor; [0] at the begin
#include <absl/strings/str_split.h>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr char kTreeCursorBlobType[] = "std::unique_ptr<TreeCursor>";

// The record has the offsets as a tensor, unless the cursor is at the begin, and the names of the
// fields, each followed by a space, as content.
class TreeCursorSerializer : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    const auto& cursor = *static_cast<const TreeCursorBlob*>(object);
    CAFFE_ENFORCE(cursor != nullptr, "blob \"", name, "\" holds no cursor");
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(kTreeCursorBlobType);
    DatasetOffsets offsets;
    {
      const MutexLock lock(cursor->mutex);
      offsets = cursor->offsets;
    }
    if (!offsets.empty()) {
      Tensor tensor(CPU);
      tensor.CopyFrom(offsets);
      TensorSerializer().Serialize(tensor, name, proto.mutable_tensor(), 0, kNoChunking);
    }
    for (const std::string& field : cursor->fields.names()) *proto.mutable_content() += field + ' ';
    acceptor(name, ProtoToBinary(proto));
  }
};

class TreeCursorDeserializer : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    const std::vector<std::string> fields = absl::StrSplit(proto.content(), ' ', absl::SkipEmpty());
    auto cursor = std::make_unique<TreeCursor>(DatasetFields(fields));
    if (proto.has_tensor() && proto.tensor().dims_size() > 0) {
      Tensor tensor(CPU);
      TensorDeserializer().Deserialize(proto.tensor(), &tensor);
      CAFFE_ENFORCE(tensor.IsType<int64_t>() && tensor.dim() == 1, "the record of cursor \"",
                    proto.name(), "\" has offsets of type ", tensor.dtype().name(), " and shape ",
                    tensor.sizes(), ", want int64 and one dimension");
      const int64_t* const offsets = tensor.data<int64_t>();
      const MutexLock lock(cursor->mutex);
      cursor->offsets.assign(offsets, offsets + tensor.numel());
    }
    *blob->GetMutable<TreeCursorBlob>() = std::move(cursor);
  }
};

class CreateTreeCursorOp final : public Operator<CPUContext> {
 public:
  CreateTreeCursorOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), fields_(ReadArgument(kDatasetFields)) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<TreeCursorBlob>(0) = std::make_unique<TreeCursor>(fields_);
    return true;
  }

 private:
  const DatasetFields fields_;
};

// The cursor in input 0 of an operator that does not read the dataset.
TreeCursor& TheCursor(const OperatorBase& op) {
  const auto& cursor = op.Input<TreeCursorBlob>(0);
  CAFFE_ENFORCE(cursor != nullptr, "input 0 (cursor) holds no cursor");
  return *cursor;
}

class ResetCursorOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    TreeCursor& cursor = TheCursor(*this);
    const MutexLock lock(cursor.mutex);
    cursor.offsets.clear();
    return true;
  }
};

class GetCursorOffsetOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    TreeCursor& cursor = TheCursor(*this);
    const MutexLock lock(cursor.mutex);
    int32_t* const out = OutputData<int32_t>(0, {static_cast<int64_t>(cursor.offsets.size())});
    for (size_t i = 0; i < cursor.offsets.size(); ++i) {
      out[i] = static_cast<int32_t>(cursor.offsets[i]);
    }
    return true;
  }
};

}  // namespace

void RegisterCreateTreeCursor() {
  DeclareSynchronizedType<TreeCursorBlob>();
  BlobSerializerRegistry().Register(
      TypeMeta::Id<TreeCursorBlob>(), [] { return std::make_unique<TreeCursorSerializer>(); },
      __FILE__);
  BlobDeserializerRegistry().Register(
      kTreeCursorBlobType, [] { return std::make_unique<TreeCursorDeserializer>(); }, __FILE__);
  RegisterSchema("CreateTreeCursor", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kDatasetFields)
      .Output(0, "cursor", "a position in a dataset, at its begin")
      .SetDoc("Creates a position in a dataset, for operators that read the dataset in batches.");
  RegisterCpuOperator<CreateTreeCursorOp>("CreateTreeCursor", __FILE__);

  RegisterSchema("ResetCursor", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "cursor", "a cursor from CreateTreeCursor")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Moves a cursor to the begin of the dataset.");
  RegisterCpuOperator<ResetCursorOp>("ResetCursor", __FILE__);

  RegisterSchema("GetCursorOffset", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "cursor", "a cursor from CreateTreeCursor")
      .Output(0, "offsets", "int32: the number of rows before the cursor, for each domain")
      .SynchronizedInputs({0})
      .SetDoc("Returns the position of a cursor.");
  RegisterCpuOperator<GetCursorOffsetOp>("GetCursorOffset", __FILE__);
  // As in Caffe2, GetCursorOffset has no gradient maker: a cursor is not a tensor.
  // A cursor is not a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CreateTreeCursor", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ResetCursor", __FILE__);
}

}  // namespace caffe2rt
