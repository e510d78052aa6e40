// Compiled for every architecture that packages have, as the build of packages compiles kernels: without options that CI sets to
// save time. Nothing calls it; CI fails if it gives a warning.
#include "operators/primitives/cub_algorithms.cuh"

namespace caffe2rt::test::cub_architectures {

cudaError_t Scan(void* memory, size_t* bytes, const int* in, int* out, int count,
                 cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(memory, *bytes, in, out, count, stream);
}

cudaError_t SortSegments(void* memory, size_t* bytes, const float* in, float* out,
                         const int* values, int* sorted, int count, int segments,
                         const int* offsets, cudaStream_t stream) {
  return cub::DeviceSegmentedRadixSort::SortPairsDescending(memory, *bytes, in, out, values, sorted,
                                                            count, segments, offsets, offsets + 1,
                                                            0, 32, stream);
}

}  // namespace caffe2rt::test::cub_architectures
