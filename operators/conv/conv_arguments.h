#pragma once
// The arguments of Conv, ConvTranspose and their gradients other than the window arguments: cuDNN
// options, and hints that Caffe2's operators accept; the cost and the memory of Conv.

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int64_t> kConvWorkspaceLimit{
    "ws_nbytes_limit",
    -1,
    "cuDNN: maximum size of the workspace in bytes; -1: a sixteenth of the device's memory, at "
    "least 64 MiB",
    {[](int64_t nbytes) { return nbytes >= -1; }, "-1 or more bytes"}};
inline constexpr ArgumentSpec<int> kConvExhaustiveSearch{
    "exhaustive_search", 0, "cuDNN: 1: time all algorithms in the first run and use the fastest"};
inline constexpr RepeatedArgumentSpec<int> kConvForceAlgo{
    "force_algo",
    "cuDNN: numbers of the algorithms to use: forward, filter gradient, data gradient",
    {[](const std::vector<int>& algorithms) {
       return algorithms.empty() || algorithms.size() == 3;
     },
     "three numbers: forward, filter gradient, data gradient"}};
inline constexpr ArgumentSpec<int> kConvForceAlgoForward{
    "force_algo_fwd", -1,
    "cuDNN: number of the algorithm for Conv and for the gradient of ConvTranspose's X, -1: any; "
    "used if force_algo is not set"};
inline constexpr ArgumentSpec<int> kConvForceAlgoDataGradient{
    "force_algo_dgrad", -1,
    "cuDNN: number of the algorithm for ConvTranspose and for the gradient of Conv's X, -1: any; "
    "used if force_algo is not set"};
inline constexpr ArgumentSpec<int> kConvForceAlgoFilterGradient{
    "force_algo_wgrad", -1,
    "cuDNN: number of the algorithm for the gradient of the filter, -1: any; used if force_algo is "
    "not set"};

inline constexpr ArgumentSpec<bool> kConvNoGradientToInput{
    "no_gradient_to_input", false,
    "1: X has no gradient; the gradient operator does not compute dX"};

// Accepted for compatibility; ignored.
inline constexpr const char* kConvUnusedDoc = "has no effect; accepted for compatibility";
inline constexpr ArgumentSpec<int> kConvTransposeNoBias{"no_bias", 0, kConvUnusedDoc};
inline constexpr ArgumentSpec<int> kConvCudnnState{"cudnn_state", 0, kConvUnusedDoc};
inline constexpr ArgumentSpec<bool> kConvEnableTensorCore{"enable_tensor_core", true,
                                                          kConvUnusedDoc};
inline constexpr ArgumentSpec<std::string> kConvAlgo{"algo", "AUTO", kConvUnusedDoc};
inline constexpr ArgumentSpec<std::string> kConvKernelTransform{"kts", "TUPLE", kConvUnusedDoc};
inline constexpr ArgumentSpec<std::string> kConvTransformStrategy{"convolution_transform_strategy",
                                                                  "COMPUTE", kConvUnusedDoc};

inline void DeclareConvArguments(OpSchema& schema) {
  schema
      .Args(kConvWorkspaceLimit, kConvExhaustiveSearch, kConvForceAlgo, kConvForceAlgoForward,
            kConvForceAlgoDataGradient, kConvForceAlgoFilterGradient, kConvNoGradientToInput)
      .Args(kConvCudnnState, kConvEnableTensorCore, kConvAlgo, kConvKernelTransform,
            kConvTransformStrategy);
}

// The cost inference of Conv.
OpSchema::Cost ConvCost(const OperatorDef& def, const std::vector<TensorShape>& in);

// The memory of Conv besides its inputs and outputs. `in` are X, filter and an optional bias.
MemoryTraits::Extra ConvExtraMemory(const OperatorDef& def, const std::vector<TensorShape>& in,
                                    const std::vector<TensorShape>& out);

}  // namespace caffe2rt
