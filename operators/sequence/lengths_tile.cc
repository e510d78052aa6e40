// LengthsTile: repeats each row as often as its length says. The gradient is LengthsSum.
//   data [N, ...], lengths int32 [N]  ->  output [sum of lengths, ...]

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class LengthsTileOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& lengths = Input(1);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 1 (lengths) of shape ", lengths.sizes());
    CAFFE_ENFORCE_EQ(lengths.numel(), data.dim(0),
                     "elements of input 1 (lengths), want the rows of input 0 (data) of shape ",
                     data.sizes());
    segments_.Read<int32_t>(*this, 1, "input 1 (lengths)");
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = segments_.total();
    const TypeMeta type = data.dtype();
    Tensor* const output = Output(0);
    output->Resize(dims_);
    void* const y = OutputMemory(output, type);
    if (output->numel() == 0) return true;
    const void* const x = data.raw_data();
    const int64_t items = data.size_from_dim(1);
    for (int64_t s = 0; s < segments_.count(); ++s) {
      // A source stride of 0 repeats the row.
      CopyRows(context_, type, segments_.length(s), items, ItemAt(x, type, s * items), 0,
               ItemAt(y, type, segments_.offset(s) * items), items);
    }
    return true;
  }

 private:
  SegmentOffsets<CPUContext> segments_;
  std::vector<int64_t> dims_;
};

class GetLengthsTileGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LengthsSum", "", {GO(0), I(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterLengthsTile() {
  RegisterSchema("LengthsTile", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "[N, ...], elements of any type")
      .Input(1, "lengths", "[N] int32: how often each row of data is repeated, at least 0")
      .Output(0, "output", "[sum of lengths, ...]: the repeated rows, in the order of data")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .SetDoc("Repeats each row of data as often as its length says.");
  RegisterCpuOperator<LengthsTileOp>("LengthsTile", __FILE__);
  RegisterGradient<GetLengthsTileGradient>("LengthsTile", __FILE__);
}

}  // namespace caffe2rt
