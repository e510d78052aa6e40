#pragma once
// Gather, BatchGather: selects the slices of DATA along one dimension that INDICES (int32 or int64)
// name.
//   DATA [outer.., N, inner..], INDICES [dims..]  ->  [outer.., dims.., inner..]
//
// With match_outer, the first dimensions of INDICES are the outer dimensions of DATA, and each
// outer part has its own indices. If N is 0, the output has the shape of DATA, whatever the
// indices. BatchGather is Gather with axis 1.
//
// An index out of range is an error. On the CPU the operator throws. On CUDA the index is only
// known when the kernel runs: the slice is filled with zeros, and the next wait for the stream
// throws.
//
// BatchGatherGradient: the gradient of DATA for an axis other than 0, or for BatchGather. For axis 0
// the gradient is sparse: INDICES and the gradient of the output. With dense_gradient it is dense,
// computed by SparseToDense.
//   DATA float, INDICES, gradient of the output  ->  gradient of DATA

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/shape/add_slices.h"
#include "operators/shape/gather_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kMatchOuter{
    "match_outer", false,
    "1: the first dimensions of INDICES are the dimensions of DATA before the axis, and each part "
    "has its own indices"};
inline constexpr ArgumentSpec<int> kGatherAxis{
    "axis", 0, "dimension to select from; a negative axis counts from the end"};
inline constexpr ArgumentSpec<bool> kWrapIndices{
    "wrap_indices", true,
    "1: negative indices count from the end; default: 1 for axis 0, otherwise 0"};

inline constexpr ArgumentSpec<bool> kDenseGradient{
    "dense_gradient", false,
    "1: the gradient of DATA is dense; 0: for axis 0 it is sparse, and another axis is an error"};
inline constexpr ArgumentSpec<int> kBatchGatherGradientAxis{
    "axis", 1, "dimension that Gather selected from; a negative axis counts from the end"};

struct GatherArguments {
  int axis = 0;  // negative counts from the end
  bool match_outer = false;
  bool wrap = false;  // a negative index counts from the end
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// `fixed_axis` is the axis of BatchGather; -1: use the argument axis.
GatherArguments ReadGatherArguments(const ArgumentHelper& args, int fixed_axis);

// Computes the shape of the output; *axis becomes non-negative. THROWS if the shapes do not match.
void GatheredDims(IntArrayRef data, IntArrayRef indices, bool match_outer, int* axis,
                  std::vector<int64_t>* dims);

// Checks the shapes for BatchGatherGradient. THROWS if they do not match.
GatherSizes GatherGradientSizes(IntArrayRef data, IntArrayRef indices, IntArrayRef gradient,
                                const GatherArguments& arguments);
#pragma GCC visibility pop

template <class Index>
void GatherSlices(CPUContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* data, void* y) {
  for (int64_t i = 0; i < sizes.outer; ++i) {
    const void* from = ItemAt(data, type, i * sizes.size * sizes.block);
    for (int64_t j = 0; j < sizes.count; ++j) {
      const int64_t index = indices[j];
      const int64_t row = index < 0 && sizes.wrap ? index + sizes.size : index;
      CAFFE_ENFORCE(0 <= row && row < sizes.size, "INDICES element is out of DATA bounds, id=", row,
                    " axis_dim=", sizes.size);
      CopyRow(context, type, sizes.block, ItemAt(from, type, row * sizes.block),
              ItemAt(y, type, (i * sizes.count + j) * sizes.block));
    }
    if (sizes.match_outer) indices += sizes.count;
  }
}
// Instantiated for int32_t and int64_t. THROWS for element types with constructors.
template <class Index>
void GatherSlices(CUDAContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* data, void* y);

template <class Context, int kFixedAxis = -1>
class GatherOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GatherOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(ReadGatherArguments(this->args(), kFixedAxis)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(1).dtype(), "input 1 (INDICES)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    int axis = arguments_.axis;
    GatheredDims(data.sizes(), indices.sizes(), arguments_.match_outer, &axis, &dims_);
    const TypeMeta type = data.dtype();
    Tensor* Y = Output(0);
    Y->Resize(dims_);
    void* y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const int64_t outer = data.size_to_dim(axis);
    const GatherSizes sizes = {
        .outer = outer,
        .size = data.dim(axis),
        .count = arguments_.match_outer ? indices.numel() / outer : indices.numel(),
        .block = data.size_from_dim(axis + 1),
        .match_outer = arguments_.match_outer,
        .wrap = arguments_.wrap};
    GatherSlices(context_, type, sizes, indices.template data<Index>(), data.raw_data(), y);
    return true;
  }

  const GatherArguments arguments_;
  std::vector<int64_t> dims_;
};

template <class Context>
class BatchGatherGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BatchGatherGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_{.axis = this->ReadArgument(kBatchGatherGradientAxis),
                   .match_outer = this->ReadArgument(kMatchOuter),
                   .wrap = HasArgument(kWrapIndices) && this->ReadArgument(kWrapIndices)} {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(1).dtype(), "input 1 (INDICES)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& gradient = Input(2);
    CAFFE_ENFORCE(data.template IsType<float>(), "input 0 (DATA) has elements of type ",
                  data.dtype().name(), ", want float");
    const float* values = gradient.template data<float>();
    const GatherSizes sizes =
        GatherGradientSizes(data.sizes(), indices.sizes(), gradient.sizes(), arguments_);
    float* result = this->template OutputData<float>(0, data.sizes());
    if (data.numel() == 0) return true;
    AddSlices(context_, AdditionOrderOf(this->engine()), sizes, indices.template data<Index>(),
              values, result, &scratch_);
    return true;
  }

  const GatherArguments arguments_;
  AddSlicesScratch<Context> scratch_;
};

}  // namespace caffe2rt
