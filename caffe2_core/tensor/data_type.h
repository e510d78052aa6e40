#pragma once
// Element types as the protos number them.

#include <string>

#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// UNDEFINED for a type that TensorProto does not number.
TensorProto_DataType TypeMetaToDataType(const TypeMeta& meta);
// BYTE is uint8_t, as UINT8. THROWS for a number without an element type (UNDEFINED).
TypeMeta DataTypeToTypeMeta(TensorProto_DataType type);
// The same for a number from a file; THROWS for one that is not known at all.
TypeMeta DataTypeToTypeMeta(int64_t type);
// "float", "int32", ... for messages and listings.
std::string DataTypeName(TensorProto_DataType type);
std::string DataTypeName(const TypeMeta& meta);

}  // namespace caffe2rt
