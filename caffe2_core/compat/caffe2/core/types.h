#pragma once
// Element types, their values in TensorProto::DataType, and the layouts of images.
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/typeid.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2 {
using ::caffe2rt::DataTypeToTypeMeta;
using ::caffe2rt::NCHW;
using ::caffe2rt::NHWC;
using ::caffe2rt::StorageOrder;
using ::caffe2rt::StringToStorageOrder;
using ::caffe2rt::TypeMetaToDataType;
using ::caffe2rt::UNKNOWN;

template <class T>
inline bool fp16_type() {
  return false;
}
template <>
inline bool fp16_type<float16>() {
  return true;
}
// The index of the channels' axis: 1 for "NCHW", 3 for "NHWC", otherwise -1.
inline int32_t GetDimFromOrderString(const std::string& order) {
  switch (StringToStorageOrder(order)) {
    case NHWC:
      return 3;
    case NCHW:
      return 1;
    default:
      return -1;
  }
}
inline constexpr char NameScopeSeparator() { return '/'; }
}  // namespace caffe2
