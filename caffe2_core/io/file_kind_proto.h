#pragma once
// Detects the kind of a protobuf message, binary or text. Used only to implement file_kind.h.

#include <string_view>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/wire_format.h"

namespace caffe2rt {

// Compares the message with the descriptors of Caffe2's messages first, then with the typical
// fields of ONNX's and Caffe's messages.
FileKindResult DetectBinaryKind(const WireMessage& message);

// Uses only the names of the top-level fields, so that the error message for a syntax error further
// down can still name the kind of the file.
FileKindResult DetectTextKind(std::string_view text);

}  // namespace caffe2rt
