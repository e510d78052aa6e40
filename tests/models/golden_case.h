#pragma once
// The list of calls with recorded outputs (CASES.tsv), and how near an output comes to its record.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

// One row: nets, inputs and outputs with the .npy files that hold them.
struct GoldenCase {
  struct Output {
    std::string blob;
    std::string crop;  // "...,200:280,200:280": that part of the blob alone; empty: all of it
    std::string file;
  };
  std::string folder;  // of the model
  std::string init;
  std::string predict;
  std::map<std::string, std::string> inputs;  // blob to file
  std::vector<Output> outputs;
  double tolerance = 0;  // relative to the largest value

  // "c2_mtcnn_12predict_net": for test names.
  std::string Name() const;
};
std::ostream& operator<<(std::ostream& out, const GoldenCase& golden);

// The rows of SharedPath("models/CASES.tsv"); none when it is not there. THROWS when it cannot be
// understood.
std::vector<GoldenCase> ReadGoldenCases();

// A net as `caffe2 run` takes it: binary or text, its file's stem for a missing name, the CPU for a
// missing device.
NetDef LoadNetForCPU(const std::string& path);

// The part of a tensor that `crop` names. THROWS for what is not there.
Tensor Crop(const Tensor& tensor, const std::string& crop);

// The largest difference over the largest value of `want`, as in NumPy; 1e30 when shapes or types
// differ.
double RelativeError(const Tensor& got, const Tensor& want);

}  // namespace caffe2rt::test
