#pragma once
// The memory layout of images: channels before (NCHW) or after (NHWC) the spatial dimensions.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

enum StorageOrder { UNKNOWN = 0, NHWC = 1, NCHW = 2 };

// Returns UNKNOWN unless `text` is "NCHW", "nchw", "NHWC" or "nhwc".
StorageOrder ParseStorageOrder(const std::string& text);
// The same, but THROWS instead of returning UNKNOWN.
StorageOrder StringToStorageOrder(const std::string& text);

}  // namespace caffe2rt
#pragma GCC visibility pop
