#pragma once
// Models of Caffe and ONNX as arguments of commands.

#include <map>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/file_argument.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

bool IsImportedNet(FileKind kind);

// Whether the file is a model of ONNX, by its content or, if that is damaged, by its name.
bool IsOnnxModelFile(const std::string& path);
// Whether the file is one with a TensorProto of ONNX, for an input of a model of ONNX: a .pb file.
bool IsOnnxTensorFile(const std::string& path);

// The net that a command runs: --predict-net, or else the first of its arguments; or "".
std::string PredictNetOf(const CommandLine& line);

// THROWS UsageError if a command that runs one net has other arguments.
void CheckNetArgument(const CommandLine& line);

// What ImportOptions say, and the shapes of inputs that --input gives. THROWS UsageError.
CaffeImportOptions CaffeImportOptionsOf(const CommandLine& line);
// The same for a model of ONNX.
OnnxImportOptions OnnxImportOptionsOf(const CommandLine& line);

// The init net with its weights and the predict net. Prints notes about what was left out.
NetsOfFile LoadImportedNets(const CommandLine& line, const std::string& path, FileKind kind);

// Writes init_net.pb and predict_net.pb into the folder of --output, or text with --to text.
void WriteFolderOfNets(const CommandLine& line, const NetDef& init, const NetDef& predict);
void ConvertImportedNet(const CommandLine& line, const std::string& path, FileKind kind);

// Prints the notes of an import to stderr.
void PrintNotes(const std::vector<std::string>& notes);

// The names with those of layers of Caffe, and of nodes of ONNX, replaced by the blobs that they write. Names of blobs
// have precedence.
std::vector<std::string> BlobsOfLayers(const std::vector<std::string>& names, const Model& model);

// THROWS if an input has another shape than the one for which a model was imported, and a layer or
// node depends on it.
void CheckImportedShapes(const Model& model, const Workspace& ws);

}  // namespace caffe2rt
