// Recipes for normalizations, norms, losses and distances.

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

using Dims = std::vector<int64_t>;

Dims ImageDims(bool nhwc, int64_t n, int64_t c) {
  return nhwc ? Dims{n, 2, 3, c} : Dims{n, c, 2, 3};
}

void DraftSpatialBN(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const int64_t c = draft.Int(1, 3);
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 3), c), -2, 2);
  draft.FeedSmooth("scale", {c}, 0.5, 2);
  draft.FeedSmooth("bias", {c});
  draft.FeedSmooth("mean", {c});
  draft.FeedSmooth("var", {c}, 0.5, 2);
  draft
      .SetOperator(type, {"X", "scale", "bias", "mean", "var"},
                   {"Y", "mean", "var", "saved_mean", "saved_var"})
      .Argument("is_test", 0)
      .Argument("order", nhwc ? "NHWC" : "NCHW")
      .Argument("epsilon", 0.01f);
  draft.check.outputs_without_gradient = {"mean", "var", "saved_mean", "saved_var"};
}

// With given statistics, as in fine-tuning.
void DraftFrozenSpatialBN(Draft& draft, const std::string& type) {
  DraftSpatialBN(draft, type);
  OperatorDef op = draft.op();
  op.mutable_output()->DeleteSubrange(1, op.output_size() - 1);
  for (caffe2rt::Argument& arg : *op.mutable_arg()) {
    if (arg.name() == "is_test") arg.set_i(1);
  }
  draft.SetOperator(op);
  draft.check.inputs = {"X", "scale", "bias"};
}

void DraftInstanceNorm(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const int64_t c = draft.Int(1, 3);
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 2), c), -2, 2);
  draft.FeedSmooth("scale", {c}, 0.5, 2);
  draft.FeedSmooth("bias", {c});
  draft.SetOperator(type, {"X", "scale", "bias"}, {"Y", "mean", "inv_stdev"})
      .Argument("order", nhwc ? "NHWC" : "NCHW")
      .Argument("epsilon", 0.01f);
  draft.check.outputs_without_gradient = {"mean", "inv_stdev"};
}

void DraftGroupNorm(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const int64_t group = draft.Int(1, 2), c = group * draft.Int(1, 2);
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 2), c), -2, 2);
  draft.FeedSmooth("gamma", {c}, 0.5, 2);
  draft.FeedSmooth("beta", {c});
  draft.SetOperator(type, {"X", "gamma", "beta"}, {"Y", "mean", "inv_std"})
      .Argument("group", group)
      .Argument("order", nhwc ? "NHWC" : "NCHW")
      .Argument("epsilon", 0.01f);
  draft.check.outputs_without_gradient = {"mean", "inv_std"};
}

void DraftLayerNorm(Draft& draft, const std::string& type) {
  const Dims dims = {draft.Int(1, 3), draft.Int(1, 3), draft.Int(2, 4)};
  const int64_t axis = draft.Int(1, 2);
  const Dims row(dims.begin() + axis, dims.end());
  const bool affine = draft.Coin();
  draft.FeedSmooth("X", dims, -2, 2);
  draft.FeedSmooth("gamma", row, 0.5, 2);
  draft.FeedSmooth("beta", row);
  std::vector<std::string> inputs = {"X"};
  if (affine) inputs.insert(inputs.end(), {"gamma", "beta"});
  draft.SetOperator(type, inputs, {"Y", "mean", "stddev"})
      .Argument("axis", axis)
      .Argument("epsilon", 0.01f)
      .Argument("elementwise_affine", affine);
  draft.check.outputs_without_gradient = {"mean", "stddev"};
}

void DraftRmsNorm(Draft& draft, const std::string& type) {
  const Dims dims = {draft.Int(1, 3), draft.Int(1, 3), draft.Int(2, 4)};
  const int64_t axis = draft.Int(0, 2);
  const Dims row(dims.begin() + axis, dims.end());
  draft.FeedSmooth("X", dims, 0.5, 2);
  draft.FeedSmooth("gamma", row, 0.5, 2);
  draft.FeedSmooth("beta", row);
  draft.SetOperator(type, {"X", "gamma", "beta"}, {"Y", "rrms"})
      .Argument("axis", axis)
      .Argument("eps", draft.Real(0, 0.5f));
  draft.check.outputs_without_gradient = {"rrms"};
}

void DraftLRN(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 2), draft.Int(1, 5)), -2, 2);
  draft.SetOperator(type, {"X"}, {"Y", "scale"})
      .Argument("size", 2 * draft.Int(0, 2) + 1)
      .Argument("alpha", draft.Real(0.1f, 1))
      .Argument("beta", draft.Real(0.5f, 1))
      .Argument("order", nhwc ? "NHWC" : "NCHW");
  draft.check.outputs_without_gradient = {"scale"};
}

void DraftSoftmax(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(2, 3);
  draft.FeedSmooth("X", dims, -2, 2);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("axis", draft.Int(1, static_cast<int64_t>(dims.size()) - 1));
}

