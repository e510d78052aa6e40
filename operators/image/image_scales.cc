#include "operators/image/image_scales.h"

#include <limits>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

int64_t ScaledSize(int64_t in, float scale) {
  const float size = static_cast<float>(in) * scale;
  CAFFE_ENFORCE(size >= 0 && size < static_cast<float>(std::numeric_limits<int>::max()), "size of ",
                in, " pixels scaled by ", scale, " is ", size, ", want 0 to 2147483647");
  return static_cast<int64_t>(size);
}

void CheckScaledGradient(IntArrayRef dy, IntArrayRef x, int height) {
  CAFFE_ENFORCE_EQ(x.size(), 4u, "rank of input 1 (X) of shape ", x, ", want 4");
  CAFFE_ENFORCE_EQ(dy.size(), 4u, "rank of input 0 (dY) of shape ", dy, ", want 4");
  const size_t channels = height == 1 ? 3 : 1;
  CAFFE_ENFORCE(dy[0] == x[0] && dy[channels] == x[channels], "input 0 (dY) has shape ", dy,
                ", want the batch and the channels of input 1 (X) of shape ", x);
}

}  // namespace caffe2rt
