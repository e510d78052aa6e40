// Images as input tensors of nets, and tensors as images.

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_codecs.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

float ChannelValue(const std::vector<float>& values, int channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

int Luma(const uint8_t* rgb) { return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000; }

// The centre of the image.
Image Cropped(const Image& image, int width, int height) {
  CAFFE_ENFORCE(width <= image.width && height <= image.height, "an image of ", image.width, "x",
                image.height, " pixels is smaller than the crop of ", width, "x", height,
                "; resize it first");
  Image out{.width = width, .height = height, .rgb = {}};
  const size_t stride = static_cast<size_t>(width) * 3;
  out.rgb.resize(stride * static_cast<size_t>(height));
  const int left = (image.width - width) / 2, top = (image.height - height) / 2;
  for (int y = 0; y < height; ++y) {
    const size_t row = static_cast<size_t>(top + y) * static_cast<size_t>(image.width);
    std::memcpy(out.rgb.data() + static_cast<size_t>(y) * stride,
                image.rgb.data() + (row + static_cast<size_t>(left)) * 3, stride);
  }
  return out;
}

void CheckSizes(const ImageTransform& transform) {
  const auto check = [](const char* what, int side, const ImageSize& size) {
    CAFFE_ENFORCE(side >= 0 && size.width >= 0 && size.height >= 0, what, " of an image is ", side,
                  " or ", size.width, "x", size.height, ", want at least 0");
    CAFFE_ENFORCE((size.width == 0) == (size.height == 0), what, " of an image is ", size.width,
                  "x", size.height, ", want two sides");
    CAFFE_ENFORCE(side == 0 || size.width == 0, what, " of an image is set to both ", side, " and ",
                  size.width, "x", size.height);
  };
  check("resize", transform.resize, transform.resize_to);
  check("crop", transform.crop, transform.crop_to);
}

void CheckChannelValues(const ImageTransform& transform) {
  const size_t channels = transform.grey ? 1 : 3;
  for (const auto& [name, values] :
       {std::pair("mean", &transform.mean), {"scale", &transform.scale}, {"std", &transform.std}}) {
    CAFFE_ENFORCE(values->size() == 1 || values->size() == channels, name, " has ", values->size(),
                  " values, want 1", channels == 1 ? ": the image is grey" : " or 3");
  }
  for (const float value : transform.std) {
    CAFFE_ENFORCE_NE(value, 0.f, "std, by which pixels are divided");
  }
}

// Where the elements of an image are in a tensor: element (c, y, x) of the image is at
// c * plane + (y * width + x) * pixel.
struct ImageLayout {
  int width = 0, height = 0, channels = 0;
  size_t plane = 0, pixel = 0;
};

ImageLayout LayoutOf(const Tensor& tensor) {
  std::vector<int64_t> dims = tensor.dims();
  if (dims.size() == 4 && dims[0] == 1) dims.erase(dims.begin());
  const bool is_bytes = tensor.IsType<uint8_t>();
  const bool packed = dims.size() == 3 && is_bytes && tensor.dim() == 4 && dims[2] == 4;
  if (packed) std::rotate(dims.begin(), dims.begin() + 2, dims.end());
  if (dims.size() == 2) dims.insert(dims.begin(), 1);
  CAFFE_ENFORCE(dims.size() == 3 && (is_bytes || tensor.IsType<float>()) &&
                    (packed || dims[0] == 1 || dims[0] == 3),
                "cannot show ", DataTypeName(tensor.meta()), " [",
                absl::StrJoin(tensor.dims(), ", "),
                "] as an image, want float or uint8 [1, 3, H, W] or [1, 1, H, W], or uint8 "
                "[1, H, W, 4]");
  internal::CheckImageSize(dims[2], dims[1], "tensor", ImageLimits{});
  const auto pixels = static_cast<size_t>(dims[1] * dims[2]);
  return {.width = static_cast<int>(dims[2]),
          .height = static_cast<int>(dims[1]),
          .channels = static_cast<int>(dims[0]),
          .plane = packed ? 1 : pixels,
          .pixel = packed ? size_t{4} : 1};
}

// Whether all values lie around [0, 1]. Nets overshoot a little.
bool AreFractions(const float* values, int64_t count) {
  return std::all_of(values, values + count,
                     [](float value) { return !(value < -0.5f) && !(value > 1.5f); });
}

uint8_t ByteOf(float value) {
  return value != value ? 0
                        : static_cast<uint8_t>(std::clamp(std::floor(value + 0.5f), 0.f, 255.f));
}

}  // namespace

