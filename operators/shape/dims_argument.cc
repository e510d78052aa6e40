#include "operators/shape/dims_argument.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

std::vector<int> ReadDimsArgument(const ArgumentHelper& args) {
  std::vector<int> dims = args.GetRepeatedArgument<int>("dims");
  CAFFE_ENFORCE(!dims.empty(), "argument dims is missing, want a list of dimensions");
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  CAFFE_ENFORCE_GE(dims.front(), 0, "element of argument dims, want at least 0");
  return dims;
}

}  // namespace caffe2rt
