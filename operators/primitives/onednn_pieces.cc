#include "operators/primitives/onednn_pieces.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt {

namespace {

constexpr int64_t kChannelBlock = 16;

OnednnFormat DenseFormat(const dnnl::memory::desc& desc) {
  const OnednnFormat format = FormatOf(desc);
  CAFFE_ENFORCE(format != OnednnFormat::kOther, "only dense tensors can be cut into pieces");
  return format;
}

// The part of a tensor like `desc` that begins `elements` after its start.
OnednnPart PartAt(const dnnl::memory::desc& desc, OnednnFormat format,
                  const dnnl::memory::dims& dims, int64_t elements) {
  const dnnl::memory::data_type type = DataTypeOf(desc);
  return {DescIn(format, dims, type),
          static_cast<size_t>(elements) * dnnl::memory::data_type_size(type)};
}

}  // namespace

std::vector<IndexRange> SplitRange(int64_t count, int64_t pieces, int64_t unit) {
  std::vector<IndexRange> ranges;
  const int64_t units = (count + unit - 1) / unit;
  pieces = std::min(std::max<int64_t>(pieces, 1), units);
  for (int64_t i = 0; i < pieces; ++i) {
    ranges.push_back({units * i / pieces * unit, std::min(units * (i + 1) / pieces * unit, count)});
  }
  return ranges;
}

OnednnPart ImagesOf(const dnnl::memory::desc& desc, IndexRange images) {
  const OnednnFormat format = DenseFormat(desc);
  dnnl::memory::dims dims = DimsOf(desc);
  const dnnl::memory::dims padded = BlockingOf(desc)->padded_dims;
  int64_t image = 1;
  for (size_t i = 1; i < dims.size(); ++i) image *= padded[i];
  dims[0] = images.size();
  return PartAt(desc, format, dims, image * images.first);
}

OnednnPart RowsOf(const dnnl::memory::desc& desc, IndexRange rows, int64_t image) {
  const dnnl::memory::dims dims = DimsOf(desc);
  return PartAt(desc, OnednnFormat::kNhwc, {1, dims[1], rows.size(), dims[3]},
                (image * dims[2] + rows.first) * dims[1] * dims[3]);
}

OnednnPart PixelsOf(const dnnl::memory::desc& desc, IndexRange pixels, int64_t image) {
  const dnnl::memory::dims dims = DimsOf(desc);
  return PartAt(desc, OnednnFormat::kNhwc, {1, dims[1], 1, pixels.size()},
                (image * dims[2] * dims[3] + pixels.first) * dims[1]);
}

OnednnPart ChannelsOf(const dnnl::memory::desc& desc, IndexRange channels) {
  const dnnl::memory::dims dims = DimsOf(desc);
  return PartAt(desc, DenseFormat(desc), {1, channels.size(), dims[2], dims[3]},
                channels.first * dims[2] * dims[3]);
}

OnednnCut ChooseCut(const dnnl::memory::desc& desc, int threads, int64_t least) {
  const dnnl::memory::dims dims = DimsOf(desc);
  int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  const OnednnFormat format = FormatOf(desc);
  if (threads < 2 || count < least || dims.empty() || format == OnednnFormat::kOther) {
    return OnednnCut::kWhole;
  }
  if (dims[0] > 1) return OnednnCut::kImages;
  if (dims.size() != 4) return OnednnCut::kWhole;
  if (format == OnednnFormat::kNhwc) return dims[2] > 1 ? OnednnCut::kRows : OnednnCut::kWhole;
  return OnednnCut::kChannels;
}

std::vector<IndexRange> CutRanges(const dnnl::memory::desc& desc, OnednnCut cut, int threads) {
  const dnnl::memory::dims dims = DimsOf(desc);
  switch (cut) {
    case OnednnCut::kImages:
      return SplitRange(dims[0], threads);
    case OnednnCut::kRows:
      return SplitRange(dims[2], threads);
    case OnednnCut::kChannels:
      return SplitRange(dims[1], threads,
                        FormatOf(desc) == OnednnFormat::kBlocked16 ? kChannelBlock : 1);
    default:
      return {{0, dims[0]}};
  }
}

OnednnPart PartOf(const dnnl::memory::desc& desc, OnednnCut cut, IndexRange range) {
  switch (cut) {
    case OnednnCut::kImages:
      return ImagesOf(desc, range);
    case OnednnCut::kRows:
      return RowsOf(desc, range);
    case OnednnCut::kChannels:
      return ChannelsOf(desc, range);
    default:
      return {desc, 0};
  }
}

OnednnProgram& OnednnPieces::New() {
  pieces_.push_back(std::make_unique<OnednnProgram>());
  return *pieces_.back();
}

void OnednnPieces::Run(const float* const* tensors) {
  (void)OnednnStream();  // of this thread: made in the first run, whichever pieces it takes
  int64_t most = 0;
  for (const auto& piece : pieces_) most = std::max(most, piece->scratch_size());
  const int count = static_cast<int>(pieces_.size());
  const PieceScratch scratch = scratch_.ForPieces(count, most);
  ParallelFor(count, [&](int i) {
    GuardOnednn("an operator", [&] { pieces_[static_cast<size_t>(i)]->Run(tensors, scratch[i]); });
  });
}

}  // namespace caffe2rt
