#pragma once
// Gather, BatchGather: the slices of DATA along one dimension that INDICES (int32 or int64) name.
//   DATA [outer.., N, inner..], INDICES [dims..]  ->  [outer.., dims.., inner..]
//
// match_outer: INDICES begin with the outer dimensions of DATA, and each outer part has its own
// indices. A dimension N of size 0 gives the shape of DATA, whatever the indices. BatchGather is
// Gather with axis 1.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

struct GatherArguments {
  int axis = 0;  // negative counts from the end
  bool match_outer = false;
  bool wrap = false;  // a negative index counts from the end
};
// `fixed_axis` is that of BatchGather; -1: from argument axis.
GatherArguments ReadGatherArguments(const ArgumentHelper& args, int fixed_axis);

// The shape of the output; *axis becomes an index. THROWS when the shapes do not fit.
void GatheredDims(IntArrayRef data, IntArrayRef indices, bool match_outer, int* axis,
                  std::vector<int64_t>* dims);

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
    const int64_t outer = data.size_to_dim(axis), size = data.dim(axis);
    const int64_t block = data.size_from_dim(axis + 1);
    const int64_t count = arguments_.match_outer ? indices.numel() / outer : indices.numel();
    const Index* index = indices.template data<Index>();
    for (int64_t i = 0; i < outer; ++i) {
      const void* from = ItemAt(data.raw_data(), type, i * size * block);
      for (int64_t j = 0; j < count; ++j) {
        CopyRow(context_, type, block, ItemAt(from, type, Row(index[j], size) * block),
                ItemAt(y, type, (i * count + j) * block));
      }
      if (arguments_.match_outer) index += count;
    }
    return true;
  }
  int64_t Row(int64_t index, int64_t size) const {
    const int64_t row = index < 0 && arguments_.wrap ? index + size : index;
    CAFFE_ENFORCE(0 <= row && row < size, "INDICES element is out of DATA bounds, id=", row,
                  " axis_dim=", size);
    return row;
  }

  const GatherArguments arguments_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
