#pragma once
// The demo: images of stripes, and a net that classifies their direction.
//
// This program draws the images, and the net's weights follow from a formula (Gabor filters;
// Daugman 1985), so the demo needs no external data. The net:
//
//   data [N, 3, H, W] (RGB, 0..255)
//   -> Conv 9x9 stride 2: converts to grey and applies, for each direction, an even and an odd
//      filter, each with both signs
//   -> Relu
//   -> AveragePool (global)
//   -> FC: the sum of the four responses of each direction
//   -> Softmax [N, 4]

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::demo {

inline constexpr int kDirections = 4;
inline constexpr int kImageSize = 64;  // width and height in pixels

// The names of the directions, in the order of the net's output.
const std::vector<std::string>& DirectionNames();

struct StripesImage {
  int direction = 0;
  std::vector<uint8_t> rgb;  // [kImageSize, kImageSize, 3]
};
// Draws stripes of random width, phase, colours and slight tilt, with noise. The same seed gives
// the same image on every machine.
StripesImage DrawStripes(int direction, uint32_t seed);

NetDef StripesInitNet();
NetDef StripesPredictNet();

}  // namespace caffe2rt::demo
