#include "operators/detection/box_decoder.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

constexpr float kDegreesPerRadian = 57.29577951308232f;

// Clips [first, last]. NaN stays NaN.
void ClipSpan(float size, float one, float* first, float* last) {
  *first = std::max(std::min(*first, size - one), 0.0f);
  *last = std::max(std::min(*last, size - one), 0.0f);
}

}  // namespace

void BoxDecoder::Check() const {
  const int64_t period = int64_t{high} - low;
  CAFFE_ENFORCE(!rotated || !bound_angle || (period > 0 && period % 180 == 0),
                "arguments angle_bound_lo and angle_bound_hi are ", low, " and ", high,
                ", want a difference that is a positive multiple of 180");
}

void BoxDecoder::Decode(const float* box, const float* delta, float* decoded) const {
  const float most = std::log(1000.0f / 16.0f);  // the logarithm of the largest factor
  for (int axis = 0; axis < 2; ++axis) {
    const float size = rotated ? box[2 + axis] : box[2 + axis] - box[axis] + one;
    const float center = rotated ? box[axis] : box[axis] + 0.5f * size;
    const float new_center = delta[axis] / weights[axis] * size + center;
    const float new_size = std::exp(std::min(delta[2 + axis] / weights[2 + axis], most)) * size;
    decoded[axis] = rotated ? new_center : new_center - 0.5f * new_size;
    decoded[2 + axis] = rotated ? new_size : new_center + 0.5f * new_size - one;
  }
  if (!rotated) return;
  float angle = delta[4] * kDegreesPerRadian + box[4];
  if (bound_angle) {
    const float period = static_cast<float>(int64_t{high} - low);
    if (angle < static_cast<float>(low)) {
      angle += period;
    } else if (angle > static_cast<float>(high)) {
      angle -= period;
    }
  }
  decoded[4] = angle;
}

void BoxDecoder::Clip(float height, float width, float* box) const {
  if (!rotated) {
    ClipSpan(width, one, box, box + 2);
    ClipSpan(height, one, box + 1, box + 3);
    return;
  }
  if (clip_angle < 0 || !(std::abs(box[4]) <= clip_angle)) return;
  for (int axis = 0; axis < 2; ++axis) {
    const float half = (box[2 + axis] - one) / 2;
    float first = box[axis] - half, last = box[axis] + half;
    ClipSpan(axis == 0 ? width : height, one, &first, &last);
    box[axis] = (first + last) / 2;
    box[2 + axis] = last - first + one;
  }
}

BoxDecoder ReadBoxDecoder(const ArgumentHelper& args) {
  BoxDecoder decoder;
  decoder.one = args.Read(kBoxLegacyPlusOne) ? 1 : 0;
  decoder.bound_angle = args.Read(kBoxAngleBoundOn);
  decoder.low = args.Read(kBoxAngleBoundLo);
  decoder.high = args.Read(kBoxAngleBoundHi);
  decoder.clip_angle = args.Read(kBoxClipAngleThresh);
  return decoder;
}

}  // namespace caffe2rt
