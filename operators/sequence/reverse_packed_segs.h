#pragma once
// ReversePackedSegs: reverses the order of the first lengths[b] steps of each batch entry b.
//   data [steps, batch, inner] float, double, int32, int64 or bool; lengths [batch] int32 or int64
//     -> the shape of data
//
// The other steps are copied. A negative length counts as 0. On a device the host waits for the
// lengths.

#include <algorithm>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/segment_offsets.h"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

[[gnu::visibility("default")]] void ReverseRowBytes(CPUContext& context, const StepSizes& sizes,
                                                    const int64_t* lengths, const void* x, void* y);

template <class Context>
class ReversePackedSegsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReversePackedSegsOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const TypeMeta type = data.dtype();
    DispatchByType<float, double, int32_t, int64_t, bool>(type, "input 0 (data)", [](auto) {});
    CAFFE_ENFORCE_EQ(data.dim(), 3, "rank of input 0 (data) of shape ", data.sizes(),
                     ", want [steps, batch, inner]");
    const Tensor& lengths = lengths_input_.Read(*this, 1);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 1 (lengths) of shape ", lengths.sizes(),
                     ", want a vector");
    CAFFE_ENFORCE_EQ(lengths.numel(), data.dim(1),
                     "number of lengths, want dim 1 of input 0 (data) of shape ", data.sizes());
    DispatchByType<int32_t, int64_t>(lengths.dtype(), "input 1 (lengths)", [&](auto length) {
      FillTable(data.dim(0), lengths.numel(), lengths.template data<decltype(length)>());
    });
    Tensor* const reversed = Output(0, data.sizes(), type);
    if (data.numel() == 0) return true;
    ReverseRowBytes(context_,
                    {data.dim(0), data.dim(1), data.dim(2) * static_cast<int64_t>(type.itemsize())},
                    lengths_.OnDevice(context_), data.raw_data(), reversed->raw_mutable_data());
    return true;
  }

 private:
  template <class Length>
  void FillTable(int64_t steps, int64_t batch, const Length* lengths) {
    int64_t* const table = lengths_.Resize(batch);
    for (int64_t b = 0; b < batch; ++b) {
      CAFFE_ENFORCE_LE(lengths[b], steps, "element ", b,
                       " of input 1 (lengths), want at most dim 0 of input 0 (data)");
      table[b] = std::max<int64_t>(lengths[b], 0);
    }
  }

  HostInput lengths_input_;
  HostTable<Context> lengths_;
};

}  // namespace caffe2rt
