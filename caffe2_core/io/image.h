#pragma once
// Reads and writes JPEG and PNG images, and converts them to input tensors of nets and back.
//
//   Image cat = LoadImage("cat.jpg");  // 8-bit RGB
//   Tensor data = ImageToTensor(
//       cat, {.mean = {104, 117, 123}, .bgr = true, .resize = 256, .crop = 224});
//
// Files may be hostile: sizes are checked before memory is allocated, failures of libjpeg and
// libpng become exceptions, and ImageLimits stops decompression bombs. A truncated file is an
// error. Alpha is dropped, 16-bit samples are reduced to 8 bits, and CMYK is converted to RGB. The
// orientation that Exif data state is applied. Colour profiles and gamma are not. Thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/image_resize.h"
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

struct ImageSize {
  int width = 0;   // pixels
  int height = 0;  // pixels
};

// How to convert an image to the input of a net. The steps are applied in this order: resize, crop,
// channel order, (x - mean) * scale / std.
struct ImageTransform {
  // Mean, scale and standard deviation per channel, in the net's channel order: one value for all
  // channels, or three. Values that were made for images in [0, 1] are multiplied by 255: a mean of
  // 0.485 is 123.675, a standard deviation of 0.229 is 58.395.
  std::vector<float> mean = {0};
  std::vector<float> scale = {1};
  std::vector<float> std = {1};
  // Channel order blue, green, red instead of red, green, blue.
  bool bgr = false;
  // One channel instead of three: (299 R + 587 G + 114 B) / 1000, rounded (ITU-R BT.601).
  bool grey = false;
  // Length of the shorter side in pixels; the longer side scales in proportion. 0: no resizing.
  int resize = 0;
  // Instead of `resize`: both sides. The image is stretched if its proportions differ.
  ImageSize resize_to = {};
  // Side of a square crop from the centre, in pixels. 0: the whole image.
  int crop = 0;
  // Instead of `crop`: both sides.
  ImageSize crop_to = {};
  Interpolation interpolation = Interpolation::kLinear;
};

// Reads an image file. THROWS, naming the file, if it is not a JPEG or PNG, or is damaged.
Image LoadImage(const std::string& path, const ImageLimits& limits = {});
// Like LoadImage, for bytes in memory; errors use `subject` as the name of the file.
Image DecodeImage(std::string_view bytes, const std::string& subject,
                  const ImageLimits& limits = {});

// Sets `width` and `height` to the size of `image` after ImageTransform::resize = `shorter_side`.
// THROWS if the longer side would exceed 1000000 pixels.
void ResizedSize(const Image& image, int shorter_side, int* width, int* height);

// Resizes and crops. THROWS if the image is smaller than the crop, or if both forms of a size are
// set.
Image ResizedAndCropped(Image image, const ImageTransform& transform);

// Returns floats of shape [1, 3, H, W], or [1, 1, H, W] if `transform.grey`. THROWS as
// ResizedAndCropped does, if mean, scale or std has neither 1 value nor one per channel, or if std
// is zero.
Tensor ImageToTensor(const Image& image, const ImageTransform& transform);

// Returns the input of a style net, uint8 of shape [1, H, W, 4]: blue, green, red and an alpha of
// 255. Only the sizes and the interpolation of `transform` are applied. THROWS as ResizedAndCropped
// does.
Tensor ImageToBgra(const Image& image, const ImageTransform& transform);

// Converts a tensor to an image. Accepts one image of these forms:
//   - uint8 [1, H, W, 4]: blue, green, red, alpha, as the operator
//     BRGNCHWCToPackedInt8BGRAStylizerDeprocess writes; alpha is dropped;
//   - float or uint8 [1, 3, H, W], [3, H, W], [1, 1, H, W], [1, H, W] or [H, W]: red, green, blue
//     (blue, green, red if `bgr`) or grey.
// Floats are values from 0 to 255, or from 0 to 1 if all of them lie in [-0.5, 1.5]. They are
// rounded and clamped, NaN becomes 0. THROWS for other types and shapes.
Image TensorToImage(const Tensor& tensor, bool bgr = false);

// Write a PNG file, or a JPEG file of quality 95. SaveImage writes JPEG if the path ends in ".jpg"
// or ".jpeg", in any case, and PNG if it ends in ".png" or is a standard stream. Writing is atomic.
// THROW if the file cannot be written, or its name has another ending.
void SavePng(const std::string& path, const Image& image);
void SaveJpeg(const std::string& path, const Image& image);
void SaveImage(const std::string& path, const Image& image);
// THROWS as SaveImage does for the name of a file.
void CheckImageFileName(const std::string& path);

}  // namespace caffe2rt
#pragma GCC visibility pop
