#pragma once
// What the bytes of a message are, binary or text. Parts of file_kind.h; nothing else needs them.

#include <string_view>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/wire_format.h"

namespace caffe2rt {

// By the descriptors of our messages, then by what ONNX's and Caffe's messages look like.
FileKindResult DetectBinaryKind(const WireMessage& message);

// By the names of the fields at the top level alone, so that a file with a mistake further down can
// be called by its kind in the message about the mistake.
FileKindResult DetectTextKind(std::string_view text);

}  // namespace caffe2rt
