#pragma once
// OnednnReorder: converts a tensor between two layouts, in parallel.
//
//   if (!input_.Matches(X)) reorder_.Plan(DescOf(X), target_desc);
//   reorder_.Run(OnednnData(X), y);
//
// Used by one thread at a time. In the steady state Run allocates nothing, except inside oneDNN.

#include <dnnl.hpp>

#include "operators/primitives/onednn_pieces.h"

namespace caffe2rt {

class OnednnReorder {
 public:
  // REQUIRES: both descriptors have the same dims. THROWS if oneDNN cannot convert.
  void Plan(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  // The memories must not overlap. REQUIRES: Plan was called.
  void Run(const float* from, float* to);

 private:
  OnednnPieces pieces_;
  size_t copy_bytes_ = 0;  // if both layouts are the same memory
};

}  // namespace caffe2rt
