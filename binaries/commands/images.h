#pragma once
// The images given to `run` and `bench`: finds, reads, transforms and feeds them.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// The images given by --image, in order, and the blob that they are fed to. Empty if the option is
// not given.
struct Pictures {
  std::string blob;
  std::vector<std::string> files;
  bool from_folder = false;
};
// THROWS if no operator reads the blob, and UsageError if it is one of the inputs that were `fed`.
Pictures FindPictures(const CommandLine& line, const Model& model,
                      const std::vector<FedInput>& fed);
// Reads, transforms and feeds one image.
FedInput FeedPicture(const CommandLine& line, const Pictures& pictures, const std::string& file,
                     Workspace* ws);

// Reads and transforms an image as the options say. Sets `source` to a description of it.
Tensor ReadPicture(const CommandLine& line, const std::string& file, std::string* source);

}  // namespace caffe2rt
