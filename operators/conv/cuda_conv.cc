#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

// Argument force_algo lists cuDNN's numbers of the algorithms: forward, filter gradient, data
// gradient. A transposed convolution is the data gradient of a convolution.
int ForcedAlgorithm(const ArgumentHelper& args, bool transposed) {
  const std::vector<int> list = args.GetRepeatedArgument<int>("force_algo");
  if (list.empty()) {
    return args.GetSingleArgument<int>(transposed ? "force_algo_dgrad" : "force_algo_fwd", -1);
  }
  CAFFE_ENFORCE_EQ(list.size(), 3u,
                   "argument force_algo, want three numbers: forward, filter gradient, data "
                   "gradient");
  return list[transposed ? 2 : 0];
}

}  // namespace

CudnnConvOptions CudnnConvOptions::Read(const ArgumentHelper& args, bool transposed) {
  CudnnConvOptions options;
  const int64_t limit = args.GetSingleArgument<int64_t>(
      "ws_nbytes_limit", static_cast<int64_t>(options.workspace_limit_bytes));
  CAFFE_ENFORCE_GE(limit, 0, "argument ws_nbytes_limit, want 0 or more bytes");
  options.workspace_limit_bytes = static_cast<size_t>(limit);
  options.exhaustive_search = args.GetSingleArgument<int>("exhaustive_search", 0) != 0;
  options.deterministic = args.GetSingleArgument<int>("deterministic", 0) != 0;
  options.algorithm = ForcedAlgorithm(args, transposed);
  return options;
}

}  // namespace caffe2rt
