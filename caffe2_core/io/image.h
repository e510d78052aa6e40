#pragma once
// Reads JPEG and PNG images and converts them to input tensors for nets.
//
//   Image cat = LoadImage("cat.jpg");  // 8-bit RGB
//   Tensor data = ImageToTensor(
//       cat, {.mean = {104, 117, 123}, .bgr = true, .resize = 256, .crop = 224});
//
// Files may be hostile: sizes are checked before memory is allocated, failures of libjpeg and
// libpng become exceptions, and ImageLimits stops decompression bombs. A truncated file is an
// error. Alpha is dropped, 16-bit samples are reduced to 8 bits, and CMYK is converted to RGB.
// Colour profiles, gamma and Exif orientation are not applied. Thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Image {
  int width = 0;             // pixels
  int height = 0;            // pixels
  std::vector<uint8_t> rgb;  // [height, width, 3]
};

struct ImageLimits {
  // A decoded image uses three bytes per pixel; the default of 100 megapixels is 300 MB.
  int64_t max_pixels = 100'000'000;
  // Maximum number of scans of a progressive JPEG. Each scan costs as much time as decoding a whole
  // image; real files have about ten. A second limit bounds the total cost: width * height * scans
  // must not exceed 12 * max_pixels, so an image of max_pixels may have 12 scans.
  int max_scans = 100;
};

// How to convert an image to the input of a net. The steps are applied in this order: resize, crop,
// channel order, (x - mean) * scale.
struct ImageTransform {
  // Mean and scale per channel, in the net's channel order: one value for all channels, or three.
  std::vector<float> mean = {0};
  std::vector<float> scale = {1};
  // Channel order blue, green, red instead of red, green, blue.
  bool bgr = false;
  // One channel instead of three: (299 R + 587 G + 114 B) / 1000, rounded (ITU-R BT.601).
  bool grey = false;
  // Length of the shorter side in pixels; the longer side scales in proportion. 0: no resizing.
  int resize = 0;
  // Side of a square crop from the centre, in pixels. 0: the whole image.
  int crop = 0;
};

// Reads an image file. THROWS, naming the file, if it is not a JPEG or PNG, or is damaged.
Image LoadImage(const std::string& path, const ImageLimits& limits = {});
// Like LoadImage, for bytes in memory; errors use `subject` as the name of the file.
Image DecodeImage(std::string_view bytes, const std::string& subject,
                  const ImageLimits& limits = {});

// Bilinear interpolation with half-pixel centres, like OpenCV's INTER_LINEAR; results are rounded
// to 8 bits. REQUIRES: all sizes are at least 1.
Image ResizeImage(const Image& image, int width, int height);

// Sets `width` and `height` to the size of `image` after ImageTransform::resize = `shorter_side`.
// THROWS if the longer side would exceed 1000000 pixels.
void ResizedSize(const Image& image, int shorter_side, int* width, int* height);

// Returns floats of shape [1, 3, H, W], or [1, 1, H, W] if `transform.grey`. THROWS if the image is
// smaller than the crop, or if mean or scale has neither 1 value nor one per channel.
Tensor ImageToTensor(const Image& image, const ImageTransform& transform);

// Writes a PNG file. THROWS if it cannot be written.
void SavePng(const std::string& path, const Image& image);

}  // namespace caffe2rt
#pragma GCC visibility pop
