#pragma once
// Writes numbers that the host knows to an output, for Shape and Size.

#include <algorithm>
#include <cstdint>
#include <span>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

inline void WriteNumbers(CPUContext&, std::span<const int64_t> numbers, int64_t* out) {
  std::copy(numbers.begin(), numbers.end(), out);
}
// The numbers are passed as kernel arguments, so that no host memory is read after the call.
void WriteNumbers(CUDAContext& context, std::span<const int64_t> numbers, int64_t* out);

}  // namespace caffe2rt
