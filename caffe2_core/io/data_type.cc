#include "caffe2_core/io/data_type.h"

#include <cstdint>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

struct Row {
  TensorProto::DataType type;
  TypeMeta meta;
};

// The first row of a C++ type is the one that is written.
const Row* Rows(size_t* count) {
  static const Row rows[] = {
      {TensorProto::FLOAT, TypeMeta::Make<float>()},
      {TensorProto::INT32, TypeMeta::Make<int32_t>()},
      {TensorProto::STRING, TypeMeta::Make<std::string>()},
      {TensorProto::BOOL, TypeMeta::Make<bool>()},
      {TensorProto::UINT8, TypeMeta::Make<uint8_t>()},
      {TensorProto::INT8, TypeMeta::Make<int8_t>()},
      {TensorProto::UINT16, TypeMeta::Make<uint16_t>()},
      {TensorProto::INT16, TypeMeta::Make<int16_t>()},
      {TensorProto::INT64, TypeMeta::Make<int64_t>()},
      {TensorProto::FLOAT16, TypeMeta::Make<float16>()},
      {TensorProto::DOUBLE, TypeMeta::Make<double>()},
      {TensorProto::BYTE, TypeMeta::Make<uint8_t>()},
  };
  *count = sizeof(rows) / sizeof(rows[0]);
  return rows;
}

}  // namespace

TensorProto::DataType TypeMetaToDataType(const TypeMeta& meta) {
  size_t count;
  const Row* rows = Rows(&count);
  for (size_t i = 0; i < count; ++i) {
    if (rows[i].meta == meta) return rows[i].type;
  }
  return TensorProto::UNDEFINED;
}

TypeMeta DataTypeToTypeMeta(const TensorProto::DataType& type) {
  size_t count;
  const Row* rows = Rows(&count);
  for (size_t i = 0; i < count; ++i) {
    if (rows[i].type == type) return rows[i].meta;
  }
  CAFFE_THROW("element type ", DataTypeName(type), " is not a type of tensor elements");
}

std::string DataTypeName(int type) {
  return TensorProto::DataType_IsValid(type)
             ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
             : MakeString(type);
}

}  // namespace caffe2rt