void DraftNormalize(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims, 0.5, 2);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("axis", draft.Int(0, static_cast<int64_t>(dims.size()) - 1));
}

void DraftLpNorm(Draft& draft, const std::string& type) {
  draft.FeedApart("X", draft.Dims(1, 3, 3));
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("p", draft.Int(1, 2))
      .Argument("average", draft.Coin());
}

std::vector<int32_t> RandomLabels(Draft& draft, int64_t count, int64_t classes) {
  std::vector<int32_t> labels(static_cast<size_t>(count));
  for (int32_t& label : labels) label = static_cast<int32_t>(draft.Int(0, classes - 1));
  return labels;
}

// Labels are classes, or with label_prob a distribution over them.
void DraftSoftmaxWithLoss(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 4), d = draft.Int(2, 4);
  const bool distribution = draft.Coin(), weighted = draft.Coin();
  draft.FeedSmooth("X", {n, d}, -2, 2);
  if (distribution) {
    draft.FeedSmooth("labels", {n, d}, 0.1, 1);
    Tensor* const labels = draft.workspace()->GetBlob("labels")->GetMutableTensor(CPU);
    if (labels->IsType<float>()) {
      for (int64_t row = 0; row < n; ++row) {
        float* const begin = labels->mutable_data<float>() + row * d;
        float sum = 0;
        for (int64_t i = 0; i < d; ++i) sum += begin[i];
        for (int64_t i = 0; i < d; ++i) begin[i] /= sum;
      }
    }
  } else {
    draft.FeedInt32("labels", {n}, RandomLabels(draft, n, d));
  }
  draft.FeedSmooth("weights", {n}, 0.5, 2);
  std::vector<std::string> inputs = {"X", "labels"};
  if (weighted) inputs.push_back("weights");
  draft.SetOperator(type, inputs, {"softmax", "loss"})
      .Argument("label_prob", distribution)
      .Argument("scale", draft.Real(0.5f, 2));
  draft.check.outputs_without_gradient = {"softmax"};
  draft.check.inputs = {"X"};
}

// Without `scale`, which in Caffe2 multiplies the gradient but not the loss.
void DraftSpatialSoftmaxWithLoss(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 2), d = draft.Int(2, 3), h = 2, w = draft.Int(1, 3);
  draft.FeedSmooth("X", {n, d, h, w}, -2, 2);
  draft.FeedInt32("labels", {n, h, w}, RandomLabels(draft, n * h * w, d));
  draft.FeedSmooth("weights", {n, h, w}, 0.5, 2);
  std::vector<std::string> inputs = {"X", "labels"};
  if (draft.Coin()) inputs.push_back("weights");
  draft.SetOperator(type, inputs, {"softmax", "loss"});
  draft.check.outputs_without_gradient = {"softmax"};
  draft.check.inputs = {"X"};
}

void DraftLabelCrossEntropy(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 4), d = draft.Int(2, 4);
  draft.FeedSmooth("X", {n, d}, 0.25, 1);
  draft.FeedInt32("labels", {n}, RandomLabels(draft, n, d));
  draft.SetOperator(type, {"X", "labels"}, {"Y"});
}

void DraftCrossEntropy(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 4), d = draft.Int(2, 4);
  draft.FeedSmooth("X", {n, d}, 0.25, 1);
  draft.FeedSmooth("labels", {n, d}, 0, 1);
  draft.SetOperator(type, {"X", "labels"}, {"Y"});
  draft.check.inputs = {"X"};
}

void DraftMakeTwoClass(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", {draft.Int(1, 4)}, 0.1, 0.9);
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftSigmoidCrossEntropy(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedApart("X", dims);
  draft.FeedSmooth("targets", dims, 0, 1);
  draft.FeedSmooth("weights", dims, 0.5, 2);
  std::vector<std::string> inputs = {"X", "targets"};
  if (type.starts_with("Weighted")) inputs.push_back("weights");
  draft.SetOperator(type, inputs, {"Y"});
  draft.check.inputs = {"X"};
}

void DraftDistance(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedApart("X", dims, true);
  draft.FeedSmooth("Y", dims, -2, -0.5);
  draft.SetOperator(type, {"X", "Y"}, {"Z"});
}

void DraftMarginRanking(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  // X2 - X1 is an odd multiple of 1/16: it is never 0, where the loss has an edge.
  draft.FeedApart("X", dims);
  draft.FeedSmooth("Z", dims, 0, 0);
  std::vector<int32_t> signs;
  for (int64_t i = 0; i < draft.workspace()->GetBlob("X")->Get<Tensor>().numel(); ++i) {
    signs.push_back(draft.Coin() ? 1 : -1);
  }
  draft.FeedInt32("S", dims, signs);
  draft.SetOperator(type, {"X", "Z", "S"}, {"L"}).Argument("margin", 0.0f);
}

void DraftBatchMoments(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(2, 4, 3));
  draft.SetOperator(type, {"X"}, {"M", "V"}).Argument("order", draft.Coin() ? "NCHW" : "NHWC");
}

