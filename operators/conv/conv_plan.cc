#include "operators/conv/conv_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/conv_tuning.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

// Whether the kernel distributes its own work among threads.
bool CutsItself(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kPixels || algorithm == ConvAlgorithm::kChannels;
}

}  // namespace

ConvPlan::ConvPlan(const ConvShape& shape, const ConvLimits& limits)
    : choice_(ChooseConv({.shape = shape, .limits = limits}, *GetConvTuning())) {
  if (shape.window.batch == 0 || shape.out_channels == 0 || shape.window.out_size() == 0) return;
  Cut(shape, limits.deterministic);
  for (Piece& piece : pieces_) {
    AddForm(&piece);
    scratch_size_ = std::max(scratch_size_, piece.kernel->ScratchSize());
    piece.first_scratch = scratch_parts_;
    scratch_parts_ += piece.kernel->ScratchParts();
  }
}

std::unique_ptr<ConvKernel> ConvPlan::NewKernel(const ConvShape& shape) {
  for (size_t i = 0; i < choice_.candidates.size(); ++i) {
    std::unique_ptr<ConvKernel> kernel = NewConvKernel(choice_.candidates[i].algorithm, shape);
    if (kernel == nullptr) continue;
    choice_.position = i;
    return kernel;
  }
  CAFFE_THROW("no algorithm for a convolution of ", shape.window.axes, " axes");
}

// Divides the work into at most one piece for each thread, unless the kernel distributes it. A batch
// is divided by images. A single image is divided by output channels in blocks of kLanes, unless the
// convolution has groups, or is in NHWC (outputs of a piece would not be contiguous).
void ConvPlan::Cut(const ConvShape& shape, bool deterministic) {
  const int64_t threads = PiecesOfConv(shape, deterministic);
  const int64_t in_image = shape.window.channels * shape.window.in_size();
  const int64_t out_size = shape.window.out_size();
  if (threads > 1 && shape.window.batch > 1) {
    const int64_t count = std::min(threads, shape.window.batch);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = shape.window.batch * i / count;
      ConvShape part = shape;
      part.window.batch = shape.window.batch * (i + 1) / count - first;
      pieces_.push_back(
          {NewKernel(part), first * in_image, 0, 0, first * shape.out_channels * out_size});
      if (CutsItself(algorithm())) break;
    }
    if (!CutsItself(algorithm())) return;
    pieces_.clear();
  }
  std::unique_ptr<ConvKernel> whole = NewKernel(shape);
  const int64_t blocks = (shape.out_channels + kLanes - 1) / kLanes;
  const bool by_channels = threads > 1 && blocks > 1 && shape.window.batch == 1 &&
                           shape.group == 1 && !shape.channels_last() && !CutsItself(algorithm());
  if (!by_channels) {
    pieces_.push_back({std::move(whole), 0, 0, 0, 0});
    return;
  }
  whole = nullptr;
  const int64_t count = std::min(threads, blocks);
  const int64_t depth = shape.window.channels * shape.window.kernel_size();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = blocks * i / count * kLanes;
    const int64_t last = std::min(blocks * (i + 1) / count * kLanes, shape.out_channels);
    ConvShape part = shape;
    part.out_channels = last - first;
    pieces_.push_back({NewKernel(part), 0, first * depth, first, first * out_size});
  }
}

// Pieces with the same form of the same part of the filter share one.
void ConvPlan::AddForm(Piece* piece) {
  const std::string form = piece->kernel->FilterForm();
  if (form.empty()) return;
  piece->form = prepared_.Add(MakeString(form, " from ", piece->filter_offset),
                              static_cast<size_t>(piece->kernel->PreparedSize()) * sizeof(float));
}

void ConvPlan::PrepareFilter(size_t form, const float* filter, float* prepared) {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& candidate) { return candidate.form == form; });
  piece->kernel->PrepareFilterIn(filter + piece->filter_offset, prepared);
}

void ConvPlan::Prepare(const Tensor& filter) {
  if (prepared_.size() == 0) return;
  prepared_.Update(filter, [&](size_t form, void* to) {
    PrepareFilter(form, filter.data<float>(), static_cast<float*>(to));
  });
}

void ConvPlan::Run(const float* x, const Tensor& filter, const float* bias, float* y) {
  if (pieces_.empty()) return;
  Prepare(filter);
  const int count = static_cast<int>(pieces_.size());
  const bool all_prepared = std::all_of(pieces_.begin(), pieces_.end(),
                                        [](const Piece& piece) { return piece.form.has_value(); });
  const float* const plain = all_prepared ? nullptr : filter.data<float>();
  const PieceScratch scratch = scratch_.ForPieces(scratch_parts_, scratch_size_);
  ParallelFor(count, [&](int i) {
    Piece& piece = pieces_[static_cast<size_t>(i)];
    const void* form = piece.form.has_value()
                           ? prepared_.data(*piece.form)
                           : static_cast<const void*>(plain + piece.filter_offset);
    piece.kernel->Run(x + piece.x_offset, form,
                      bias != nullptr ? bias + piece.bias_offset : nullptr, y + piece.y_offset,
                      scratch.From(piece.first_scratch));
  });
}

int64_t ConvPlan::ScratchBytes() const {
  int64_t most = scratch_size_;
  for (const Piece& piece : pieces_) most = std::max(most, piece.kernel->PreparationSize());
  return most * static_cast<int64_t>(sizeof(float));
}

int64_t ConvPlan::PreparedBytes() const { return static_cast<int64_t>(prepared_.nbytes()); }

}  // namespace caffe2rt
