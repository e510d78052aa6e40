#include "caffe2_core/tensor/data_type.h"

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

struct Row {
  TensorProto_DataType type;
  TypeMeta (*meta)();
  const char* name;
};

constexpr Row kRows[] = {
    {TensorProto_DataType_FLOAT, &TypeMeta::Make<float>, "float"},
    {TensorProto_DataType_INT32, &TypeMeta::Make<int32_t>, "int32"},
    {TensorProto_DataType_STRING, &TypeMeta::Make<std::string>, "string"},
    {TensorProto_DataType_BOOL, &TypeMeta::Make<bool>, "bool"},
    {TensorProto_DataType_UINT8, &TypeMeta::Make<uint8_t>, "uint8"},
    {TensorProto_DataType_INT8, &TypeMeta::Make<int8_t>, "int8"},
    {TensorProto_DataType_UINT16, &TypeMeta::Make<uint16_t>, "uint16"},
    {TensorProto_DataType_INT16, &TypeMeta::Make<int16_t>, "int16"},
    {TensorProto_DataType_INT64, &TypeMeta::Make<int64_t>, "int64"},
    {TensorProto_DataType_FLOAT16, &TypeMeta::Make<float16>, "float16"},
    {TensorProto_DataType_DOUBLE, &TypeMeta::Make<double>, "double"},
    {TensorProto_DataType_UINT32, &TypeMeta::Make<uint32_t>, "uint32"},
    {TensorProto_DataType_UINT64, &TypeMeta::Make<uint64_t>, "uint64"},
    {TensorProto_DataType_BFLOAT16, &TypeMeta::Make<bfloat16>, "bfloat16"},
};

}  // namespace

TensorProto_DataType TypeMetaToDataType(const TypeMeta& meta) {
  for (const Row& row : kRows) {
    if (row.meta() == meta) return row.type;
  }
  return TensorProto_DataType_UNDEFINED;
}

TypeMeta DataTypeToTypeMeta(TensorProto_DataType type) {
  return DataTypeToTypeMeta(static_cast<int64_t>(type));
}

TypeMeta DataTypeToTypeMeta(int64_t type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.meta();
  }
  if (type == TensorProto_DataType_BYTE) return TypeMeta::Make<uint8_t>();
  CAFFE_THROW("data type ", type, " of a TensorProto has no element type");
}

std::string DataTypeName(TensorProto_DataType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.name;
  }
  return TensorProto_DataType_IsValid(type) ? TensorProto_DataType_Name(type)
                                            : MakeString("data type ", static_cast<int>(type));
}

std::string DataTypeName(const TypeMeta& meta) {
  const TensorProto_DataType type = TypeMetaToDataType(meta);
  return type == TensorProto_DataType_UNDEFINED ? meta.name() : DataTypeName(type);
}

}  // namespace caffe2rt
