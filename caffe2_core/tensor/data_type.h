#pragma once
// Conversion between element types and the values of TensorProto::DataType.

#include <string>

#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns UNDEFINED for a type that TensorProto::DataType does not list.
TensorProto_DataType TypeMetaToDataType(const TypeMeta& meta);
// BYTE is uint8_t, as is UINT8. THROWS for a value without an element type, such as UNDEFINED.
TypeMeta DataTypeToTypeMeta(TensorProto_DataType type);
// The same for a number read from a file. THROWS for an unknown number too.
TypeMeta DataTypeToTypeMeta(int64_t type);
// The name used in messages and listings: "float", "int32", ...
std::string DataTypeName(TensorProto_DataType type);
std::string DataTypeName(const TypeMeta& meta);

}  // namespace caffe2rt
#pragma GCC visibility pop
