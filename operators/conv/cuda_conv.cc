#include "operators/conv/cuda_conv.h"

#include "operators/common/window_arguments.h"

namespace caffe2rt {

namespace {

// Returns cuDNN's number of the requested algorithm, or -1. A transposed convolution is the data
// gradient of a convolution.
int ForcedAlgorithm(const ArgumentHelper& args, ConvDirection direction) {
  const std::vector<int> list = args.Read(kConvForceAlgo);
  if (!list.empty()) return list[static_cast<size_t>(direction)];
  switch (direction) {
    case ConvDirection::kFilterGradient:
      return args.Read(kConvForceAlgoFilterGradient);
    case ConvDirection::kDataGradient:
      return args.Read(kConvForceAlgoDataGradient);
    default:
      return args.Read(kConvForceAlgoForward);
  }
}

}  // namespace

CudnnConvOptions CudnnConvOptions::Read(const ArgumentHelper& args, ConvDirection direction) {
  CudnnConvOptions options;
  const int64_t limit = args.Read(kConvWorkspaceLimit);
  if (limit >= 0) options.workspace_limit_bytes = static_cast<size_t>(limit);
  options.exhaustive_search = args.Read(kConvExhaustiveSearch) != 0;
  options.deterministic = args.Read(kDeterministic) != 0;
  options.algorithm = ForcedAlgorithm(args, direction);
  return options;
}

}  // namespace caffe2rt
