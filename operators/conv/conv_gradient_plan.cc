#include "operators/conv/conv_gradient_plan.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

// Below this number of multiply-adds, the fixed cost of oneDNN exceeds the work.
constexpr double kWorthOnednn = 2e5;
// Below this number, a second thread costs more than it saves.
constexpr double kGradientWorthCutting = 1e6;
// A piece has at least this many, so that adding up the pieces costs little.
constexpr double kPieceWork = 1.6e7;
constexpr int64_t kMaxPieces = 16;
// oneDNN fills the input channels of a group up to a whole vector. With fewer channels than this,
// GEMM is faster for the gradient of X.
constexpr int64_t kFewChannels = 8;

// oneDNN fills the channels of X and Y up to whole vectors, at which it does this many times the work
// of GEMM.
constexpr double kMostFilling = 1.6;

// Winograd's algorithm computes whole tiles of 4 x 4 results. It has a quarter of the multiplications,
// but transforms the tiles: up to this many times the results, it is faster than oneDNN.
constexpr double kMostTileFilling = 1.6;

using AlgorithmList = std::vector<ConvGradientAlgorithm>;

// The work of oneDNN as a multiple of that of GEMM. oneDNN has kernels for many groups of one channel,
// and for the gradient of the filter of a few channels.
double Filling(const ConvShape& shape) {
  if (shape.group > 1 || shape.in_group() < kFewChannels) return 1;
  const auto filled = [](int64_t channels) {
    return static_cast<double>((channels + kLanes - 1) / kLanes * kLanes) /
           static_cast<double>(channels);
  };
  return filled(shape.window.channels) * filled(shape.out_channels);
}

// Whether Winograd's algorithm is the fastest one if it supports the shape.
bool SuitsWinograd(const ConvShape& shape) {
  if (shape.window.axes != 2 || shape.MultiplyAdds() < kWorthOnednn) return false;
  const auto tiles = [](const WindowAxis& axis) { return (axis.out + 3) / 4 * 4; };
  return static_cast<double>(tiles(shape.window.axis[0]) * tiles(shape.window.axis[1])) <=
         kMostTileFilling * static_cast<double>(shape.window.out_size());
}

// The best algorithm with columns; it supports the shape.
ConvGradientAlgorithm ByColumns(const ConvShape& shape) {
  const bool turned = !shape.channels_last() && shape.in_group() >= kFewChannels &&
                      shape.window.kernel_size() > 1 && shape.MultiplyAdds() >= kWorthOnednn;
  return turned ? ConvGradientAlgorithm::kTurned : ConvGradientAlgorithm::kIm2Col;
}

// Best first. The last algorithm supports the shape.
AlgorithmList FilterAlgorithms(const ConvShape& shape) {
  if (shape.IsPointwise()) return {ConvGradientAlgorithm::kGemm};
  if (shape.MultiplyAdds() < kWorthOnednn || Filling(shape) > kMostFilling) {
    return {ByColumns(shape)};
  }
  if (SuitsWinograd(shape)) {
    return {ConvGradientAlgorithm::kWinograd, ConvGradientAlgorithm::kOnednn, ByColumns(shape)};
  }
  return {ConvGradientAlgorithm::kOnednn, ByColumns(shape)};
}

AlgorithmList DataAlgorithms(const ConvShape& shape) {
  // oneDNN has kernels for many groups of one channel.
  const bool depthwise = shape.in_group() == 1 && shape.group > 1;
  if (shape.in_group() < kFewChannels && !depthwise && !shape.IsPointwise()) {
    return {ByColumns(shape)};
  }
  return FilterAlgorithms(shape);
}

std::unique_ptr<ConvGradientKernel> FirstSupported(const AlgorithmList& algorithms,
                                                   const ConvShape& shape,
                                                   ConvGradientParts parts) {
  for (const ConvGradientAlgorithm algorithm : algorithms) {
    auto kernel = NewConvGradientKernel(algorithm, shape, parts);
    if (kernel != nullptr) return kernel;
  }
  CAFFE_THROW("no algorithm for the gradients of a convolution of ", shape.window.axes, " axes");
}

// At most half as many floats are added up as X and dY have. The count is even, so that two threads
// have the same work.
int64_t PieceCount(const ConvShape& shape, int64_t image_floats, int64_t filter_floats) {
  const int64_t by_size = shape.window.batch * image_floats / (2 * filter_floats);
  const double by_work = std::min<double>(shape.MultiplyAdds() / kPieceWork, kMaxPieces);
  const int64_t count = std::clamp<int64_t>(std::min(by_size, static_cast<int64_t>(by_work)), 1,
                                            shape.window.batch);
  return count > 1 ? count / 2 * 2 : 1;
}

using SumFunction = float(int64_t n, const float* x);

template <class L>
[[gnu::always_inline]] inline float SumBody(int64_t n, const float* x) {
  constexpr int kParts = 4 * L::kParts;
  typename L::Vector sums[kParts] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int part = 0; part < kParts; ++part) sums[part] += L::At(x + i + part * L::kWidth).lanes;
  }
  for (int half = kParts / 2; half > 0; half /= 2) {
    for (int part = 0; part < half; ++part) sums[part] += sums[part + half];
  }
  float total = 0.f;
  for (int lane = 0; lane < L::kWidth; ++lane) total += sums[0][lane];
  for (; i < n; ++i) total += x[i];
  return total;
}
CAFFE2RT_TARGET_AVX512 float SumAvx512(int64_t n, const float* x) {
  return SumBody<Avx512Lanes>(n, x);
}
CAFFE2RT_TARGET_AVX2 float SumAvx2(int64_t n, const float* x) { return SumBody<Avx2Lanes>(n, x); }
float SumPlain(int64_t n, const float* x) { return SumBody<PlainLanes>(n, x); }

