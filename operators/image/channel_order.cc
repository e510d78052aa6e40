// Each vector of Y is put together from a few vectors of X by permutations of two registers. In
// nhwc, vectors of X may begin at any channel, and the last vector of Y overlaps the one before.

#include "operators/image/channel_order.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "caffe2_core/base/isa.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

using Step = ChannelOrder::Step;
using Target = ChannelOrder::Target;

// The planes as distances in floats.
struct Pixels {
  int64_t per_image, pixel_stride, image_stride;
};

// Pixels [first, last), counted over all images.
using OrderFunction = void(const std::vector<Target>& targets, const Step* steps,
                           const Pixels& pixels, int64_t first, int64_t last, const float* x,
                           float* y);

// One float at a time.
void OrderFloats(const std::vector<Target>& targets, const Step*, const Pixels& pixels,
                 int64_t first, int64_t last, const float* x, float* y) {
  for (; first < last; ++first) {
    const int64_t start = first / pixels.per_image * pixels.image_stride +
                          first % pixels.per_image * pixels.pixel_stride;
    for (const Target& target : targets) {
      float* const to = y + start + target.offset;
      for (int64_t i = 0; i < target.lanes; ++i) {
        const int64_t source = target.sources[static_cast<size_t>(i)];
        to[i] = source < 0 ? 0.0f : x[start + source];
      }
    }
  }
}

#if defined(__x86_64__)
constexpr int64_t kMostSteps = 8;  // whose lane numbers stay in registers

// One vector of `n` pixels in kSteps steps; any number of steps if kSteps is 0.
template <int kSteps>
CAFFE2RT_TARGET_AVX512 void OrderVector(const Target& target, const Step* steps,
                                        int64_t pixel_stride, int64_t n, const float* x, float* y) {
  steps += target.first;
  y += target.offset;
  __m512i lanes[kSteps > 0 ? kSteps : 1];
  const float* from[kSteps > 0 ? kSteps : 1];
  CAFFE2RT_UNROLL
  for (int s = 0; s < kSteps; ++s) {
    lanes[s] = _mm512_load_si512(steps[s].lanes.data());
    from[s] = x + steps[s].offset;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * pixel_stride;
    __m512 v = _mm512_setzero_ps();
    CAFFE2RT_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      v = _mm512_permutex2var_ps(v, lanes[s], _mm512_loadu_ps(from[s] + at));
    }
    for (int64_t s = 0; kSteps == 0 && s < target.last - target.first; ++s) {
      const __m512i numbers = _mm512_load_si512(steps[s].lanes.data());
      v = _mm512_permutex2var_ps(v, numbers, _mm512_loadu_ps(x + steps[s].offset + at));
    }
    _mm512_storeu_ps(y + at, v);
  }
}

// The same for vectors of 8.
template <int kSteps>
CAFFE2RT_TARGET_AVX2 void OrderVectorAvx2(const Target& target, const Step* steps,
                                          int64_t pixel_stride, int64_t n, const float* x,
                                          float* y) {
  steps += target.first;
  y += target.offset;
  const int64_t count = kSteps > 0 ? kSteps : target.last - target.first;
  const __m256i width = _mm256_set1_epi32(8);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * pixel_stride;
    __m256 v = _mm256_setzero_ps();
    CAFFE2RT_UNROLL
    for (int64_t s = 0; s < count; ++s) {
      const auto* numbers = reinterpret_cast<const __m256i*>(steps[s].lanes.data());
      const __m256i lanes = _mm256_sub_epi32(_mm256_load_si256(numbers), width);
      const __m256 moved =
          _mm256_permutevar8x32_ps(_mm256_loadu_ps(x + steps[s].offset + at), lanes);
      v = _mm256_blendv_ps(moved, v, _mm256_castsi256_ps(lanes));  // negative: keeps its value
    }
    _mm256_storeu_ps(y + at, v);
  }
}

using VectorFunction = void(const Target&, const Step*, int64_t, int64_t, const float*, float*);
using VectorFunctions = std::array<VectorFunction*, kMostSteps + 1>;  // by number of steps
constexpr VectorFunctions kOrderVector = {OrderVector<0>, OrderVector<1>, OrderVector<2>,
                                          OrderVector<3>, OrderVector<4>, OrderVector<5>,
                                          OrderVector<6>, OrderVector<7>, OrderVector<8>};
constexpr VectorFunctions kOrderVectorAvx2 = {
    OrderVectorAvx2<0>, OrderVectorAvx2<1>, OrderVectorAvx2<2>,
    OrderVectorAvx2<3>, OrderVectorAvx2<4>, OrderVectorAvx2<0>,
    OrderVectorAvx2<0>, OrderVectorAvx2<0>, OrderVectorAvx2<0>};

