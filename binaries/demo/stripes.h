#pragma once
// The demo: pictures of stripes, and a net that tells their direction.
//
// The pictures are drawn by this program, and the net's weights follow from a formula (Gabor
// filters; Daugman 1985), so nothing in the demo comes from elsewhere:
//   data [N, 3, H, W] (RGB, 0..255) -> Conv 9x9 stride 2: grey, and for each direction an even and
//   an odd filter, each with both signs -> Relu -> AveragePool (global) -> FC: the sum over the
//   four responses of a direction -> Softmax [N, 4]

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::demo {

inline constexpr int kDirections = 4;
inline constexpr int kPictureSize = 64;  // pixels, both ways

// In the order of the net's output.
const std::vector<std::string>& DirectionNames();

struct Picture {
  int direction = 0;
  std::vector<uint8_t> rgb;  // [kPictureSize, kPictureSize, 3]
};
// Stripes of random width, phase, colours and slight tilt, with noise; the same picture for the
// same seed everywhere.
Picture DrawStripes(int direction, uint32_t seed);

NetDef StripesInitNet();
NetDef StripesPredictNet();

}  // namespace caffe2rt::demo
