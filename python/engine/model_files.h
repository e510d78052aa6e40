#pragma once
// The files of a model, as Python names them: what to load, and how to write it as a model of ONNX.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/model/model_file.h"

namespace caffe2rt {

// What load() was given.
struct LoadOptions {
  std::optional<std::string> weights, device, db_type;
  std::string root = ".";
  std::optional<uint32_t> seed;
  std::map<std::string, std::vector<int64_t>> input_shapes;
  std::map<std::string, int64_t> dims;  // numbers for the symbols of a model of ONNX
  bool opset_tolerant = false;
};

// `files`: init nets and a predict net, or a model in one file. THROWS if there is none.
ModelFileOptions FilesOf(const std::vector<std::string>& files, const LoadOptions& options);

// Loads the model on the CPU and writes it to `output`; returns the files that were written.
std::vector<std::string> WriteModelAsOnnx(const std::string& output, const ModelFileOptions& files,
                                          int opset);

}  // namespace caffe2rt
