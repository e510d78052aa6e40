// Recipes for the losses and small operators of Detectron.

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

using Dims = std::vector<int64_t>;

// `count` random labels from `low` to `high`, both included.
std::vector<int32_t> LabelsBetween(Draft& draft, int64_t count, int64_t low, int64_t high) {
  std::vector<int32_t> labels(static_cast<size_t>(count));
  for (int32_t& label : labels) label = static_cast<int32_t>(draft.Int(low, high));
  return labels;
}

// All differences are on one side of beta.
float BetaFor(Draft& draft) { return draft.Coin() ? 0.01f : 50.0f; }

void DraftSmoothL1Loss(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedApart("Y_hat", dims);
  draft.FeedSmooth("Y", dims, 0, 0);
  draft.FeedSmooth("alpha_in", dims, 0.5, 2);
  draft.FeedSmooth("alpha_out", dims, -1, 2);
  draft.SetOperator(type, {"Y_hat", "Y", "alpha_in", "alpha_out"}, {"loss"})
      .Argument("beta", BetaFor(draft))
      .Argument("scale", draft.Real(0.5f, 2));
}

void DraftSelectSmoothL1Loss(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 2), c = draft.Int(4, 6), h = draft.Int(1, 2), w = draft.Int(1, 2);
  const int64_t boxes = draft.Int(1, 4);
  draft.FeedApart("Y_hat", {n, c, h, w});
  draft.FeedSmooth("Y", {boxes, 4}, 0, 0);
  draft.FeedSmooth("locations", {boxes, 4}, 0, 0);
  Tensor* const locations = draft.workspace()->GetBlob("locations")->GetMutableTensor(CPU);
  if (locations->IsType<float>()) {
    float* at = locations->mutable_data<float>();
    for (int64_t i = 0; i < boxes; ++i) {
      for (const int64_t size : {n, c - 3, h, w})
        *at++ = static_cast<float>(draft.Int(0, size - 1));
    }
  }
  draft.FeedSmooth("normalizer", {1}, 0, 3);
  draft.SetOperator(type, {"Y_hat", "Y", "locations", "normalizer"}, {"loss"})
      .Argument("beta", BetaFor(draft))
      .Argument("scale", draft.Real(0.5f, 2));
}

void DraftSigmoidCrossEntropyLoss(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 2);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  draft.FeedSmooth("X", dims, -3, 3);
  draft.FeedInt32("targets", dims, LabelsBetween(draft, count, -1, 1));
  draft.SetOperator(type, {"X", "targets"}, {"loss"})
      .Argument("normalize", draft.Coin())
      .Argument("scale", draft.Real(0.5f, 2));
}

void DraftFocalLoss(Draft& draft, const std::string& type) {
  const bool softmax = type == "SoftmaxFocalLoss";
  const int64_t n = draft.Int(1, 2), anchors = draft.Int(1, 2), classes = draft.Int(1, 3);
  const int64_t w = draft.Int(1, 3);
  draft.FeedSmooth("X", {n, anchors * classes, 2, w}, -2, 2);
  draft.FeedInt32("labels", {n, anchors, 2, w},
                  LabelsBetween(draft, n * anchors * 2 * w, -1, softmax ? classes - 1 : classes));
  draft.FeedSmooth("normalizer", {1}, 0, 3);
  std::vector<std::string> outputs = {"loss"};
  if (softmax) outputs.push_back("probabilities");
  draft.SetOperator(type, {"X", "labels", "normalizer"}, outputs)
      .Argument("num_classes", classes)
      .Argument("alpha", draft.Real(0, 1))
      .Argument("gamma", draft.Real(0, 3))
      .Argument("scale", draft.Real(0.5f, 2));
  if (softmax) draft.check.outputs_without_gradient = {"probabilities"};
}

void DraftGroupSpatialSoftmax(Draft& draft, const std::string& type) {
  const int64_t classes = draft.Int(1, 3);
  draft.FeedSmooth("X", {draft.Int(1, 2), draft.Int(1, 2) * classes, 2, draft.Int(1, 3)}, -2, 2);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("num_classes", classes);
}

void DraftSampleAs(Draft& draft, const std::string& type) {
  const Dims dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims);
  draft.FeedInt32("labels", {dims[0]}, LabelsBetween(draft, dims[0], -1, 2));
  draft.SetOperator(type, {"X", "labels"}, {"Y"});
}

void DraftSpatialNarrowAs(Draft& draft, const std::string& type) {
  Dims dims = draft.Dims(3, 4);
  draft.FeedSmooth("A", dims);
  for (size_t i = dims.size() - 2; i < dims.size(); ++i) dims[i] = draft.Int(1, dims[i]);
  draft.FeedSmooth("B", dims);
  draft.SetOperator(type, {"A", "B"}, {"C"});
}

}  // namespace

std::vector<Recipe> DetectronRecipes() {
  return {
      {"SmoothL1Loss", "", DraftSmoothL1Loss},
      {"SelectSmoothL1Loss", "", DraftSelectSmoothL1Loss},
      {"SigmoidCrossEntropyLoss", "", DraftSigmoidCrossEntropyLoss},
      {"SigmoidFocalLoss", "", DraftFocalLoss},
      {"SoftmaxFocalLoss", "", DraftFocalLoss},
      {"GroupSpatialSoftmax", "", DraftGroupSpatialSoftmax},
      {"SampleAs", "", DraftSampleAs},
      {"SpatialNarrowAs", "", DraftSpatialNarrowAs},
  };
}

}  // namespace caffe2rt::test
