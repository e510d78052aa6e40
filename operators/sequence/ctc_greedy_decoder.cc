// CTCGreedyDecoder: the labels of the best class at each step of a sequence, without blanks and
// repetitions.
//   INPUTS float [T, N, C], optional SEQ_LEN int32 [N]
//   ->  OUTPUT_LEN int32 [N], VALUES int32 [sum of OUTPUT_LEN]
#include <algorithm>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/sequence/ctc_scores.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kCtcMergeRepeated{
    "merge_repeated", true, "1: equal labels of consecutive steps count as one label"};

class CTCGreedyDecoderOp final : public Operator<CPUContext> {
 public:
  CTCGreedyDecoderOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), merge_repeated_(ReadArgument(kCtcMergeRepeated)) {}

  bool RunOnDevice() override {
    const CtcScores scores(*this);
    int32_t* const lengths = OutputData<int32_t>(0, {scores.sequences()});
    values_.clear();
    for (int64_t n = 0; n < scores.sequences(); ++n) {
      const size_t begin = values_.size();
      Decode(scores, n);
      lengths[n] = static_cast<int32_t>(values_.size() - begin);
    }
    std::copy(values_.begin(), values_.end(),
              OutputData<int32_t>(1, {static_cast<int64_t>(values_.size())}));
    return true;
  }

 private:
  void Decode(const CtcScores& scores, int64_t n) {
    int32_t previous = 0;
    for (int64_t t = 0; t < scores.steps(n); ++t) {
      const float* const row = scores.At(t, n);
      const auto label = static_cast<int32_t>(std::max_element(row, row + scores.classes()) - row);
      if (label != 0 && !(merge_repeated_ && label == previous)) values_.push_back(label);
      previous = label;
    }
  }

  const bool merge_repeated_;
  std::vector<int32_t> values_;
};

}  // namespace

void RegisterCtcGreedyDecoder() {
  RegisterSchema("CTCGreedyDecoder", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2)
      .Arg(kCtcMergeRepeated)
      .Input(0, "INPUTS", "[T, N, C] float: scores of C classes at T steps; class 0 is the blank")
      .Input(1, "SEQ_LEN", "[N] int32: the steps of each sequence (optional; default: T)")
      .Output(0, "OUTPUT_LEN", "[N] int32: the number of labels of each sequence")
      .Output(1, "VALUES", "int32: the labels of all sequences, one after the other")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(2, UnknownShapeOf(TensorProto::INT32));
        if (!in.empty() && IsKnown(in[0]) && in[0].dims_size() == 3) {
          out[0] = CreateTensorShape(std::vector<int64_t>{in[0].dims(1)}, TensorProto::INT32);
        }
        return out;
      })
      .SetDoc(
          "Decodes sequences of connectionist temporal classification: takes the class with the "
          "greatest score at each step (the first of equal ones), merges repetitions and removes "
          "blanks.");
  RegisterCpuOperator<CTCGreedyDecoderOp>("CTCGreedyDecoder", __FILE__);
  // Labels are no differentiable function of the scores.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CTCGreedyDecoder", __FILE__);
}

}  // namespace caffe2rt
