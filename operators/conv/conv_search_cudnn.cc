#include "operators/conv/conv_search_cudnn.h"

namespace caffe2rt {

ConvKey MakeConvKey(const CUDAContext& context, ConvDirection direction,
                    const CudnnConvOptions& options, const CudnnConvSizes& sizes) {
  ConvKey key = {context.device_id(),
                 static_cast<int64_t>(direction),
                 CudnnFormat(sizes.order),
                 context.allow_tf32(),
                 options.deterministic,
                 static_cast<int64_t>(WorkspaceLimit(context, options)),
                 sizes.batch,
                 sizes.channels,
                 sizes.out_channels,
                 sizes.group,
                 sizes.window.axes};
  const CudnnWindow& window = sizes.window;
  for (const auto& of_axes :
       {window.in, window.out, window.kernel, window.stride, window.dilation, window.pad}) {
    key.insert(key.end(), of_axes.begin(), of_axes.end());
  }
  return key;
}

size_t WorkspaceLimit(const CUDAContext& context, const CudnnConvOptions& options) {
  if (options.workspace_limit_bytes.has_value()) return *options.workspace_limit_bytes;
  return DefaultWorkspaceLimit(GetDeviceProperty(context.device_id()).totalGlobalMem);
}

}  // namespace caffe2rt
