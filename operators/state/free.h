#pragma once
// Free: empties blobs, which releases what they hold.
//   any blobs  ->  the same blobs, in place
// A later operator may fill them again.

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class FreeOp final : public Operator<Context> {
 public:
  using Operator<Context>::Operator;

  bool RunOnDevice() override {
    for (Blob* const blob : this->Outputs()) blob->Reset();
    return true;
  }
};

}  // namespace caffe2rt
