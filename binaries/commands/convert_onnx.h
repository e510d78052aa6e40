#pragma once
// The part of `convert` that writes ONNX models.

#include <string>

#include "binaries/command_line.h"

namespace caffe2rt {

inline constexpr Option kOpsetOption = {"opset", "N", "17",
                                        "version of ONNX's operators, for --to onnx"};

// Writes the net in file `path`, with its weights (--init-net, --weights), to --output. THROWS
// UsageError if options are missing, and EnforceNotMet if the net has no ONNX form.
void ConvertToOnnx(const CommandLine& line, const std::string& path);

}  // namespace caffe2rt
