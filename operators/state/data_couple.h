#pragma once
// DataCouple: passes blobs on as they are.
//   any blobs  ->  the first ones of them, in place
// An operator that reads an output waits for all that write one of the inputs.

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class DataCoupleOp final : public Operator<Context> {
 public:
  using Operator<Context>::Operator;

  bool RunOnDevice() override { return true; }
};

}  // namespace caffe2rt
