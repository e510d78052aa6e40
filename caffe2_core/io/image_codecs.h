#pragma once
// The decoders behind image.h, one per library. libjpeg and libpng report errors with longjmp; the
// sources keep objects with destructors out of the stack frames that longjmp skips.

#include <string>
#include <string_view>

#include "caffe2_core/io/image.h"

namespace caffe2rt::internal {

Image DecodeJpeg(std::string_view bytes, const std::string& subject, const ImageLimits& limits);
Image DecodePng(std::string_view bytes, const std::string& subject, const ImageLimits& limits);

// THROWS if a side is not positive or the number of pixels exceeds the limit.
void CheckImageSize(int64_t width, int64_t height, const std::string& subject,
                    const ImageLimits& limits);

// THROWS if the image to be written to `path` has no pixels, or not as many as its size requires.
void CheckPixels(const std::string& path, const Image& image);

}  // namespace caffe2rt::internal
