#pragma once
// OnednnPieces: the work of one operator as oneDNN primitives of one thread each, which run in
// parallel as pieces of ParallelFor.
//
//   pieces_.Clear();                                            // when a shape or layout changes
//   for (const IndexRange rows : SplitRange(h, GetNumThreads())) {
//     OnednnProgram& piece = pieces_.New();
//     const OnednnPart from = RowsOf(x_desc, rows), to = RowsOf(y_desc, rows);
//     const dnnl::eltwise_forward::primitive_desc desc({...from.desc...}, OnednnAttributes(), ...);
//     piece.Add(dnnl::eltwise_forward(desc), desc.scratchpad_desc(),
//               {{DNNL_ARG_SRC, piece.Tensor(from.desc, 0, from.offset_bytes)},
//                {DNNL_ARG_DST, piece.Tensor(to.desc, 1, to.offset_bytes)}});
//   }
//   pieces_.Run({OnednnData(X), y});                            // in each run
//
// oneDNN's own threads are not used: its OpenMP team is slow next to other busy threads, and it
// cannot use the pool of the process. The pieces of an operator must write disjoint memory.
//
// Which cut is best: a batch by images; a single image in NHWC by rows, pointwise convolutions by
// pixels; in blocks of 16 channels by channels. A piece is a dense tensor in all of these. A strided
// part would fall back to reference implementations.
//
// Used by one thread at a time. In the steady state Run allocates nothing, except inside oneDNN.

#include <dnnl.hpp>
#include <initializer_list>
#include <memory>
#include <vector>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/primitives/onednn_program.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

struct IndexRange {
  int64_t first = 0, last = 0;
  int64_t size() const { return last - first; }
};
// Divides [0, count) into at most `pieces` ranges of nearly equal size. All but the last range
// contain a multiple of `unit` elements. Returns no range if count is 0.
std::vector<IndexRange> SplitRange(int64_t count, int64_t pieces, int64_t unit = 1);

// A dense part of a dense tensor.
struct OnednnPart {
  dnnl::memory::desc desc;
  size_t offset_bytes = 0;
};
// Images of a batch, in any of the formats nchw, nhwc and nChw16c, and rows of a matrix.
OnednnPart ImagesOf(const dnnl::memory::desc& desc, IndexRange images);
// Rows of image `image` in NHWC.
OnednnPart RowsOf(const dnnl::memory::desc& desc, IndexRange rows, int64_t image = 0);
// Pixels of image `image` in NHWC, as an image of one row.
OnednnPart PixelsOf(const dnnl::memory::desc& desc, IndexRange pixels, int64_t image = 0);
// Channels of a single image in nChw16c or NCHW. In nChw16c, the range begins at a multiple of 16.
OnednnPart ChannelsOf(const dnnl::memory::desc& desc, IndexRange channels);

// How an operator that treats all pixels and channels alike is cut, from the layout of its output.
enum class OnednnCut { kWhole, kImages, kRows, kChannels };
// kWhole if there is one thread, or fewer than `least` elements.
OnednnCut ChooseCut(const dnnl::memory::desc& desc, int threads, int64_t least = 16384);
// The ranges of images, rows or channels for that cut; one range of everything for kWhole.
std::vector<IndexRange> CutRanges(const dnnl::memory::desc& desc, OnednnCut cut, int threads);
// That part of a tensor in the same format and with the same batch, height or channels.
OnednnPart PartOf(const dnnl::memory::desc& desc, OnednnCut cut, IndexRange range);

class OnednnPieces {
 public:
  // Removes all pieces.
  void Clear() { pieces_.clear(); }
  // Adds a piece and returns its program, valid until Clear.
  OnednnProgram& New();
  size_t size() const { return pieces_.size(); }

  // Runs all pieces in parallel and returns when they are done. `tensors` are those of
  // OnednnProgram::Tensor. THROWS EnforceNotMet if oneDNN fails.
  void Run(std::initializer_list<const float*> tensors) { Run(tensors.begin()); }
  void Run(const float* const* tensors);

 private:
  std::vector<std::unique_ptr<OnednnProgram>> pieces_;
  ThreadScratch scratch_;
};

}  // namespace caffe2rt
