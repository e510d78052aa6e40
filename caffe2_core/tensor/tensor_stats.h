#pragma once
// TensorStats: the range and the mean of a tensor, and its NaNs and infinities.
//
//   const std::optional<TensorStats> stats = StatsOf(*ws.FindBlob("prob"));
//   if (stats.has_value() && stats->nan > 0) ...

#include <cstdint>
#include <optional>

#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct TensorStats {
  int64_t count = 0;     // elements
  int64_t nan = 0;       // elements that are NaN
  int64_t infinite = 0;  // elements that are infinite, of either sign
  // Index of the first element that is NaN or infinite, in row-major order; -1 if there is none.
  int64_t first_non_finite = -1;
  // Of the elements that are not NaN. NaN if there are none, and the mean also if there are
  // infinities of both signs.
  double min = 0, max = 0, mean = 0;

  bool finite() const { return nan == 0 && infinite == 0; }
};

// The statistics of a tensor on any device. No value if its elements are not numbers, or if it has
// no shape or no data. Cost: one pass, and a copy if the tensor is not on the CPU.
std::optional<TensorStats> StatsOf(const Tensor& tensor);
// The same for the tensor in a blob. Of a quantized tensor, min, max and mean are of the numbers
// that the elements stand for. No value if the blob contains no tensor.
std::optional<TensorStats> StatsOf(const Blob& blob);

// Whether any element of the blob's tensor is NaN, and whether any is infinite.
struct NonFinite {
  bool nan = false;
  bool infinite = false;
};
NonFinite NonFiniteIn(const Blob& blob);

// Returns the tensor itself if it is on the CPU, else a copy on the CPU.
Tensor TensorOnCpu(const Tensor& tensor);

}  // namespace caffe2rt
#pragma GCC visibility pop
