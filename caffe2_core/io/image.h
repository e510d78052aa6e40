#pragma once
// Pictures: JPEG and PNG files in, tensors for nets out.
//
//   Image cat = LoadImage("cat.jpg");                          // 8-bit RGB
//   Tensor data = ImageToTensor(cat, {.mean = {104, 117, 123}, .bgr = true, .resize = 256, .crop =
//   224});
//
// Files may be hostile: sizes are checked before memory is taken, libjpeg's and libpng's failures
// become exceptions, decompression bombs end at ImageLimits. A file that ends early is an error.
// Alpha is dropped, 16-bit samples become 8-bit ones, CMYK becomes RGB; colour profiles, gamma and
// Exif orientation are not applied. Thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

struct Image {
  int width = 0;             // pixels
  int height = 0;            // pixels
  std::vector<uint8_t> rgb;  // [height, width, 3]
};

struct ImageLimits {
  // A decoded picture takes three bytes a pixel; the default, 100 megapixels, is 300 MB.
  int64_t max_pixels = 100'000'000;
  // Passes over a progressive JPEG; each costs the time of a whole picture, real files have about
  // ten. All passes together cost at most 12 pictures of max_pixels: a picture of that size may
  // have 12 passes.
  int max_scans = 100;
};

// What a net wants of a picture. Done in this order: resize, crop, channel order, (x - mean) *
// scale.
struct ImageTransform {
  // Of the channels in the net's order: one value for all, or three.
  std::vector<float> mean = {0};
  std::vector<float> scale = {1};
  // Channels blue, green, red in place of red, green, blue.
  bool bgr = false;
  // One channel in place of three: (299 R + 587 G + 114 B) / 1000, rounded (ITU-R BT.601).
  bool grey = false;
  // The shorter side in pixels, the other in proportion; 0: as it is.
  int resize = 0;
  // A square cut out of the middle, in pixels; 0: the whole picture.
  int crop = 0;
};

// THROWS, naming the file, when it is no JPEG or PNG, or a damaged one.
Image LoadImage(const std::string& path, const ImageLimits& limits = {});
// The same for bytes in memory; `subject` stands for the file in errors.
Image DecodeImage(std::string_view bytes, const std::string& subject,
                  const ImageLimits& limits = {});

// Bilinear with half-pixel centres, as OpenCV's INTER_LINEAR; results are rounded to 8 bits.
// REQUIRES sizes of at least 1.
Image ResizeImage(const Image& image, int width, int height);

// Width and height after `transform`'s resize.
void ResizedSize(const Image& image, int shorter_side, int* width, int* height);

// [1, 3, H, W] of floats, [1, 1, H, W] for grey. THROWS when the picture is smaller than the crop,
// or mean or scale have neither 1 value nor one for each channel.
Tensor ImageToTensor(const Image& image, const ImageTransform& transform);

// PNG, for programs that make pictures. THROWS when it cannot be written.
void SavePng(const std::string& path, const Image& image);

}  // namespace caffe2rt
