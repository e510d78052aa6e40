#pragma once
// The examples on which `caffe2 quantize` runs a net: images, arrays, and their labels.

#include <optional>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/images.h"
#include "binaries/commands/model.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

class QuantizeExamples {
 public:
  // From --calibrate, --image or --input; the inputs are fed to `ws`, which outlives the object. An array of
  // an .npz file holds one example in each row. THROWS UsageError if there are none.
  QuantizeExamples(const CommandLine& line, const Model& model, Workspace* ws);

  size_t count() const;
  // Feeds example `i`. Those of --input are one example, whatever their batch.
  void Feed(size_t i);
  // Such as `example "cat.jpg"`, for errors.
  std::string NameOf(size_t i) const;
  const std::vector<FedInput>& fed() const { return fed_; }
  const std::string& image_blob() const { return images_.blob; }

  // Of --labels, one for each row of an output. Empty if the option is not given. THROWS if a line is no class.
  std::vector<int64_t> Labels() const;

 private:
  void ReadArrays(const std::string& path, const Model& model);

  const CommandLine& line_;
  Workspace* const ws_;
  std::vector<FedInput> fed_;
  InputImages images_;
  NamedTensors arrays_;  // of the same number of rows
};

}  // namespace caffe2rt
