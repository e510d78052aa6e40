#include "caffe2_core/io/file_kind_proto.h"

#include "caffe2_core/io/proto_binary.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2rt {
namespace {

FileKindResult Found(FileKind kind, const char* reason) { return {kind, false, reason}; }

template <class Proto>
bool Fits(const WireMessage& message, UnknownFields unknown) {
  return FitsDescriptor(message, *Proto::descriptor(), unknown, ProtoNestingLimit());
}

bool HasField(const WireMessage& message, uint32_t number) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == number) return true;
  }
  return false;
}

// The number of submessages in field `number`, or -1 if `each` is false for one of them.
template <class Predicate>
int64_t CountAll(const WireMessage& message, uint32_t number, Predicate each) {
  WireReader reader(message);
  WireField field;
  int64_t count = 0;
  while (reader.Next(&field)) {
    if (field.number != number) continue;
    if (!each(field.payload)) return -1;
    ++count;
  }
  return count;
}

bool HasOperatorType(const WireMessage& op) {
  return HasField(op, OperatorDef::kTypeFieldNumber) || !op.whole();
}

int64_t Operators(const WireMessage& net) {
  return CountAll(net, NetDef::kOpFieldNumber, HasOperatorType);
}

// A tensor has a type, or dims and data. Only a DOUBLE has double_data (field 9, which is raw_data
// in ONNX).
bool IsTensor(const WireMessage& message) {
  WireReader reader(message);
  WireField field;
  bool dims = false, type = false, doubles = false, other_data = false;
  uint64_t data_type = TensorProto::FLOAT;
  while (reader.Next(&field)) {
    if (field.number == TensorProto::kDimsFieldNumber) dims = true;
    if (field.number == TensorProto::kDoubleDataFieldNumber) doubles = true;
    if (field.number == TensorProto::kDataTypeFieldNumber) {
      type = true;
      data_type = field.value;
    }
    other_data |= field.number >= 3 && field.number <= 6;
  }
  if (doubles && data_type != TensorProto::DOUBLE) return false;
  return type || (dims && other_data);
}

FileKindResult DetectCaffe2(const WireMessage& message, UnknownFields unknown) {
  if (Fits<NetDef>(message, unknown)) {
    const int64_t operators = Operators(message);
    if (operators > 0) return Found(FileKind::kNetDef, "every field fits a NetDef with operators");
  }
  if (Fits<PlanDef>(message, unknown)) {
    const int64_t nets = CountAll(message, PlanDef::kNetworkFieldNumber,
                                  [](const WireMessage& net) { return Operators(net) >= 0; });
    if (nets > 0 || (nets == 0 && HasField(message, PlanDef::kExecutionStepFieldNumber))) {
      return Found(FileKind::kPlanDef, "every field fits a PlanDef");
    }
  }
  if (Fits<BlobProto>(message, unknown) && HasField(message, BlobProto::kTypeFieldNumber) &&
      (HasField(message, BlobProto::kTensorFieldNumber) ||
       HasField(message, BlobProto::kContentFieldNumber) ||
       HasField(message, BlobProto::kQtensorFieldNumber))) {
    return Found(FileKind::kBlobProto, "every field fits a BlobProto");
  }
  if (Fits<TensorProtos>(message, unknown) &&
      CountAll(message, TensorProtos::kProtosFieldNumber, IsTensor) > 0) {
    return Found(FileKind::kTensorProtos, "every field fits a TensorProtos");
  }
  if (Fits<TensorProto>(message, unknown) && IsTensor(message)) {
    return Found(FileKind::kTensorProto, "every field fits a TensorProto");
  }
  const bool has_nets = HasField(message, MetaNetDef::kNetsFieldNumber);
  if (Fits<MetaNetDef>(message, unknown) && (unknown == UnknownFields::kNone || has_nets)) {
    return Found(FileKind::kMetaNetDef, "every field fits a MetaNetDef");
  }
  if (Fits<NetDef>(message, unknown) && Operators(message) == 0 && message.size > 2) {
    return {FileKind::kNetDef, false, "every field fits a NetDef, without operators", true};
  }
  return {};
}

