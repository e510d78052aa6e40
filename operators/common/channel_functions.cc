#include "operators/common/channel_functions.h"

namespace caffe2rt {

void PadChannels(const ChannelPlanes& planes, const float* values, int64_t count,
                 std::vector<float>* padded) {
  const int64_t channels = planes.channels, row = planes.padded_channels();
  padded->resize(static_cast<size_t>(count * row));
  for (int64_t i = 0; i < count; ++i) {
    float* const to = padded->data() + i * row;
    std::copy_n(values + i * channels, channels, to);
    std::fill(to + channels, to + row, 0.0f);
  }
}

}  // namespace caffe2rt
