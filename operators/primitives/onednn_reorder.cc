#include "operators/primitives/onednn_reorder.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/thread_pool.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt {

namespace {

// With fewer elements than this, a second thread costs more than it saves.
constexpr int64_t kLeastElementsToCut = 32768;

// The axis along which the pieces divide the tensor: the images of a batch, or the rows of an
// image. 0 if the tensor is not cut.
size_t ReorderAxis(const dnnl::memory::dims& dims) {
  return dims[0] > 1 || dims.size() < 4 ? 0 : 2;
}

}  // namespace

void OnednnReorder::Plan(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  pieces_.Clear();
  copy_bytes_ = 0;
  const dnnl::memory::dims dims = DimsOf(from);
  int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  if (count == 0) return;
  if (IsSameMemory(from, to)) {
    copy_bytes_ = to.get_size();
    return;
  }
  const size_t axis = ReorderAxis(dims);
  const int64_t threads = count < kLeastElementsToCut ? 1 : GetNumThreads();
  GuardOnednn("a reorder", [&] {
    for (const IndexRange range : SplitRange(dims[axis], threads)) {
      dnnl::memory::dims part = dims, begin(dims.size(), 0);
      part[axis] = range.size();
      begin[axis] = range.first;
      OnednnProgram& piece = pieces_.New();
      const size_t source = piece.Tensor(from.submemory_desc(part, begin), 0);
      piece.AddReorder(source, piece.Tensor(to.submemory_desc(part, begin), 1));
    }
  });
}

void OnednnReorder::Run(const float* from, float* to) {
  if (copy_bytes_ > 0) std::memcpy(to, from, copy_bytes_);
  if (pieces_.size() > 0) pieces_.Run({from, to});
}

}  // namespace caffe2rt