template <const VectorFunctions& kFunctions>
void OrderVectors(const std::vector<Target>& targets, const Step* steps, const Pixels& pixels,
                  int64_t first, int64_t last, const float* x, float* y) {
  // Blocks are far apart, so all pixels of a block come first; in nhwc all channels of some pixels.
  constexpr int64_t kPixelsAtOnce = 8;
  const bool blocked = pixels.pixel_stride == kChannelBlock;
  while (first < last) {
    const int64_t image = first / pixels.per_image, pixel = first % pixels.per_image;
    int64_t n = std::min(last - first, pixels.per_image - pixel);
    if (!blocked) n = std::min(n, kPixelsAtOnce);
    const int64_t start = image * pixels.image_stride + pixel * pixels.pixel_stride;
    for (const Target& target : targets) {
      const int64_t count = target.last - target.first;
      kFunctions[static_cast<size_t>(count <= kMostSteps ? count : 0)](
          target, steps, pixels.pixel_stride, n, x + start, y + start);
    }
    first += n;
  }
}
constexpr OrderFunction* kOrderAvx512 = OrderVectors<kOrderVector>;
constexpr OrderFunction* kOrderAvx2 = OrderVectors<kOrderVectorAvx2>;
#else
constexpr OrderFunction *kOrderAvx512 = OrderFloats, *kOrderAvx2 = OrderFloats;
#endif

}  // namespace

std::vector<Step> ChannelOrder::StepsFor(const std::array<int64_t, 16>& channels, int64_t used,
                                         bool aligned) const {
  std::vector<Step> steps;
  std::array<bool, 16> done = {};
  for (int64_t i = 0; i < used; ++i) {
    if (done[static_cast<size_t>(i)]) continue;
    // The vector that holds this channel, and as many others as possible.
    const int64_t c = channels[static_cast<size_t>(i)];
    int64_t begin = aligned ? c / width_ * width_ : c;
    if (!planes_.blocked) begin = std::min(begin, planes_.channels - width_);
    Step step{.offset = OffsetOf(begin)};
    for (int64_t k = 0; k < width_; ++k) {
      const size_t lane = static_cast<size_t>(k);
      const int64_t at = k < used ? channels[lane] - begin : -1;
      const bool here = !done[lane] && at >= 0 && at < width_;
      step.lanes[lane] = static_cast<int32_t>(here ? width_ + at : k);
      if (here) done[lane] = true;
    }
    steps.push_back(step);
  }
  return steps;
}

void ChannelOrder::AddTarget(int64_t channel, const std::function<int64_t(int64_t)>& source) {
  // In blocks, the padding of the last block is written too.
  const int64_t used = std::clamp<int64_t>(planes_.channels - channel, 0, width_);
  Target target{.offset = OffsetOf(channel),
                .first = static_cast<int64_t>(steps_.size()),
                .lanes = planes_.blocked ? width_ : used};
  std::array<int64_t, 16> channels = {};
  target.sources.fill(-1);
  for (int64_t i = 0; i < used; ++i) {
    channels[static_cast<size_t>(i)] = source(channel + i);
    target.sources[static_cast<size_t>(i)] = OffsetOf(channels[static_cast<size_t>(i)]);
  }
  // Vectors that begin at a multiple of 16 are loaded faster.
  std::vector<Step> steps = StepsFor(channels, used, true);
  if (!planes_.blocked) {
    std::vector<Step> other = StepsFor(channels, used, false);
    if (other.size() < steps.size()) steps = std::move(other);
  }
  steps_.insert(steps_.end(), steps.begin(), steps.end());
  target.last = static_cast<int64_t>(steps_.size());
  targets_.push_back(target);
}

void ChannelOrder::Plan(const ChannelPlanes& planes,
                        const std::function<int64_t(int64_t)>& source) {
  planes_ = planes;
  targets_.clear();
  steps_.clear();
  width_ = CpuIsa() == Isa::kAvx2 ? 8 : kChannelBlock;
  for (int64_t c = 0; c < planes.padded_channels(); c += width_) {
    const int64_t last = std::max<int64_t>(planes.channels - width_, 0);
    AddTarget(planes.blocked ? c : std::min(c, last), source);
  }
}

void ChannelOrder::Run(const float* x, float* y) const {
  if (planes_.size() == 0) return;
  const Pixels pixels{planes_.pixels(), planes_.lanes(), planes_.image_size()};
  const bool vectors = planes_.lanes() >= kChannelBlock;
  OrderFunction* const order =
      vectors ? PickByIsa<OrderFunction>(kOrderAvx512, kOrderAvx2, OrderFloats) : OrderFloats;
  ForEachRange(planes_.batch * planes_.pixels(), planes_.padded_channels(), 2,
               [&](int64_t first, int64_t last) {
                 order(targets_, steps_.data(), pixels, first, last, x, y);
               });
}

}  // namespace caffe2rt
