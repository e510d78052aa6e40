// BooleanMaskLengths: how many elements of each segment a mask keeps.
//   lengths int32 or int64 [S], mask bool [sum of lengths]  ->  masked_lengths [S]
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class BooleanMaskLengthsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& mask = Input(1);
    CAFFE_ENFORCE_EQ(Input(0).dim(), 1, "rank of input 0 (lengths) of shape ", Input(0).sizes());
    CAFFE_ENFORCE_EQ(mask.dim(), 1, "rank of input 1 (mask) of shape ", mask.sizes());
    RequireElements<bool>(mask);
    DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (lengths)", [&](auto length) {
      using Length = decltype(length);
      segments_.Read<Length>(*this, 0, "input 0 (lengths)");
      CAFFE_ENFORCE_EQ(segments_.total(), mask.numel(),
                       "sum of the lengths, want the elements of input 1 (mask)");
      const bool* const keep = mask.data<bool>();
      Length* const kept = OutputData<Length>(0, {segments_.count()});
      for (int64_t s = 0; s < segments_.count(); ++s) {
        kept[s] = static_cast<Length>(
            std::count(keep + segments_.offset(s), keep + segments_.offset(s + 1), true));
      }
    });
    return true;
  }

 private:
  SegmentOffsets<CPUContext> segments_;
};

}  // namespace

void RegisterBooleanMaskLengths() {
  RegisterSchema("BooleanMaskLengths", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "lengths", "[S] int32 or int64: the number of elements of each segment")
      .Input(1, "mask", "[sum of lengths] bool: the elements to keep")
      .Output(0, "masked_lengths", "[S], the type of lengths: the true elements of each segment")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .TypesOfInput(1, {.accepted = {TensorProto::BOOL}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Counts the elements of each segment that a mask keeps (see BooleanMask).");
  RegisterCpuOperator<BooleanMaskLengthsOp>("BooleanMaskLengths", __FILE__);
  RegisterGradient<NoGradient>("BooleanMaskLengths", __FILE__);
}

}  // namespace caffe2rt
