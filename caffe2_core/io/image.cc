#include "caffe2_core/io/image.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image_codecs.h"

namespace caffe2rt {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

// The position of an output pixel between two input pixels.
struct Sample {
  int low, high;
  float weight;  // of `high`
};

std::vector<Sample> SamplesAlong(int from, int to) {
  std::vector<Sample> samples(static_cast<size_t>(to));
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  for (int i = 0; i < to; ++i) {
    const float at = std::max(0.f, (static_cast<float>(i) + 0.5f) * ratio - 0.5f);
    const int low = std::min(static_cast<int>(at), from - 1);
    samples[static_cast<size_t>(i)] = {low, std::min(low + 1, from - 1),
                                       at - static_cast<float>(low)};
  }
  return samples;
}

float ChannelValue(const std::vector<float>& values, int channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

int Luma(const uint8_t* rgb) { return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000; }

}  // namespace

Image LoadImage(const std::string& path, const ImageLimits& limits) try {
  return DecodeImage(ReadWholeFile(path, kMaxFileBytes), path, limits);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Image DecodeImage(std::string_view bytes, const std::string& subject,
                  const ImageLimits& limits) try {
  if (bytes.starts_with("\xff\xd8\xff")) return internal::DecodeJpeg(bytes, subject, limits);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return internal::DecodePng(bytes, subject, limits);
  CAFFE_THROW("cannot read \"", subject, "\" as an image: it is neither JPEG nor PNG");
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

namespace internal {
void CheckImageSize(int64_t width, int64_t height, const std::string& subject,
                    const ImageLimits& limits) {
  CAFFE_ENFORCE(width > 0 && height > 0, "cannot read \"", subject, "\": it is an image of ", width,
                "x", height, " pixels");
  CAFFE_ENFORCE_LE(CheckedMultiply<int64_t>(width, height), limits.max_pixels, "cannot read \"",
                   subject, "\": pixels of an image of ", width, "x", height);
}
}  // namespace internal

Image ResizeImage(const Image& image, int width, int height) try {
  CAFFE_ENFORCE(width > 0 && height > 0 && image.width > 0 && image.height > 0,
                "cannot resize an image of ", image.width, "x", image.height, " pixels to ", width,
                "x", height);
  if (width == image.width && height == image.height) return image;
  const std::vector<Sample> columns = SamplesAlong(image.width, width);
  const std::vector<Sample> rows = SamplesAlong(image.height, height);
  Image out{.width = width, .height = height, .rgb = {}};
  out.rgb.resize(static_cast<size_t>(CheckedProduct(std::vector<int64_t>{width, height, 3})));
  uint8_t* to = out.rgb.data();
  const size_t stride = static_cast<size_t>(image.width) * 3;
  for (const Sample& row : rows) {
    const uint8_t* const upper = image.rgb.data() + static_cast<size_t>(row.low) * stride;
    const uint8_t* const lower = image.rgb.data() + static_cast<size_t>(row.high) * stride;
    for (const Sample& column : columns) {
      for (int c = 0; c < 3; ++c) {
        const int left = column.low * 3 + c, right = column.high * 3 + c;
        const float top =
            upper[left] + column.weight * static_cast<float>(upper[right] - upper[left]);
        const float bottom =
            lower[left] + column.weight * static_cast<float>(lower[right] - lower[left]);
        *to++ = static_cast<uint8_t>(top + row.weight * (bottom - top) + 0.5f);
      }
    }
  }
  return out;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

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

Tensor ImageToTensor(const Image& image, const ImageTransform& transform) try {
  const size_t channels = transform.grey ? 1 : 3;
  for (const auto* values : {&transform.mean, &transform.scale}) {
    CAFFE_ENFORCE(values->size() == 1 || values->size() == channels,
                  values == &transform.mean ? "mean" : "scale", " has ", values->size(),
                  " values, want 1", channels == 1 ? ": the image is grey" : " or 3");
  }
  CAFFE_ENFORCE(transform.resize >= 0 && transform.crop >= 0, "resize ", transform.resize,
                " and crop ", transform.crop, " of an image, want at least 0");
  Image resized;
  if (transform.resize > 0) {
    int width, height;
    ResizedSize(image, transform.resize, &width, &height);
    internal::CheckImageSize(width, height, "resized image", ImageLimits{});
    resized = ResizeImage(image, width, height);
  }
  const Image& source = transform.resize > 0 ? resized : image;
  const int crop = transform.crop;
  CAFFE_ENFORCE(crop <= source.width && crop <= source.height, "an image of ", source.width, "x",
                source.height, " pixels is smaller than the crop of ", crop, "x", crop,
                "; resize it first");
  const int width = crop > 0 ? crop : source.width, height = crop > 0 ? crop : source.height;
  const int left = (source.width - width) / 2, top = (source.height - height) / 2;
  Tensor tensor(std::vector<int64_t>{1, static_cast<int64_t>(channels), height, width}, CPU);
  float* to = tensor.mutable_data<float>();
  for (int channel = 0; channel < static_cast<int>(channels); ++channel) {
    const int from_channel = transform.bgr ? 2 - channel : channel;
    const float mean = ChannelValue(transform.mean, channel);
    const float scale = ChannelValue(transform.scale, channel);
    for (int y = 0; y < height; ++y) {
      const size_t row = static_cast<size_t>(top + y) * static_cast<size_t>(source.width);
      const uint8_t* from = source.rgb.data() + (row + static_cast<size_t>(left)) * 3;
      for (int x = 0; x < width; ++x, from += 3) {
        const int value = transform.grey ? Luma(from) : from[from_channel];
        *to++ = (static_cast<float>(value) - mean) * scale;
      }
    }
  }
  return tensor;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
