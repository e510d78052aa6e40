#pragma once
// NoDefaultEngineOp: an operator that exists only with an engine.
#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

// Register it for a type whose implementations all have engines: running it THROWS.
template <class Context>
class NoDefaultEngineOp final : public Operator<Context> {
 public:
  using Operator<Context>::Operator;
  bool RunOnDevice() override {
    CAFFE_THROW("operator \"", this->type(), "\" has no default engine: set the engine to one of ",
                "those that are registered for it");
  }
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif
}  // namespace caffe2
