#include "caffe2_core/io/image.h"

#include <absl/strings/match.h>

#include <new>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image_codecs.h"
#include "caffe2_core/io/image_orientation.h"
#include "caffe2_core/io/standard_streams.h"

namespace caffe2rt {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

// Whether the name of a file to write asks for JPEG; false for PNG.
bool IsJpegName(const std::string& path) {
  if (absl::EndsWithIgnoreCase(path, ".jpg") || absl::EndsWithIgnoreCase(path, ".jpeg"))
    return true;
  CAFFE_ENFORCE(absl::EndsWithIgnoreCase(path, ".png") || IsStandardStream(path), "cannot write \"",
                path, "\" as an image: its name ends in neither .png nor .jpg");
  return false;
}

}  // namespace

Image LoadImage(const std::string& path, const ImageLimits& limits) try {
  return DecodeImage(ReadWholeFile(path, kMaxFileBytes), path, limits);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Image DecodeImage(std::string_view bytes, const std::string& subject,
                  const ImageLimits& limits) try {
  if (bytes.starts_with("\xff\xd8\xff")) {
    Image image = internal::DecodeJpeg(bytes, subject, limits);
    return internal::Oriented(std::move(image), internal::OrientationOfJpeg(bytes));
  }
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
    Image image = internal::DecodePng(bytes, subject, limits);
    return internal::Oriented(std::move(image), internal::OrientationOfPng(bytes));
  }
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

void CheckPixels(const std::string& path, const Image& image) {
  CAFFE_ENFORCE(image.width > 0 && image.height > 0 &&
                    image.rgb.size() ==
                        static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3,
                "cannot write \"", path, "\": the image of ", image.width, "x", image.height,
                " pixels has ", image.rgb.size(), " bytes");
}
}  // namespace internal

void CheckImageFileName(const std::string& path) { (void)IsJpegName(path); }

void SaveImage(const std::string& path, const Image& image) {
  (IsJpegName(path) ? SaveJpeg : SavePng)(path, image);
}

}  // namespace caffe2rt
