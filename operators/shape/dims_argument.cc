#include "operators/shape/dims_argument.h"

#include <algorithm>

namespace caffe2rt {

std::vector<int> ReadDimsArgument(const ArgumentHelper& args) {
  std::vector<int> dims = args.Read(kUnitDims);
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  return dims;
}

}  // namespace caffe2rt
