// For builds without HDF5.
#include "tests/caffe2_core/import/caffe/hdf5_file.h"

namespace caffe2rt::test {

bool HasHdf5() { return false; }
void WriteHdf5Weights(const std::string&, const std::map<std::string, std::map<int, Hdf5Blob>>&,
                      bool) {}

}  // namespace caffe2rt::test
