#include "caffe2_core/base/storage_order.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

StorageOrder ParseStorageOrder(const std::string& text) {
  if (text == "NCHW" || text == "nchw") return NCHW;
  if (text == "NHWC" || text == "nhwc") return NHWC;
  return UNKNOWN;
}

StorageOrder StringToStorageOrder(const std::string& text) {
  const StorageOrder order = ParseStorageOrder(text);
  CAFFE_ENFORCE(order != UNKNOWN, "Unknown Storage order \"", text, "\", want NCHW or NHWC");
  return order;
}

}  // namespace caffe2rt
