#pragma once
// Operators of the counting device: float kernels that run on its streams. counting_operators.cc
// registers them under the library's operator types, so that nets need no other names.

#include "caffe2_core/runtime/operator.h"
#include "tests/contexts/counting/counting_context.h"

namespace caffe2rt::test {

// Y = max(X, 0).
class CountingReluOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override;
};

// C = A + B, with equal shapes.
class CountingAddOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override;
};

// C [M, N] = A [M, K] * B [K, N].
class CountingMatMulOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override;
};

// Fills a tensor of shape `shape` with `value`.
class CountingConstantFillOp final : public Operator<CountingContext> {
 public:
  CountingConstantFillOp(const OperatorDef& def, Workspace* ws);
  bool RunOnDevice() override;

 private:
  const std::vector<int64_t> shape_;
  const float value_;
};

// Copies from the CPU to the device, and back.
class CountingFromCPUOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override;
};
class CountingToCPUOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override;
};

}  // namespace caffe2rt::test
