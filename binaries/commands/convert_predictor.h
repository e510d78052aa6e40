#pragma once
// The part of `caffe2 convert` that writes the nets of a packed model and of a predictor's database.

#include <string>

#include "binaries/command_line.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {

// Whether the file is a packed model or a database with a predictor, and the options state no format of
// tensors.
bool ConvertsStoredModel(const CommandLine& line, const std::string& path, FileKind kind);

// Writes init_net.pb, with the parameters, and predict_net.pb into the folder of --output, or text
// with --to text. THROWS for a parameter of an element type that no init net can fill.
void ConvertStoredModel(const CommandLine& line, const std::string& path, FileKind kind);

}  // namespace caffe2rt
