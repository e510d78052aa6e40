#include "tests/benchmarks/fma_peak.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt::test {
namespace {

constexpr int kChains = 12;  // more than latency times throughput, so that no chain is waited for

// Independent chains of multiply-adds in vectors of type V. Writes a sum that depends on all.
template <class V>
struct FmaLoop {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t iterations, float* sink) const {
    const V factor = V{} + 0.9999f, addend = V{} + 1e-4f;
    // Different values, so that the compiler does not merge the chains.
    V a = V{} + 1, b = V{} + 2, c = V{} + 3, d = V{} + 4, e = V{} + 5, f = V{} + 6;
    V g = V{} + 7, h = V{} + 8, i = V{} + 9, j = V{} + 10, k = V{} + 11, l = V{} + 12;
    for (int64_t n = 0; n < iterations; ++n) {
      a = a * factor + addend;
      b = b * factor + addend;
      c = c * factor + addend;
      d = d * factor + addend;
      e = e * factor + addend;
      f = f * factor + addend;
      g = g * factor + addend;
      h = h * factor + addend;
      i = i * factor + addend;
      j = j * factor + addend;
      k = k * factor + addend;
      l = l * factor + addend;
    }
    const V sum = a + b + c + d + e + f + g + h + i + j + k + l;
    *sink = sum[0];
  }
};

// Returns the number of floating-point operations.
double RunChains(int64_t iterations, float* sink) {
  int lanes = 4;
  switch (CpuIsa()) {
    case Isa::kAvx512:
      lanes = math::kLanes;
      RunSimd(FmaLoop<math::Lanes>{}, iterations, sink);
      break;
    case Isa::kAvx2:
      lanes = 8;
      RunSimd(FmaLoop<math::EightLanes>{}, iterations, sink);
      break;
    case Isa::kPlain:
      RunSimd(FmaLoop<math::FourLanes>{}, iterations, sink);
      break;
  }
  return 2.0 * kChains * lanes * static_cast<double>(iterations);
}

}  // namespace

double FmaPeakGflops() {
  constexpr int64_t kIterations = 3'000'000;  // about 5 ms
  constexpr int kMeasurements = 20;
  const int threads = GetNumThreads();
  double best = 0;
  for (int n = 0; n < kMeasurements; ++n) {
    std::vector<float> sinks(static_cast<size_t>(threads) * 64);
    std::vector<double> operations(static_cast<size_t>(threads));
    const Timer timer;
    ParallelFor(threads, [&](int piece) {
      const auto index = static_cast<size_t>(piece);
      operations[index] = RunChains(kIterations, &sinks[index * 64]);
    });
    const double nanoseconds = timer.NanoSeconds();
    double sum = 0;
    for (const double value : operations) sum += value;
    best = std::max(best, sum / nanoseconds);
  }
  return best;
}

}  // namespace caffe2rt::test
