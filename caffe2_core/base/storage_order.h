#pragma once
// The layout of images: whether the channels come before or after the pixels.

#include <string>

namespace caffe2rt {

enum StorageOrder { UNKNOWN = 0, NHWC = 1, NCHW = 2 };

// UNKNOWN for anything but "NCHW", "nchw", "NHWC" and "nhwc".
StorageOrder ParseStorageOrder(const std::string& text);
// The same. THROWS for a text that is no storage order.
StorageOrder StringToStorageOrder(const std::string& text);

}  // namespace caffe2rt
