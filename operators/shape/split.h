#pragma once
// Split, DepthSplit: splits a tensor along one dimension into as many pieces as there are outputs.
//   X, sizes (argument split, or int32 or int64 input 1; by default equal pieces)  ->  Y1, Y2, ...
//
// With add_axis every piece has size 1 and the dimension is removed. Input 1 may be on the CPU or
// on the device.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"
#include "operators/shape/join_axis.h"
#include "operators/shape/parts_in_place.h"
#include "operators/shape/row_pieces.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kSplitSizes{
    "split", "size of each output along the axis; default: equal sizes"};

inline constexpr ArgumentSpec<bool> kSplitUneven{
    "uneven", false,
    "1: without sizes, outputs have the size rounded up, and the last ones are smaller or empty "
    "(ONNX)"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the sizes of `outputs` pieces of a dimension of size `total`; `wanted` is empty for
// equal pieces, which `uneven` rounds up. THROWS if the sizes do not add up.
void SplitSizes(int64_t total, int outputs, bool add_axis, ArrayRef<int> wanted,
                std::vector<int64_t>* sizes, bool uneven = false);
// The sizes in input 1, int32 or int64. *converted holds them if they are int64. THROWS unless there
// is one for each output.
ArrayRef<int> SizesOfInput(const Tensor& split, int outputs, std::vector<int>* converted);

// Computes the shape of a piece.
void SplitPieceDims(IntArrayRef input, int axis, bool add_axis, int64_t size,
                    std::vector<int64_t>* dims);
#pragma GCC visibility pop

// Resizes the outputs of a Split operator to the pieces of X along the axis, and lists their memory.
// `x` are the elements of X in row-major order. With a memory plan, pieces may lie in them.
template <class Op>
void PlacePieces(Op& op, const Tensor& X, const void* x, int axis, bool add_axis,
                 const std::vector<int64_t>& sizes, std::vector<int64_t>* dims,
                 std::vector<TargetPiece>* pieces) {
  const TypeMeta type = X.dtype();
  const int64_t outer = X.size_to_dim(axis), inner = X.size_from_dim(axis + 1);
  pieces->clear();
  size_t offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    SplitPieceDims(X.sizes(), axis, add_axis, sizes[i], dims);
    Tensor* const Y = op.Output(static_cast<int>(i));
    Y->Resize(*dims);
    void* y = OutputMemory(Y, type);
    const void* const place = outer == 1 ? static_cast<const char*>(x) + offset : nullptr;
    if (X.numel() > 0 && IsMisplaced(y, Y->nbytes(), place, x, X.nbytes())) {
      Y->FreeMemory();  // planned for other shapes
      y = OutputMemory(Y, type);
    }
    pieces->push_back({y, sizes[i] * inner});
    offset += Y->nbytes();
  }
}

template <class Context>
class SplitOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SplitOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        join_(ReadJoinAxis(this->args())),
        split_(this->ReadArgument(kSplitSizes)),
        uneven_(this->ReadArgument(kSplitUneven)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int axis = canonical_axis_index_(join_.axis, X.dim());
    const int64_t total = X.dim(axis);
    SplitSizes(total, OutputSize(), join_.add_axis, Wanted(), &sizes_, uneven_);
    const void* const x = X.numel() > 0 ? X.raw_data() : nullptr;
    PlacePieces(*this, X, x, axis, join_.add_axis, sizes_, &dims_, &pieces_);
    if (X.numel() > 0) SplitRows(context_, X.dtype(), X.size_to_dim(axis), x, pieces_);
    return true;
  }

 private:
  ArrayRef<int> Wanted() {
    if (InputSize() < 2) return split_;
    CAFFE_ENFORCE(split_.empty(), "argument split and input 1 are both given: remove one");
    return SizesOfInput(split_input_.Read(*this, 1), OutputSize(), &converted_);
  }

  const JoinAxis join_;
  const std::vector<int> split_;
  const bool uneven_;
  std::vector<int> converted_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> dims_;
  std::vector<TargetPiece> pieces_;
  HostInput split_input_;
};

}  // namespace caffe2rt
