#pragma once
// Reads the list of calls with recorded outputs (CASES.tsv), and compares outputs with their
// records.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

// One row: the nets, and the inputs and outputs with their .npy files.
struct GoldenCase {
  struct Output {
    std::string blob;
    std::string crop;  // the recorded part of the blob, as "...,200:280,200:280"; empty: all of it
    std::string file;
  };
  std::string folder;  // of the model
  std::string init;
  std::string predict;
  std::map<std::string, std::string> inputs;  // blob to file
  std::vector<Output> outputs;
  double tolerance = 0;  // relative to the largest value

  // A name for tests, such as "c2_mtcnn_12predict_net".
  std::string Name() const;
};
std::ostream& operator<<(std::ostream& out, const GoldenCase& golden);

// The rows of SharedPath("models/CASES.tsv"); none if the file does not exist. THROWS if it cannot
// be parsed.
std::vector<GoldenCase> ReadGoldenCases();

// Reads a net as `caffe2 run` does: binary or text. A missing name becomes the stem of the file
// name, a missing device the CPU.
NetDef LoadNetForCPU(const std::string& path);

// The part of a tensor that `crop` names. THROWS if it is out of range.
Tensor Crop(const Tensor& tensor, const std::string& crop);

// The largest absolute difference divided by the largest absolute value of `want`; 1e30 if shapes
// or types differ.
double RelativeError(const Tensor& got, const Tensor& want);

}  // namespace caffe2rt::test
