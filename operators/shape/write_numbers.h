#pragma once
// Numbers that an operator knows when it starts, as an output: those of Shape and Size.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

inline void WriteNumbers(CPUContext&, IntArrayRef numbers, int64_t* out) {
  std::copy(numbers.begin(), numbers.end(), out);
}
// They travel as arguments of a kernel: nothing of the host is read later.
void WriteNumbers(CUDAContext& context, IntArrayRef numbers, int64_t* out);

}  // namespace caffe2rt