// The rows of one input are longer: replicated, or padded with a value.
void DraftDotProductWithPadding(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 3), d = draft.Int(1, 3), times = draft.Int(1, 3);
  const bool longer_x = draft.Coin(), replicate = draft.Coin();
  const int64_t longer = replicate ? d * times : d + times;
  draft.FeedSmooth("X", {n, longer_x ? longer : d});
  draft.FeedSmooth("Y", {n, longer_x ? d : longer});
  draft.SetOperator(type, {"X", "Y"}, {"Z"})
      .Argument("replicate", replicate)
      .Argument("pad_value", draft.Real(-1, 1));
}

void DraftCosineEmbedding(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  // S is an odd multiple of 1/16: it is never the margin, where the loss has an edge.
  draft.FeedApart("S", dims);
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < draft.workspace()->GetBlob("S")->Get<Tensor>().numel(); ++i) {
    labels.push_back(draft.Coin() ? 1 : -1);
  }
  draft.FeedInt32("L", dims, labels);
  draft.SetOperator(type, {"S", "L"}, {"Y"}).Argument("margin", 0.25f);
}

void DraftBernoulliJsd(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims, 0.25, 0.75);
  draft.FeedSmooth("T", dims, 0, 1);
  draft.SetOperator(type, {"X", "T"}, {"L"});
  draft.check.inputs = {"X"};
}

void DraftPairWiseLoss(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(2, 4), groups = draft.Int(1, 3);
  draft.FeedSmooth("X", {n * groups});
  draft.FeedApart("label", {n * groups});
  draft.FeedInt32("lengths", {groups},
                  std::vector<int32_t>(static_cast<size_t>(groups), static_cast<int32_t>(n)));
  draft.SetOperator(type, {"X", "label", "lengths"}, {"L"});
  draft.check.inputs = {"X"};
}

void DraftAveragedLoss(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftElementwiseLinear(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 4), d = draft.Int(1, 4);
  draft.FeedSmooth("X", {n, d});
  draft.FeedSmooth("w", {d});
  draft.FeedSmooth("b", {d});
  draft.SetOperator(type, {"X", "w", "b"}, {"Y"});
}

void DraftWeightedSum(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  std::vector<std::string> inputs;
  const int64_t count = draft.Int(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    inputs.push_back("X" + std::to_string(i));
    draft.FeedSmooth(inputs.back(), dims);
    inputs.push_back("w" + std::to_string(i));
    draft.FeedSmooth(inputs.back(), {1});
  }
  draft.SetOperator(type, inputs, {"Y"}).Argument("grad_on_w", draft.Coin());
}

}  // namespace

std::vector<Recipe> LossRecipes() {
  return {
      {"SpatialBN", "", DraftSpatialBN},
      {"SpatialBN", "Frozen", DraftFrozenSpatialBN},
      {"InstanceNorm", "", DraftInstanceNorm},
      {"GroupNorm", "", DraftGroupNorm},
      {"LayerNorm", "", DraftLayerNorm},
      {"RMSNorm", "", DraftRmsNorm},
      {"LRN", "", DraftLRN},
      {"Softmax", "", DraftSoftmax},
      {"Normalize", "", DraftNormalize},
      {"LpNorm", "", DraftLpNorm},
      {"SoftmaxWithLoss", "", DraftSoftmaxWithLoss},
      {"SpatialSoftmaxWithLoss", "", DraftSpatialSoftmaxWithLoss},
      {"LabelCrossEntropy", "", DraftLabelCrossEntropy},
      {"CrossEntropy", "", DraftCrossEntropy},
      {"MakeTwoClass", "", DraftMakeTwoClass},
      {"SigmoidCrossEntropyWithLogits", "", DraftSigmoidCrossEntropy},
      {"WeightedSigmoidCrossEntropyWithLogits", "", DraftSigmoidCrossEntropy},
      {"SquaredL2Distance", "", DraftDistance},
      {"L1Distance", "", DraftDistance},
      {"DotProduct", "", DraftDistance},
      {"CosineSimilarity", "", DraftDistance},
      {"DotProductWithPadding", "", DraftDotProductWithPadding},
      {"MarginRankingCriterion", "", DraftMarginRanking},
      {"CosineEmbeddingCriterion", "", DraftCosineEmbedding},
      {"BernoulliJSD", "", DraftBernoulliJsd},
      {"PairWiseLoss", "", DraftPairWiseLoss},
      {"BatchMoments", "", DraftBatchMoments},
      {"AveragedLoss", "", DraftAveragedLoss},
      {"ElementwiseLinear", "", DraftElementwiseLinear},
      {"WeightedSum", "", DraftWeightedSum},
  };
}

}  // namespace caffe2rt::test
