// CreateMap, KeyValueToMap, MapToKeyValue: maps from numbers to numbers, int32 or int64.
//   CreateMap                        ->  an empty map
//   KeyValueToMap   keys, values     ->  a map
//   MapToKeyValue   map              ->  keys [N], values [N], in no order
//
// A file has the tensors of the keys and the values.
#include <string>
#include <unordered_map>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kMapKeyType{"key_dtype", TensorProto_DataType_INT32,
                                        "type of the keys: INT32 or INT64"};
constexpr ArgumentSpec<int> kMapValueType{"value_dtype", TensorProto_DataType_INT32,
                                          "type of the values: INT32 or INT64"};

template <class K, class V>
using NumberMap = std::unordered_map<K, V>;

// Calls function(K(), V()) for the types that a map may have.
template <class F>
void DispatchByTypes(TypeMeta key, TypeMeta value, const F& function) {
  DispatchByType<int32_t, int64_t>(key, "the keys", [&](auto k) {
    DispatchByType<int32_t, int64_t>(value, "the values", [&](auto v) { function(k, v); });
  });
}

TypeMeta NumberType(int type, const char* argument) {
  CAFFE_ENFORCE(type == TensorProto_DataType_INT32 || type == TensorProto_DataType_INT64,
                "argument \"", argument, "\" is ", type, ", want ",
                static_cast<int>(TensorProto_DataType_INT32), " (INT32) or ",
                static_cast<int>(TensorProto_DataType_INT64), " (INT64)");
  return type == TensorProto_DataType_INT32 ? TypeMeta::Make<int32_t>() : TypeMeta::Make<int64_t>();
}

// Fills a map from tensors of as many keys as values.
template <class K, class V>
void FillMap(const Tensor& keys, const Tensor& values, NumberMap<K, V>* map) {
  CAFFE_ENFORCE_EQ(values.numel(), keys.numel(), "values, want one for each key");
  const K* const key = keys.data<K>();
  const V* const value = values.data<V>();
  map->clear();
  for (int64_t i = 0; i < keys.numel(); ++i) (*map)[key[i]] = value[i];
}

template <class K, class V>
void ListMap(const NumberMap<K, V>& map, Tensor* keys, Tensor* values) {
  keys->Resize(static_cast<int64_t>(map.size()));
  values->Resize(static_cast<int64_t>(map.size()));
  K* key = keys->template mutable_data<K>();
  V* value = values->template mutable_data<V>();
  for (const auto& [k, v] : map) {
    *key++ = k;
    *value++ = v;
  }
}

template <class T>
constexpr const char* kNumberName = sizeof(T) == 4 ? "int32_t" : "int64_t";
template <class K, class V>
std::string MapName() {
  return MakeString("(std::unordered_map<", kNumberName<K>, ", ", kNumberName<V>, ">)");
}

template <class K, class V>
class MapSerializer final : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    Tensor keys(CPU), values(CPU);
    ListMap(*static_cast<const NumberMap<K, V>*>(object), &keys, &values);
    TensorProtos tensors;
    TensorSerializer().Serialize(keys, name, tensors.add_protos(), 0, kNoChunking);
    TensorSerializer().Serialize(values, name, tensors.add_protos(), 0, kNoChunking);
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(MapName<K, V>());
    proto.set_content(ProtoToBinary(tensors));
    acceptor(name, ProtoToBinary(proto));
  }
};

template <class K, class V>
class MapDeserializer final : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    TensorProtos tensors;
    CAFFE_ENFORCE(tensors.ParseFromString(proto.content()) && tensors.protos_size() == 2,
                  "the record of map \"", proto.name(),
                  "\" does not hold two tensors: keys and values");
    const Tensor keys = TensorDeserializer().Deserialize(tensors.protos(0));
    const Tensor values = TensorDeserializer().Deserialize(tensors.protos(1));
    FillMap<K, V>(keys, values, blob->GetMutable<NumberMap<K, V>>());
  }
};

template <class K, class V>
void RegisterMapType() {
  BlobSerializerRegistry().Register(
      TypeMeta::Id<NumberMap<K, V>>(), [] { return std::make_unique<MapSerializer<K, V>>(); },
      __FILE__);
  BlobDeserializerRegistry().Register(
      MapName<K, V>(), [] { return std::make_unique<MapDeserializer<K, V>>(); }, __FILE__);
}

class CreateMapOp final : public Operator<CPUContext> {
 public:
  CreateMapOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        key_(NumberType(ReadArgument(kMapKeyType), kMapKeyType.name)),
        value_(NumberType(ReadArgument(kMapValueType), kMapValueType.name)) {}
  bool RunOnDevice() override {
    DispatchByTypes(key_, value_, [&](auto k, auto v) {
      *OperatorBase::Output<NumberMap<decltype(k), decltype(v)>>(0) = {};
    });
    return true;
  }

 private:
  const TypeMeta key_, value_;
};

class KeyValueToMapOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& keys = Input(0);
    const Tensor& values = Input(1);
    DispatchByTypes(keys.dtype(), values.dtype(), [&](auto k, auto v) {
      FillMap(keys, values, OperatorBase::Output<NumberMap<decltype(k), decltype(v)>>(0));
    });
    return true;
  }
};

class MapToKeyValueOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const bool found = List<int32_t, int32_t>() || List<int32_t, int64_t>() ||
                       List<int64_t, int32_t>() || List<int64_t, int64_t>();
    CAFFE_ENFORCE(found, "input 0 (map blob) holds ", InputBlob(0).meta().name(),
                  ", want a map from numbers to numbers");
    return true;
  }

 private:
  template <class K, class V>
  bool List() {
    if (!InputBlob(0).IsType<NumberMap<K, V>>()) return false;
    ListMap(InputBlob(0).Get<NumberMap<K, V>>(), Output(0), Output(1));
    return true;
  }
};

}  // namespace

void RegisterMap() {
  RegisterMapType<int32_t, int32_t>();
  RegisterMapType<int32_t, int64_t>();
  RegisterMapType<int64_t, int32_t>();
  RegisterMapType<int64_t, int64_t>();
  RegisterSchema("CreateMap", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kMapKeyType, kMapValueType)
      .Output(0, "map blob", "an empty map")
      .SetDoc("Creates an empty map from numbers to numbers.");
  RegisterCpuOperator<CreateMapOp>("CreateMap", __FILE__);
  RegisterSchema("KeyValueToMap", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "key blob", "int32 or int64, any shape")
      .Input(1, "value blob", "int32 or int64, as many elements as there are keys")
      .Output(0, "map blob", "the map; of equal keys the last one counts")
      .SetDoc("Makes a map of keys and their values.");
  RegisterCpuOperator<KeyValueToMapOp>("KeyValueToMap", __FILE__);
  RegisterSchema("MapToKeyValue", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Input(0, "map blob", "a map")
      .Output(0, "key blob", "[N]: its keys, in no order")
      .Output(1, "value blob", "[N]: their values")
      .SetDoc("Lists the keys and values of a map.");
  RegisterCpuOperator<MapToKeyValueOp>("MapToKeyValue", __FILE__);
  // As in Caffe2, the three have no gradient maker.
}

}  // namespace caffe2rt
