#pragma once
// RemovePadding: removes the rows of padding before and after each segment, which AddPadding adds.
//   data_in [rows, inner..] float, double, int32, int64 or bool, optional lengths int32
//     -> data_out [rows - padding, inner..], optional lengths_out [number of segments]
//
// Without lengths, all rows are one segment. On a device the host waits for the lengths.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/copy_rows.h"
#include "operators/sequence/padding_widths.h"

namespace caffe2rt {

[[gnu::visibility("default")]] void TrimRowBytes(CPUContext& context, const PaddedSizes& sizes,
                                                 const int64_t* offsets, const void* x, void* y);

template <class Context>
class RemovePaddingOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RemovePaddingOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), widths_(ReadPaddingWidths(this->args())) {}

  bool RunOnDevice() override {
    if (widths_.both() == 0) {
      CopyUnpadded(*this);
      return true;
    }
    const Tensor& data = Input(0);
    const TypeMeta type = data.dtype();
    DispatchByType<float, double, int32_t, int64_t, bool>(type, "input 0 (data_in)", [](auto) {});
    segments_.Read(*this);
    for (int64_t s = 0; s < segments_.count(); ++s) {
      CAFFE_ENFORCE_GE(segments_.length(s), widths_.both(), "length of segment ", s,
                       ", want at least padding_width + end_padding_width");
    }
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] -= segments_.count() * widths_.both();
    Tensor* const trimmed = Output(0, dims_, type);
    WriteLengths(*this, segments_, -widths_.both(), &lengths_);
    if (trimmed->numel() == 0) return true;
    const PaddedSizes sizes{segments_.count(), widths_.start, widths_.end, dims_[0],
                            data.size_from_dim(1) * static_cast<int64_t>(type.itemsize())};
    TrimRowBytes(context_, sizes, segments_.OnDevice(context_), data.raw_data(),
                 trimmed->raw_mutable_data());
    return true;
  }

 private:
  const PaddingWidths widths_;
  PaddedSegments<Context> segments_;
  std::vector<int64_t> dims_;
  Tensor lengths_{CPU};
};

}  // namespace caffe2rt
