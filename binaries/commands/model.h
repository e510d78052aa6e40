#pragma once
// What `run` and `bench` share: a model from files, fed and ready to run in a workspace.

#include <memory>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/runtime/model_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// Prints "caffe2: warning: ..." to stderr.
void Warn(const std::string& text);

// The model that ModelOptions name; its warnings are printed. THROWS UsageError when they name
// none, and what the files say.
Model LoadModel(const CommandLine& line);

// The workspace of --root with the init nets run, which are released. Nets open files as
// file_policy.h says.
std::unique_ptr<Workspace> MakeWorkspace(const CommandLine& line, Model* model);

// A tensor that was fed, and where it came from in words.
struct FedInput {
  std::string blob;
  std::string source;
};

// Feeds what --input says. THROWS UsageError for what is neither a file nor a shape.
std::vector<FedInput> FeedInputs(const CommandLine& line, const Model& model, Workspace* ws);

// The pictures of --image, in order, and the blob they go to; none when the option is not given.
struct Pictures {
  std::string blob;
  std::vector<std::string> files;
  bool from_folder = false;
};
Pictures FindPictures(const CommandLine& line, const Model& model);
// Reads, transforms and feeds one picture.
FedInput FeedPicture(const CommandLine& line, const Pictures& pictures, const std::string& file,
                     Workspace* ws);

// THROWS when an operator of the net reads a blob that is not there, naming all of them.
void CheckInputsAreThere(const Model& model, const Workspace& ws);

// "float [1, 3, 224, 224]", or what a blob is that holds no tensor.
std::string BlobText(const Blob& blob);

// The first ten names of a file for an error, in quotes and shortened, and how many more there are.
std::string FirstNames(const std::vector<std::string>& names);

}  // namespace caffe2rt
