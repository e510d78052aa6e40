#pragma once
// GatherPadding: sums up the rows of padding of all segments. It is the gradient of the paddings of
// AddPadding.
//   data_in [rows, inner..] float, double, int32 or int64, lengths int32
//     -> padding_sum [inner..], optional end_padding_sum [inner..]
//
// With one output, both sums are added up in it. On a device the host waits for the lengths.

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/copy_rows.h"
#include "operators/sequence/padding_widths.h"

namespace caffe2rt {

// Instantiated for float, double, int32_t and int64_t.
template <class T>
void SumPadding(CPUContext& context, const PaddingSums& sizes, const int64_t* offsets, const T* x,
                T* before, T* after);

template <class Context>
class GatherPaddingOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GatherPaddingOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), widths_(ReadPaddingWidths(this->args())) {}

  bool RunOnDevice() override {
    if (widths_.both() == 0) return WriteZeros();
    return DispatchByType<float, double, int32_t, int64_t>(
        Input(0).dtype(), "input 0 (data_in)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  // As in Caffe2: without padding, the sums are scalars of int64, whatever the data holds.
  bool WriteZeros() {
    for (int i = 0; i < this->OutputSize(); ++i) {
      FillZeros(context_, sizeof(int64_t), this->template OutputData<int64_t>(i, {}));
    }
    return true;
  }

  template <class T>
  bool RunWith() {
    const Tensor& data = Input(0);
    segments_.Read(*this);
    // A segment shorter than its padding shares rows with its neighbours.
    for (int64_t s = 0; s < segments_.count(); ++s) {
      CAFFE_ENFORCE(segments_.offset(s) + widths_.start <= data.dim(0) &&
                        segments_.offset(s + 1) >= widths_.end,
                    "length of segment ", s, " is ", segments_.length(s),
                    ", want at least padding_width and end_padding_width");
    }
    const IntArrayRef inner = data.sizes().slice(1);
    T* const before = this->template OutputData<T>(0, inner);
    T* const after = this->OutputSize() > 1 ? this->template OutputData<T>(1, inner) : nullptr;
    const int64_t block = data.size_from_dim(1);
    if (block == 0) return true;
    SumPadding(context_, {segments_.count(), widths_.start, widths_.end, block},
               segments_.OnDevice(context_), data.template data<T>(), before, after);
    return true;
  }

  const PaddingWidths widths_;
  PaddedSegments<Context> segments_;
};

}  // namespace caffe2rt
