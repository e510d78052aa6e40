#pragma once
// The decoders behind image.h: each knows one library. libjpeg and libpng leave by longjmp; the
// sources keep everything that has a destructor out of the frames that are jumped over.

#include <string>
#include <string_view>

#include "caffe2_core/io/image.h"

namespace caffe2rt::internal {

Image DecodeJpeg(std::string_view bytes, const std::string& subject, const ImageLimits& limits);
Image DecodePng(std::string_view bytes, const std::string& subject, const ImageLimits& limits);

// THROWS when the size is none, or beyond the limits.
void CheckImageSize(int64_t width, int64_t height, const std::string& subject,
                    const ImageLimits& limits);

}  // namespace caffe2rt::internal
