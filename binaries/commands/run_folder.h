#pragma once
// `caffe2 run` on a folder of images and arrays.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "binaries/commands/folder_results.h"
#include "binaries/commands/images.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// What the run of a folder needs from the command.
struct FolderRun {
  const CommandLine& line;
  const InputImages& images;
  const std::string& net;  // its name
  const std::vector<std::string>& outputs;
  Workspace* ws;
  // Creates the net. Called once, after the input for the images was set.
  std::function<void()> prepare;
  // Runs the net on the images, which are the inputs for `files` files.
  std::function<void(int64_t files)> run_net;
  FetchBlob fetch;  // from the workspace
  // Whether a signal asks for the end.
  std::function<bool()> interrupted;
};

// Runs the net on all files and adds the outputs to `results`, in the order of the files. Files are
// read ahead on other threads. With --batch N, up to N inputs of one shape run together; they need
// not be neighbours. A file that cannot be read, or on which the net fails, is reported.
//
// The first file runs alone. The files then run one by one as well, with a warning, if an output
// does not have the inputs as its first dimension, if the net fails on a batch, or if the first
// file gets other results in a batch than alone.
//
// After a signal, the files that wait and those that have not been read are left out.
//
// Returns the number of files that failed.
int64_t RunFolder(const FolderRun& run, FolderResults* results);

}  // namespace caffe2rt