// sums [channels]: of `batch` images of `size` pixels.
void SumChannels(bool last, int64_t batch, int64_t channels, int64_t size, const float* x,
                 float* sums) {
  std::fill_n(sums, channels, 0.f);
  if (last) {
    for (int64_t i = 0; i < batch * size; ++i, x += channels) {
      for (int64_t c = 0; c < channels; ++c) sums[c] += x[c];
    }
    return;
  }
  SumFunction* const sum = PickByIsa(SumAvx512, SumAvx2, SumPlain);
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t c = 0; c < channels; ++c, x += size) sums[c] += sum(size, x);
  }
}

}  // namespace

ConvGradientPlan::ConvGradientPlan(const ConvShape& shape, const ConvGradientOutputs& outputs)
    : shape_(shape),
      outputs_(outputs),
      in_image_(shape.window.channels * shape.window.in_size()),
      out_image_(shape.out_channels * shape.window.out_size()),
      filter_size_(shape.out_channels * shape.in_group() * shape.window.kernel_size()),
      bias_size_(outputs.bias == ConvBiasGradient::kNone         ? 0
                 : outputs.bias == ConvBiasGradient::kFromResult ? shape.out_channels
                                                                 : shape.window.channels),
      parallel_(shape.MultiplyAdds() >= kGradientWorthCutting) {
  const int64_t count = PieceCount(shape, in_image_ + out_image_, filter_size_);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = shape.window.batch * i / count;
    pieces_.push_back(NewPiece(first, shape.window.batch * (i + 1) / count - first));
    for (const auto* kernel : {&pieces_.back().filter_kernel, &pieces_.back().x_kernel}) {
      if (*kernel != nullptr) scratch_size_ = std::max(scratch_size_, (*kernel)->ScratchSize());
    }
  }
  partial_.Resize((count - 1) * (filter_size_ + bias_size_));
  (void)partial_.mutable_data<float>();
}

// One kernel computes both gradients if its algorithm is the best one for both.
ConvGradientPlan::Piece ConvGradientPlan::NewPiece(int64_t first, int64_t count) const {
  ConvShape part = shape_;
  part.window.batch = count;
  Piece piece{first, count, nullptr, nullptr};
  const AlgorithmList for_filter = FilterAlgorithms(part), for_x = DataAlgorithms(part);
  if (outputs_.x && for_filter == for_x) {
    piece.filter_kernel =
        NewConvGradientKernel(for_filter.front(), part, {.filter = true, .x = true});
    if (piece.filter_kernel != nullptr) return piece;
  }
  piece.filter_kernel = FirstSupported(for_filter, part, {.filter = true});
  if (outputs_.x) piece.x_kernel = FirstSupported(for_x, part, {.x = true});
  return piece;
}

void ConvGradientPlan::RunPiece(const ConvGradientTask& task, Piece& piece, float* dfilter,
                                float* dbias, float* scratch) {
  const float* const x = task.x + piece.first * in_image_;
  const float* const dy = task.dy + piece.first * out_image_;
  float* const dx = outputs_.x ? task.dx + piece.first * in_image_ : nullptr;
  piece.filter_kernel->Run(x, task.filter, dy, dfilter, dx, scratch);
  if (piece.x_kernel != nullptr) {
    piece.x_kernel->Run(x, task.filter, dy, nullptr, dx, scratch);
  }
  if (bias_size_ == 0) return;
  const bool from_result = outputs_.bias == ConvBiasGradient::kFromResult;
  SumChannels(shape_.channels_last(), piece.count, bias_size_,
              from_result ? shape_.window.out_size() : shape_.window.in_size(),
              from_result ? dy : x, dbias);
}

// Adds the parts, which are filter_size_ + bias_size_ floats apart, to `total`.
void ConvGradientPlan::AddUp(int64_t count, const float* parts, float* total) const {
  for (size_t i = 1; i < pieces_.size(); ++i, parts += filter_size_ + bias_size_) {
    for (int64_t j = 0; j < count; ++j) total[j] += parts[j];
  }
}

void ConvGradientPlan::Run(const ConvGradientTask& task) {
  float* const partial = partial_.mutable_data<float>();
  const auto run = [&](int i, float* scratch) {
    Piece& piece = pieces_[static_cast<size_t>(i)];
    if (i == 0) return RunPiece(task, piece, task.dfilter, task.dbias, scratch);
    float* const to = partial + (i - 1) * (filter_size_ + bias_size_);
    RunPiece(task, piece, to, to + filter_size_, scratch);
  };
  const int count = static_cast<int>(pieces_.size());
  const int threads = parallel_ ? std::min(count, GetNumThreads()) : 1;
  const PieceScratch scratch = scratch_.ForPieces(threads, scratch_size_);
  ParallelFor(threads, [&](int t) {
    for (int i = count * t / threads; i < count * (t + 1) / threads; ++i) run(i, scratch[t]);
  });
  if (count == 1) return;
  AddUp(filter_size_, partial, task.dfilter);
  AddUp(bias_size_, partial + filter_size_, task.dbias);
}

}  // namespace caffe2rt
