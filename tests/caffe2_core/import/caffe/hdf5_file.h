#pragma once
// Writes weights of Caffe as HDF5, in the layout of its solver: /data/LAYER/INDEX, and an empty /diff.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct Hdf5Blob {
  std::vector<uint64_t> dims;
  std::vector<float> values;
};

// Whether this build has HDF5: without it, the next function does nothing.
bool HasHdf5();
// Datasets of floats or doubles, by layer and index.
void WriteHdf5Weights(const std::string& path,
                      const std::map<std::string, std::map<int, Hdf5Blob>>& layers,
                      bool doubles = false);

}  // namespace caffe2rt::test
