// PackRNNSequence: moves sequences that follow one another to the layout of recurrent operators,
// with the steps outside. UnpackRNNSequence: the reverse. Each is the gradient of the other.
//   values [rows, D..], lengths int32 [N]  ->  output [T, N, D..], T the longest length
//   values [T, N, D..], lengths int32 [N]  ->  output [sum of lengths, D..]
// Rows after the last sequence are ignored, and so are steps after the longest one.
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

// Both operators: kPack is whether steps become the first dimension.
template <bool kPack>
class RNNSequenceOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    constexpr int kOuter = kPack ? 1 : 2;  // dimensions before those of a row
    const Tensor& values = Input(0);
    const Tensor& lengths = Input(1);
    RequireElementsOf<float, double, int32_t, int64_t>(values, "input 0 (values)");
    CAFFE_ENFORCE_GT(values.dim(), kOuter, "rank of input 0 (values) of shape ", values.sizes());
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 1 (lengths) of shape ", lengths.sizes());
    if (!kPack) {
      CAFFE_ENFORCE_EQ(lengths.numel(), values.dim(1),
                       "elements of input 1 (lengths), want dim 1 of input 0 (values) of shape ",
                       values.sizes());
    }
    sequences_.Read<int32_t>(*this, 1, "input 1 (lengths)");
    CAFFE_ENFORCE_LE(kPack ? sequences_.total() : sequences_.longest(), values.dim(0),
                     kPack ? "sum of the lengths" : "longest of input 1 (lengths)",
                     ", want at most dim 0 of input 0 (values) of shape ", values.sizes());
    const int64_t count = sequences_.count(), block = values.size_from_dim(kOuter);
    dims_.assign(values.dims().begin() + kOuter - 1, values.dims().end());
    dims_[0] = kPack ? count : sequences_.total();
    if (kPack) dims_.insert(dims_.begin(), sequences_.longest());
    const TypeMeta type = values.dtype();
    Tensor* const output = Output(0, dims_, type);
    if (output->numel() == 0) return true;
    void* const y = output->raw_mutable_data(type);
    const void* const x = values.raw_data();
    if (kPack) FillZeros(context_, output->nbytes(), y);
    // The steps of a sequence are `count` rows apart in the packed tensor.
    for (int64_t s = 0; s < count; ++s) {
      const int64_t packed = s * block, row = sequences_.offset(s) * block;
      CopyRows(context_, type, sequences_.length(s), block, ItemAt(x, type, kPack ? row : packed),
               kPack ? block : count * block, ItemAt(y, type, kPack ? packed : row),
               kPack ? count * block : block);
    }
    return true;
  }

 private:
  SegmentOffsets<CPUContext> sequences_;
  std::vector<int64_t> dims_;
};

class GetPackRNNSequenceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const bool packs = def_.type() == "PackRNNSequence";
    return SingleGradientDef(packs ? "UnpackRNNSequence" : "PackRNNSequence", "", {GO(0), I(1)},
                             {GI(0)});
  }
};

OpSchema& RegisterRNNSequence(const char* type) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(1, "lengths", "[N] int32: the steps of each sequence")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT32,
                                     TensorProto::INT64}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .Traits({.family = OperatorFamily::kShape});
}

}  // namespace

void RegisterPackRnnSequence() {
  RegisterRNNSequence("PackRNNSequence")
      .Input(0, "values",
             "[rows, D..] float, double, int32 or int64, at least as many rows as lengths add up "
             "to: all sequences, in order")
      .Output(0, "output", "[T, N, D..], T the longest length: step t of sequence n, or zeros")
      .SetDoc(
          "Moves sequences that follow one another to the layout of recurrent operators. Rows "
          "after "
          "the last sequence are ignored, and have no gradient.");
  RegisterCpuOperator<RNNSequenceOp<true>>("PackRNNSequence", __FILE__);
  RegisterGradient<GetPackRNNSequenceGradient>("PackRNNSequence", __FILE__);

  RegisterRNNSequence("UnpackRNNSequence")
      .Input(0, "values",
             "[T, N, D..] float, double, int32 or int64, T at least the longest length: step t of "
             "sequence n")
      .Output(0, "output", "[sum of lengths, D..]: all sequences, in order")
      .SetDoc(
          "Moves sequences from the layout of recurrent operators to one after the other. Steps "
          "after the longest sequence are ignored, and have no gradient.");
  RegisterCpuOperator<RNNSequenceOp<false>>("UnpackRNNSequence", __FILE__);
  RegisterGradient<GetPackRNNSequenceGradient>("UnpackRNNSequence", __FILE__);
}

}  // namespace caffe2rt
