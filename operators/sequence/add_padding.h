#pragma once
// AddPadding: adds rows of padding before and after each segment.
//   data_in [rows, inner..] float, double, int32, int64 or bool, optional lengths int32,
//   optional start_padding [inner..], optional end_padding [inner..]
//     -> data_out [rows + padding, inner..], optional lengths_out [number of segments]
//
// Without lengths, all rows are one segment. Without end_padding, start_padding is used for both;
// without both, the padding is zeros. On a device the host waits for the lengths.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/copy_rows.h"
#include "operators/sequence/padding_widths.h"

namespace caffe2rt {

[[gnu::visibility("default")]] void PadRowBytes(CPUContext& context, const PaddedSizes& sizes,
                                                const int64_t* offsets, const void* x,
                                                const void* before, const void* after, void* y);

template <class Context>
class AddPaddingOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AddPaddingOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), widths_(ReadPaddingWidths(this->args())) {}

  bool RunOnDevice() override {
    if (widths_.both() == 0) {
      CopyUnpadded(*this);
      return true;
    }
    const Tensor& data = Input(0);
    const TypeMeta type = data.dtype();
    DispatchByType<float, double, int32_t, int64_t, bool>(type, "input 0 (data_in)", [](auto) {});
    const int64_t block = data.size_from_dim(1);
    CheckPadding(2, type, block);
    CheckPadding(3, type, block);
    segments_.Read(*this);
    const void* const before = InputSize() > 2 ? Input(2).raw_data() : nullptr;
    const void* const after = InputSize() > 3 ? Input(3).raw_data() : before;
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = CheckedAdd(dims_[0], CheckedMultiply(segments_.count(), widths_.both()));
    Tensor* const padded = Output(0, dims_, type);
    WriteLengths(*this, segments_, widths_.both(), &lengths_);
    if (padded->numel() == 0) return true;
    const PaddedSizes sizes{segments_.count(), widths_.start, widths_.end, dims_[0],
                            block * static_cast<int64_t>(type.itemsize())};
    PadRowBytes(context_, sizes, segments_.OnDevice(context_), data.raw_data(), before, after,
                padded->raw_mutable_data());
    return true;
  }

 private:
  // Checks input `i`, if there is one.
  void CheckPadding(int i, TypeMeta type, int64_t block) {
    if (InputSize() <= i) return;
    const char* const name = i == 2 ? "start_padding" : "end_padding";
    const Tensor& padding = Input(i);
    CAFFE_ENFORCE(padding.dtype() == type, "input ", i, " (", name, ") has elements of type ",
                  padding.dtype().name(), ", want ", type.name(), ", as in input 0 (data_in)");
    CAFFE_ENFORCE_EQ(padding.numel(), block, "elements of input ", i, " (", name, ") of shape ",
                     padding.sizes(), ", want those of a row of input 0 (data_in) of shape ",
                     Input(0).sizes());
  }

  const PaddingWidths widths_;
  PaddedSegments<Context> segments_;
  std::vector<int64_t> dims_;
  Tensor lengths_{CPU};
};

}  // namespace caffe2rt
