#include "tests/oracle/device_differences.h"

namespace caffe2rt::test {
namespace {

struct Difference {
  DeviceType device;
  const char* engine;  // only with this engine; empty: with every engine
  const char* id;
  const char* reason;
};

constexpr const char* kCancels =
    "all digits cancel: the record is the rounding error of the CPU's sums";
constexpr const char* kMaximumOfNaN =
    "cuDNN, which is not the default, ignores NaN in a maximum, and so in its gradient";

constexpr Difference kDifferences[] = {
    {CUDA, "", "InstanceNormGradient-24eb46dfb4e6", kCancels},
    {CUDA, "", "InstanceNormGradient-38baf1625ff4", kCancels},
    {CUDA, "CUDNN", "MaxPool-b0d4cfb7c5a9", kMaximumOfNaN},
    {CUDA, "CUDNN", "MaxPool2D-90d13c4a806c", kMaximumOfNaN},
    {CUDA, "CUDNN", "MaxPool2DGradient-6e12240aeda9", kMaximumOfNaN},
};

}  // namespace

Reasons DifferencesOn(const ReplayTarget& target) {
  Reasons reasons;
  for (const Difference& row : kDifferences) {
    const bool any_engine = *row.engine == '\0';
    if (row.device == target.device && (any_engine || row.engine == target.engine))
      reasons[row.id] = row.reason;
  }
  return reasons;
}

}  // namespace caffe2rt::test
