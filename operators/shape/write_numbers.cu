#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/shape/write_numbers_kernels.h"

namespace caffe2rt {

namespace {

constexpr int64_t kNumbers = 64;  // for each kernel launch

struct Write {
  int64_t* out;
  int64_t numbers[kNumbers];
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { out[i] = numbers[i]; }
};

}  // namespace

void WriteNumbers(CUDAContext& context, std::span<const int64_t> numbers, int64_t* out) {
  const int64_t size = static_cast<int64_t>(numbers.size());
  for (int64_t first = 0; first < size; first += kNumbers) {
    Write write{.out = out + first, .numbers = {}};
    const int64_t count = std::min(kNumbers, size - first);
    std::copy_n(numbers.begin() + first, count, write.numbers);
    ForEach(context, count, write, "WriteNumbers");
  }
}

}  // namespace caffe2rt
