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

}  // namespace caffe2rt
