// ViterbiPath: the best path through a linear-chain conditional random field.
//   predictions float [T, L], transitions float [L, L]  ->  viterbi_path int32 [T]
// SwapBestPath: exchanges the greatest score of each row with the one that a path names.
//   predictions float [T, L], bestPath int32 [T]  ->  new_predictions float [T, L]
#include <algorithm>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class ViterbiPathOp final : public Operator<CPUContext> {
 public:
  ViterbiPathOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& predictions = Input(0);
    const Tensor& transitions = Input(1);
    CAFFE_ENFORCE(predictions.dim() == 2 && predictions.numel() > 0,
                  "input 0 (predictions) has shape ", predictions.sizes(),
                  ", want a matrix that is not empty");
    const int64_t steps = predictions.dim(0);
    labels_ = CheckedCast<int32_t>(predictions.dim(1), "columns of input 0 (predictions)");
    CAFFE_ENFORCE(
        transitions.dim() == 2 && transitions.dim(0) == labels_ && transitions.dim(1) == labels_,
        "input 1 (transitions) has shape ", transitions.sizes(), ", want [", labels_, ", ", labels_,
        "], as input 0 (predictions) has ", labels_, " columns");
    RequireElements<float>(predictions);
    RequireElements<float>(transitions);
    const float* row = predictions.data<float>();
    const auto columns = static_cast<size_t>(labels_);
    scores_.assign(row, row + labels_);
    from_.resize(CheckedMultiply<size_t>(static_cast<size_t>(steps), columns));
    for (int64_t t = 1; t < steps; ++t) {
      row += labels_;
      Advance(row, transitions.data<float>(), from_.data() + static_cast<size_t>(t) * columns);
      scores_.swap(next_);
    }
    int32_t* const path = OutputData<int32_t>(0, {steps});
    path[steps - 1] =
        static_cast<int32_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
    for (int64_t t = steps - 1; t > 0; --t) {
      path[t - 1] = from_[static_cast<size_t>(t) * columns + static_cast<size_t>(path[t])];
    }
    return true;
  }

 private:
  // The score of the best path to each label of the next step, and the label before it.
  void Advance(const float* row, const float* transitions, int32_t* from) {
    next_.resize(scores_.size());
    for (int32_t to = 0; to < labels_; ++to) {
      float best = scores_[0] + transitions[to];
      from[to] = 0;
      for (int32_t i = 1; i < labels_; ++i) {
        const float score =
            scores_[static_cast<size_t>(i)] + transitions[static_cast<int64_t>(i) * labels_ + to];
        if (!(score > best)) continue;
        best = score;
        from[to] = i;
      }
      next_[static_cast<size_t>(to)] = best + row[to];
    }
  }

  int32_t labels_ = 0;
  std::vector<float> scores_, next_;
  std::vector<int32_t> from_;  // [T, L], row 0 is not used
};

class SwapBestPathOp final : public Operator<CPUContext> {
 public:
  SwapBestPathOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& predictions = Input(0);
    const Tensor& path = Input(1);
    CAFFE_ENFORCE_EQ(predictions.dim(), 2, "rank of input 0 (predictions) of shape ",
                     predictions.sizes());
    const int64_t steps = predictions.dim(0), labels = predictions.dim(1);
    CAFFE_ENFORCE(path.dim() == 1 && path.dim(0) == steps, "input 1 (bestPath) has shape ",
                  path.sizes(), ", want [", steps, "], the rows of input 0 (predictions)");
    RequireElements<float>(predictions);
    RequireElements<int32_t>(path);
    const int32_t* const label = path.data<int32_t>();
    for (int64_t t = 0; t < steps; ++t) {
      CAFFE_ENFORCE(label[t] >= 0 && label[t] < labels, "element ", t, " of input 1 (bestPath) is ",
                    label[t], ", want 0 to ", labels - 1);
    }
    const float* const x = predictions.data<float>();
    float* row = OutputData<float>(0, predictions.sizes());
    std::copy_n(x, predictions.numel(), row);
    for (int64_t t = 0; t < steps; ++t, row += labels) {
      std::swap(*std::max_element(row, row + labels), row[label[t]]);
    }
    return true;
  }
};

}  // namespace

void RegisterViterbiPath() {
  RegisterSchema("ViterbiPath", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "predictions", "[T, L] float: the scores of L labels at T steps, at least one each")
      .Input(1, "transitions", "[L, L] float: the scores of a label (row) before another (column)")
      .Output(0, "viterbi_path", "[T] int32: the labels of the path with the greatest score")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (in.empty() || !IsKnown(in[0]) || in[0].dims_size() != 2) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::INT32)};
        }
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{in[0].dims(0)}, TensorProto::INT32)};
      })
      .SetDoc(
          "Finds the path with the greatest sum of scores through a linear-chain conditional "
          "random field. Among equal paths, lower labels count, from the last step to the first.");
  RegisterCpuOperator<ViterbiPathOp>("ViterbiPath", __FILE__);

  RegisterSchema("SwapBestPath", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "predictions", "[T, L] float: the scores of L labels at T steps")
      .Input(1, "bestPath", "[T] int32: a label for each step")
      .Output(0, "new_predictions", "[T, L] float: the scores, of which two of each row changed")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Exchanges the greatest score of each row, the first of equal ones, with the score of "
          "the label that bestPath has, so that this label has the greatest score.");
  RegisterCpuOperator<SwapBestPathOp>("SwapBestPath", __FILE__);
  // Paths are labels; Caffe2 has no gradient of either.
  for (const char* type : {"ViterbiPath", "SwapBestPath"})
    RegisterGradient<NoGradient>(type, __FILE__);
}

}  // namespace caffe2rt
