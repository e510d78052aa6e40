#pragma once
// The part of `caffe2 convert` that converts files of tensors and databases.

#include <string>

#include "binaries/command_line.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {

// Whether the name of a file states a format of tensors: "weights.npz", "weights.pb".
bool NamesTensorFormat(const std::string& path);

// Whether the options ask for a conversion of tensors, and not of a proto between text and binary:
// the form that --to or the name of the --output file states is one of tensors, or the file is one
// that is not a proto.
bool ConvertsTensors(const CommandLine& line, FileKind kind);

// Converts the file according to the options; a folder of .npy files has the kind kUnknown. THROWS
// UsageError if they do not state the form of the output, or no --output.
void ConvertTensors(const CommandLine& line, const std::string& path, FileKind kind);

}  // namespace caffe2rt
