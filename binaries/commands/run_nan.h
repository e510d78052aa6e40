#pragma once
// The warning of `caffe2 run` about outputs with NaN. It names the blob and the operator that made
// the first one, which a second run finds.

#include <map>
#include <set>
#include <string>

#include "binaries/command_line.h"
#include "binaries/commands/images.h"
#include "binaries/commands/model.h"
#include "binaries/json_output.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class NaNWarning {
 public:
  explicit NaNWarning(const CommandLine& line) : line_(line) {}

  // Call once: the net that will run, the blobs that are fed, and the files of a folder, if any.
  void SetNet(const NetDef& net, const std::set<std::string>& fed, const InputImages& images);
  // Call before the first run: copies the inputs that the net overwrites.
  void KeepInputs(const Workspace& ws);
  // Call once for each output of each run. If it is the first one with a NaN, keeps the inputs in
  // `ws`, or, if `file` is not empty, the name of the file that was fed.
  void Look(const std::string& output, const Blob& blob, const std::string& file,
            const Workspace& ws);
  // Runs the model again if an output had a NaN, prints the warning, and adds it to `json` under
  // "nan". The workspaces of the first run may have been destroyed.
  void Report(Json* json) const;

 private:
  // Runs the model again. Returns a part of the warning.
  std::string FindOrigin(Json* json) const;

  const CommandLine& line_;
  std::set<std::string> fed_, overwritten_;
  std::map<std::string, Tensor> inputs_;  // what the second run is fed
  InputImages images_;
  std::string output_;           // the first one with a NaN; empty: none
  std::string file_;             // of its run, if it is one of a folder
  int64_t others_ = 0;           // later outputs with a NaN
  int64_t nan_ = 0, count_ = 0;  // its elements
};

}  // namespace caffe2rt
