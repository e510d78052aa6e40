#pragma once
// ScatterAssign: copies slices to those slices of DATA that INDICES name, in place.
//   DATA [N, inner..], INDICES [K] int32 or int64, SLICES [K, inner..]  ->  DATA
// Of equal indices, the last one counts. Element types: float, float16, double, uint8, int32, int64.
//
// An index out of range is an error. The CPU throws and changes nothing. On CUDA the slice is not
// copied, and the next wait for the stream throws.

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/shape/add_slices.h"

namespace caffe2rt {

// THROWS unless every index is at least 0 and below `size`.
template <class Index>
void CheckSliceIndices(int place, const Index* indices, int64_t count, int64_t size) {
  for (int64_t i = 0; i < count; ++i) {
    CAFFE_ENFORCE(indices[i] >= 0 && indices[i] < size, "index ", indices[i], " in input ", place,
                  " (INDICES) is out of range, want at least 0 and below ", size);
  }
}

template <class Index>
void AssignSlices(CPUContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* slices, void* data,
                  AddSlicesScratch<CPUContext>*) {
  CheckSliceIndices(1, indices, sizes.count, sizes.size);
  for (int64_t i = 0; i < sizes.count; ++i) {
    CopyRow(context, type, sizes.block, ItemAt(slices, type, i * sizes.block),
            ItemAt(data, type, indices[i] * sizes.block));
  }
}
// Instantiated for int32_t and int64_t.
template <class Index>
void AssignSlices(CUDAContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* slices, void* data,
                  AddSlicesScratch<CUDAContext>* scratch);

template <class Context>
class ScatterAssignOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ScatterAssignOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(1).dtype(), "input 1 (INDICES)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& indices = Input(1);
    const Tensor& slices = Input(2);
    Tensor* const data = Output(0);  // input 0
    const TypeMeta type = data->dtype();
    DispatchByType<float, float16, double, uint8_t, int32_t, int64_t>(type, "input 0 (DATA)",
                                                                      [](auto) { return true; });
    CAFFE_ENFORCE(slices.dtype() == type, "input 2 (SLICES) has elements of type ",
                  slices.dtype().name(), ", want ", type.name(), " as input 0 (DATA)");
    CAFFE_ENFORCE_GE(data->dim(), 1, "rank of input 0 (DATA)");
    const GatherSizes sizes = {.outer = 1,
                               .size = data->dim(0),
                               .count = indices.numel(),
                               .block = data->size_from_dim(1)};
    CAFFE_ENFORCE_EQ(slices.numel(), sizes.count * sizes.block,
                     "elements of input 2 (SLICES) of shape ", slices.sizes(), ", want ",
                     sizes.count, " slices of ", sizes.block);
    if (slices.numel() == 0) return true;
    AssignSlices(context_, type, sizes, indices.template data<Index>(), slices.raw_data(),
                 data->raw_mutable_data(type), &scratch_);
    return true;
  }

  AddSlicesScratch<Context> scratch_;
};

}  // namespace caffe2rt
