#pragma once
// Concat, DepthConcat: concatenates tensors along one dimension. The tensors must be equal in all
// other dimensions.
//   X1, X2, ...  ->  Y, split_info [number of inputs] int32: the size of each input along the
//   dimension
//
// With add_axis the inputs have the same shape and are stacked along a new dimension, each with
// size 1. split_info is always on the CPU.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/shape/join_axis.h"
#include "operators/shape/parts_in_place.h"
#include "operators/shape/row_pieces.h"

namespace caffe2rt {

// Combines the shapes of the inputs: call First for the first input, then Next for each further
// one. dims() is the shape of the output.
class [[gnu::visibility("default")]] ConcatShape {
 public:
  // THROWS if the axis is out of range.
  void First(IntArrayRef input, JoinAxis join);
  // THROWS if the shape does not match that of the first input.
  void Next(IntArrayRef input, int position);

  const std::vector<int64_t>& dims() const { return dims_; }
  // The size of an input along the axis.
  int64_t Share(IntArrayRef input) const {
    return add_axis_ ? 1 : input[static_cast<size_t>(axis_)];
  }
  // Products of the output dimensions before and after the axis.
  int64_t outer() const { return size_to_dim_(axis_, dims_); }
  int64_t inner() const { return size_from_dim_(axis_ + 1, dims_); }
  int64_t total() const { return dims_[static_cast<size_t>(axis_)]; }

 private:
  std::vector<int64_t> first_;
  std::vector<int64_t> dims_;
  int axis_ = 0;
  bool add_axis_ = false;
};

template <class Context>
class ConcatOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ConcatOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), join_(ReadJoinAxis(this->args())) {}

  bool RunOnDevice() override {
    const TypeMeta type = Input(0).dtype();
    shape_.First(Input(0).sizes(), join_);
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).dtype() == type, "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want ", type.name(), " as input 0");
      shape_.Next(Input(i).sizes(), i);
    }
    WriteShares();
    Tensor* Y = Output(0);
    Y->Resize(shape_.dims());
    void* y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const int64_t inner = shape_.inner();
    pieces_.clear();
    in_place_.Clear();
    size_t offset = 0;
    for (int i = 0; i < InputSize(); ++i) {
      const Tensor& X = Input(i);
      const int64_t items = shape_.Share(X.sizes()) * inner;
      if (items == 0) continue;
      pieces_.push_back({X.raw_data(), items});
      if (IsInPlace(X, y, offset)) in_place_.Add(X.raw_data(), X.nbytes());
      offset += X.nbytes();
    }
    if (IsAnyMisplaced(y, Y->nbytes())) {
      // Planned for other shapes. The inputs do not own their memory, so it stays valid.
      Y->FreeMemory();
      y = OutputMemory(Y, type);
    }
    JoinRows(context_, type, shape_.outer(), pieces_, y);
    return true;
  }

 private:
  bool IsInPlace(const Tensor& X, const void* y, size_t offset) const {
    return shape_.outer() == 1 && X.raw_data() == static_cast<const char*>(y) + offset;
  }
  // Whether an input overlaps the memory of the output that is written.
  bool IsAnyMisplaced(const void* y, size_t nbytes) {
    size_t offset = 0;
    for (int i = 0; i < InputSize(); ++i) {
      const Tensor& X = Input(i);
      if (X.numel() == 0) continue;
      const void* const place =
          shape_.outer() == 1 ? static_cast<const char*>(y) + offset : nullptr;
      if (IsMisplaced(X.raw_data(), X.nbytes(), place, y, nbytes) &&
          !in_place_.Contain(X.raw_data(), X.nbytes())) {
        return true;
      }
      offset += X.nbytes();
    }
    return false;
  }
  // Writes split_info, on the CPU for every device: Split reads it on the host.
  void WriteShares() {
    int32_t* shares = this->OutputTensor(1, CPU, {InputSize()}, TypeMeta::Make<int32_t>())
                          ->template mutable_data<int32_t>();
    for (int i = 0; i < InputSize(); ++i) {
      shares[i] = CheckedCast<int32_t>(shape_.Share(Input(i).sizes()), "size along the axis");
    }
  }

  const JoinAxis join_;
  ConcatShape shape_;
  std::vector<SourcePiece> pieces_;
  PartsInPlace in_place_;
};

}  // namespace caffe2rt
