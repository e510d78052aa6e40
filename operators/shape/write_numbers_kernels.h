#pragma once
// Numbers that an operator knows when it starts, as an output: those of Shape and Size.

#include <algorithm>
#include <cstdint>
#include <span>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

inline void WriteNumbers(CPUContext&, std::span<const int64_t> numbers, int64_t* out) {
  std::copy(numbers.begin(), numbers.end(), out);
}
// They travel as arguments of a kernel: nothing on the host is read later.
void WriteNumbers(CUDAContext& context, std::span<const int64_t> numbers, int64_t* out);

}  // namespace caffe2rt