void ResizedSize(const Image& image, int shorter_side, int* width, int* height) {
  CAFFE_ENFORCE(width != nullptr && height != nullptr,
                "argument width or height of ResizedSize is null");
  const int shorter = std::min(image.width, image.height);
  const auto scaled = [&](int side) {
    if (side == shorter) return shorter_side;
    const double size = std::round(static_cast<double>(side) * shorter_side / shorter);
    CAFFE_ENFORCE(size <= 1e6, "an image of ", image.width, "x", image.height,
                  " pixels resized to a shorter side of ", shorter_side,
                  " would be too long, want at most 1000000 pixels");
    return static_cast<int>(size);
  };
  *width = scaled(image.width);
  *height = scaled(image.height);
}

Image ResizedAndCropped(Image image, const ImageTransform& transform) try {
  CheckSizes(transform);
  int width = transform.resize_to.width, height = transform.resize_to.height;
  if (transform.resize > 0) ResizedSize(image, transform.resize, &width, &height);
  if (width > 0) {
    internal::CheckImageSize(width, height, "resized image", ImageLimits{});
    image = ResizeImage(image, width, height, transform.interpolation);
  }
  const ImageSize crop =
      transform.crop > 0 ? ImageSize{transform.crop, transform.crop} : transform.crop_to;
  if (crop.width == 0 || (crop.width == image.width && crop.height == image.height)) return image;
  return Cropped(image, crop.width, crop.height);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Tensor ImageToTensor(const Image& image, const ImageTransform& transform) try {
  CheckChannelValues(transform);
  const Image source = ResizedAndCropped(image, transform);
  const int channels = transform.grey ? 1 : 3;
  Tensor tensor(std::vector<int64_t>{1, channels, source.height, source.width}, CPU);
  float* to = tensor.mutable_data<float>();
  for (int channel = 0; channel < channels; ++channel) {
    const int from_channel = transform.bgr ? 2 - channel : channel;
    const float mean = ChannelValue(transform.mean, channel);
    const float scale = ChannelValue(transform.scale, channel);
    const float std = ChannelValue(transform.std, channel);
    for (size_t i = 0; i < source.rgb.size(); i += 3) {
      const uint8_t* const from = source.rgb.data() + i;
      const int value = transform.grey ? Luma(from) : from[from_channel];
      *to++ = (static_cast<float>(value) - mean) * scale / std;
    }
  }
  return tensor;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Tensor ImageToBgra(const Image& image, const ImageTransform& transform) try {
  const Image source = ResizedAndCropped(image, transform);
  Tensor tensor(std::vector<int64_t>{1, source.height, source.width, 4}, CPU);
  uint8_t* to = tensor.mutable_data<uint8_t>();
  for (size_t i = 0; i < source.rgb.size(); i += 3) {
    for (const uint8_t value : {source.rgb[i + 2], source.rgb[i + 1], source.rgb[i], uint8_t{255}})
      *to++ = value;
  }
  return tensor;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Image TensorToImage(const Tensor& tensor, bool bgr) try {
  const ImageLayout layout = LayoutOf(tensor);
  const bool is_blue_first = bgr || layout.channels == 4;
  const float* const floats = tensor.IsType<float>() ? tensor.data<float>() : nullptr;
  const uint8_t* const bytes = floats == nullptr ? tensor.data<uint8_t>() : nullptr;
  const float scale = floats != nullptr && AreFractions(floats, tensor.numel()) ? 255.f : 1.f;
  Image image{.width = layout.width, .height = layout.height, .rgb = {}};
  const size_t pixels = static_cast<size_t>(layout.width) * static_cast<size_t>(layout.height);
  image.rgb.resize(pixels * 3);
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const size_t channel = layout.channels == 1 ? 0 : is_blue_first ? 2 - c : c;
      const size_t at = channel * layout.plane + i * layout.pixel;
      image.rgb[i * 3 + c] = floats != nullptr ? ByteOf(floats[at] * scale) : bytes[at];
    }
  }
  return image;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
