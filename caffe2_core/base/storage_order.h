#pragma once
// The layout of images: whether the channels come before or after the pixels.

#include <string_view>

namespace caffe2rt {

enum StorageOrder { UNKNOWN = 0, NHWC = 1, NCHW = 2 };

// UNKNOWN for anything but "NCHW", "nchw", "NHWC" and "nhwc".
inline StorageOrder ParseStorageOrder(std::string_view text) {
  if (text == "NCHW" || text == "nchw") return NCHW;
  if (text == "NHWC" || text == "nhwc") return NHWC;
  return UNKNOWN;
}

}  // namespace caffe2rt
