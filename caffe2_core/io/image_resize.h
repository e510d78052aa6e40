#pragma once
// Resizes images with the interpolations that nets in circulation were trained with.
//
//   Image small = ResizeImage(cat, 224, 224, Interpolation::kBicubic);
//
// Three libraries prepared the images of most nets, and their results differ visibly:
//
//   OpenCV   nearest, linear, cubic, area: nearest, linear and cubic look at 1, 2x2 and 4x4 pixels
//            however much the image shrinks, so that fine detail aliases; area averages.
//   Pillow   box, bilinear, hamming, bicubic, lanczos: filters that widen when the image shrinks
//            (antialiasing). torchvision resizes PIL images with them. The results are equal to
//            Pillow's in every bit, with its rounding after each of the two passes.
//
// The results for OpenCV differ from its own by at most 1, because it rounds weights to 11 bits.
// Thread safe.

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Image;

enum class Interpolation {
  kNearest,   // OpenCV's INTER_NEAREST: pixel floor(x * from / to)
  kLinear,    // OpenCV's INTER_LINEAR
  kCubic,     // OpenCV's INTER_CUBIC: a = -0.75
  kArea,      // OpenCV's INTER_AREA: the mean of the area that a pixel covers
  kBox,       // Pillow's BOX
  kBilinear,  // Pillow's BILINEAR
  kHamming,   // Pillow's HAMMING
  kBicubic,   // Pillow's BICUBIC: a = -0.5
  kLanczos,   // Pillow's LANCZOS: three lobes
};

// "nearest", "linear", ..., in the order of the enumeration.
std::vector<std::string> InterpolationNames();
// Sets `interpolation` to the one of this name. Returns false if there is none.
bool ParseInterpolation(const std::string& name, Interpolation* interpolation);

// All interpolations place the centres of pixels at half coordinates, except kNearest. Results are
// rounded to 8 bits. An image that has the size already is returned unchanged. REQUIRES: all sizes
// are at least 1.
Image ResizeImage(const Image& image, int width, int height,
                  Interpolation interpolation = Interpolation::kLinear);

}  // namespace caffe2rt
#pragma GCC visibility pop
