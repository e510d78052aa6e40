#pragma once
// Constants of CUDA devices.

namespace caffe2 {
constexpr int kWarpSize = 32;
}  // namespace caffe2
