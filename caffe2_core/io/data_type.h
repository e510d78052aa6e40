#pragma once
// The element types that protos name, and the C++ types behind them. Caffe2's names.

#include <string>

#include "caffe2_core/base/type_meta.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// UNDEFINED for a type without a number.
TensorProto::DataType TypeMetaToDataType(const TypeMeta& meta);

// BYTE and UINT8 are uint8_t. THROWS for UNDEFINED and for what is no type of tensor elements.
TypeMeta DataTypeToTypeMeta(const TensorProto::DataType& type);

// "FLOAT", ...; the number for what has no name.
std::string DataTypeName(int type);

}  // namespace caffe2rt
