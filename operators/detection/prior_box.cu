// PriorBox on CUDA. The sizes of the boxes are parameters of the kernel, so that nothing is copied to the
// device.

#include <algorithm>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/detection/prior_box_kernels.h"

namespace caffe2rt {

namespace {

constexpr int64_t kSizesOfALaunch = 32;

// A thread writes one box.
struct WriteBoxes {
  PriorBoxMap map;
  int64_t first, count;  // of the boxes of a position
  PriorBoxSize sizes[kSizesOfALaunch];
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t at = i / count, box = i % count;
    map.Write(at / map.width, at % map.width, first + box, sizes[box], y);
  }
};

}  // namespace

void MakePriorBoxes(CUDAContext& context, const PriorBoxMap& map, const PriorBoxSize* sizes,
                    float* y) {
  for (int64_t first = 0; first < map.boxes; first += kSizesOfALaunch) {
    WriteBoxes write{map, first, std::min(kSizesOfALaunch, map.boxes - first), {}, y};
    std::copy_n(sizes + first, write.count, write.sizes);
    ForEach(context, map.height * map.width * write.count, write, "PriorBox");
  }
}

}  // namespace caffe2rt
