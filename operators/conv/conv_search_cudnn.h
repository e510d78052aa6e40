#pragma once
// What the plans of both of cuDNN's APIs share: the limit of the workspace, and the results of
// exhaustive searches, which are kept for the process.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

// All that the fastest algorithm or engine depends on.
using ConvKey = std::vector<int64_t>;

// The sizes of a convolution: those of `window`, which are its geometry's in cuDNN's terms, and
// those that all of its axes share.
struct CudnnConvSizes {
  CudnnWindow window;
  StorageOrder order;
  int64_t batch, channels, out_channels, group;
};
ConvKey MakeConvKey(const CUDAContext& context, ConvDirection direction,
                    const CudnnConvOptions& options, const CudnnConvSizes& sizes);

size_t WorkspaceLimit(const CUDAContext& context, const CudnnConvOptions& options);

// The fastest algorithm, or the position of the fastest engine, for each key. Thread safe.
class SearchResults {
 public:
  std::optional<int> Find(const ConvKey& key) const {
    const MutexLock lock(mutex_);
    const auto found = fastest_.find(key);
    return found == fastest_.end() ? std::nullopt : std::optional<int>(found->second);
  }
  void Add(const ConvKey& key, int fastest) {
    const MutexLock lock(mutex_);
    fastest_[key] = fastest;
  }

 private:
  mutable Mutex mutex_;
  std::map<ConvKey, int> fastest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