bool IsOnnxModel(const WireMessage& message) {
  WireReader reader(message);
  WireField field;
  bool version = false, graph = false;
  while (reader.Next(&field)) {
    if (field.number == 1) version = field.type == WireType::kVarint && field.value < 1000;
    if (field.number == 2 && field.type != WireType::kBytes) return false;
    if ((field.number == 7 || field.number == 8) && field.type == WireType::kBytes) graph = true;
  }
  return reader.ok() && version && graph;
}

// Fields of ONNX's TensorProto: dims 1, data_type 2, name 8, raw_data 9; no field above 14.
bool IsOnnxTensor(const WireMessage& message) {
  WireReader reader(message);
  WireField field;
  bool type = false, data = false;
  while (reader.Next(&field)) {
    if (field.number == 2) type = field.type == WireType::kVarint && field.value > 0;
    if (field.number == 8 && !IsPrintable(field.payload.bytes)) return false;
    if (field.number > 14) return false;
    data |= field.number == 9 || (field.number >= 4 && field.number <= 7);
  }
  return reader.ok() && type && data;
}

bool HasNumber(const WireMessage& message, uint32_t number) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == number) return field.type == WireType::kVarint;
  }
  return !message.whole();
}

bool HasPrintable(const WireMessage& message, uint32_t number) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == number) {
      return field.type == WireType::kBytes && IsPrintable(field.payload.bytes);
    }
  }
  return false;
}

// Layers are in field 100 (type in field 2), or in field 2 in the older format (name in field 4,
// type as a number in field 5).
bool IsCaffeModel(const WireMessage& message) {
  WireReader reader(message);
  WireField field;
  bool layers = false;
  while (reader.Next(&field)) {
    if (field.number == 1 && !IsPrintable(field.payload.bytes)) return false;
    if (field.number == 100) {
      if (!HasPrintable(field.payload, 2)) return false;
      layers = true;
    }
    if (field.number == 2) {
      if (!HasPrintable(field.payload, 4) || !HasNumber(field.payload, 5)) return false;
      layers = true;
    }
  }
  return reader.ok() && layers;
}

// Four dimensions (num, channels, height, width) in fields 1 to 4, or a shape in field 7, and the
// floats in field 5.
bool IsCaffeBlob(const WireMessage& message) {
  WireReader reader(message);
  WireField field;
  uint64_t dims = 0;
  bool data = false;
  while (reader.Next(&field)) {
    if (field.number >= 1 && field.number <= 4 && field.type == WireType::kVarint) ++dims;
    if (field.number == 5)
      data = field.type == WireType::kBytes ? field.payload.size % 4 == 0
                                            : field.type == WireType::kFixed32;
    if (field.number > 9) return false;
  }
  return reader.ok() && (dims == 4 || HasField(message, 7)) && data;
}

}  // namespace

FileKindResult DetectBinaryKind(const WireMessage& message) {
  if (FileKindResult found = DetectCaffe2(message, UnknownFields::kNone);
      found.kind != FileKind::kUnknown) {
    return found;
  }
  if (IsOnnxModel(message)) return Found(FileKind::kOnnxModel, "has the version and graph of ONNX");
  if (IsCaffeModel(message)) return Found(FileKind::kCaffeModel, "has Caffe's layers");
  if (IsCaffeBlob(message)) return Found(FileKind::kCaffeBlob, "has the fields of Caffe's blob");
  // The file was written by a later version, or with custom fields.
  if (FileKindResult found = DetectCaffe2(message, UnknownFields::kAllowed);
      found.kind != FileKind::kUnknown && !found.weak) {
    return found;
  }
  if (IsOnnxTensor(message)) return Found(FileKind::kOnnxTensor, "has the fields of ONNX's tensor");
  return {};
}

}  // namespace caffe2rt
