#pragma once
// Nets of Caffe as arguments of commands.

#include <map>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/file_argument.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

bool IsCaffeNet(FileKind kind);

// The net that a command runs: --predict-net, or else the first of its arguments; or "".
std::string PredictNetOf(const CommandLine& line);

// THROWS UsageError if a command that runs one net has other arguments.
void CheckNetArgument(const CommandLine& line);

// What CaffeOptions say, and the shapes of inputs that --input gives. THROWS UsageError.
CaffeImportOptions CaffeImportOptionsOf(const CommandLine& line);

// The init net with its weights and the predict net. Prints notes about what was left out.
NetsOfFile LoadCaffeNets(const CommandLine& line, const std::string& path);

// Writes init_net.pb and predict_net.pb into the folder of --output, or text with --to text.
void ConvertCaffeNet(const CommandLine& line, const std::string& path);

// Prints the notes of an import to stderr.
void PrintNotes(const std::vector<std::string>& notes);

// The names with those of layers of Caffe replaced by the blobs that the layers write. Names of blobs
// have precedence.
std::vector<std::string> BlobsOfLayers(const std::vector<std::string>& names, const Model& model);

// THROWS if an input has another shape than the one for which a net of Caffe was imported, and a
// layer depends on it.
void CheckImportedShapes(const Model& model, const Workspace& ws);

}  // namespace caffe2rt
