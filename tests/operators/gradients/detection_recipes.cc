// Recipes for operators of detectors.

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

// Feeds 1 to 3 RoIs of `images` images, around a map with axes of 3 to 6 pixels.
void FeedRois(Draft& draft, int64_t images, bool rotated) {
  const int64_t count = draft.Int(1, 3);
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    const float x = draft.Real(-1, 4), y = draft.Real(-1, 4);
    const float w = draft.Real(0.5f, 4), h = draft.Real(0.5f, 4);
    numbers.push_back(static_cast<double>(draft.Int(0, images - 1)));
    if (rotated) {
      numbers.insert(numbers.end(), {x, y, w, h, draft.Real(-180, 180)});
    } else {
      numbers.insert(numbers.end(), {x, y, x + w, y + h});
    }
  }
  Tensor* const rois = draft.workspace()->CreateBlob("R")->GetMutableTensor(CPU);
  rois->Resize({count, rotated ? 6 : 5});
  float* const data = rois->mutable_data<float>();
  for (size_t i = 0; i < numbers.size(); ++i) data[i] = static_cast<float>(numbers[i]);
  draft.check.inputs = {"X"};
}

// RoIAlign, RoIAlignRotated
void DraftRoIAlign(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const int64_t images = draft.Int(1, 2), channels = draft.Int(1, 3);
  const int64_t height = draft.Int(3, 6), width = draft.Int(3, 6);
  draft.FeedSmooth("X", nhwc ? std::vector<int64_t>{images, height, width, channels}
                             : std::vector<int64_t>{images, channels, height, width});
  FeedRois(draft, images, type == "RoIAlignRotated");
  draft.SetOperator(type, {"X", "R"}, {"Y"})
      .Argument("pooled_h", draft.Int(1, 3))
      .Argument("pooled_w", draft.Int(1, 3))
      .Argument("sampling_ratio", draft.Int(0, 2))
      .Argument("spatial_scale", draft.Real(0.5f, 1.5f))
      .Argument("aligned", draft.Coin())
      .Argument("order", nhwc ? "NHWC" : "NCHW");
}

// RoIPool, RoIPoolF
void DraftRoIPool(Draft& draft, const std::string& type) {
  const int64_t images = draft.Int(1, 2);
  draft.FeedApart("X", {images, draft.Int(1, 2), draft.Int(3, 6), draft.Int(3, 6)});
  FeedRois(draft, images, false);
  draft.SetOperator(type, {"X", "R"}, {"Y", "argmaxes"})
      .Argument("pooled_h", draft.Int(1, 3))
      .Argument("pooled_w", draft.Int(1, 3))
      .Argument("spatial_scale", draft.Real(0.5f, 1.5f));
}

void DraftPSRoIPool(Draft& draft, const std::string& type) {
  const int64_t images = draft.Int(1, 2), group = draft.Int(1, 2), outputs = draft.Int(1, 2);
  draft.FeedSmooth("X", {images, outputs * group * group, draft.Int(3, 6), draft.Int(3, 6)});
  FeedRois(draft, images, false);
  draft.SetOperator(type, {"X", "R"}, {"Y", "channels"})
      .Argument("group_size", group)
      .Argument("output_dim", outputs)
      .Argument("spatial_scale", draft.Real(0.5f, 1.5f));
}

void DraftAffineChannel(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(2, 4);
  const bool nhwc = draft.Coin();
  const int64_t channels = nhwc ? dims.back() : dims[1];
  draft.FeedSmooth("X", dims);
  draft.FeedSmooth("scale", {channels});
  draft.FeedSmooth("bias", {channels});
  draft.SetOperator(type, {"X", "scale", "bias"}, {"Y"})
      .Argument("is_learnable", draft.Coin())
      .Argument("order", nhwc ? "NHWC" : "NCHW");
}

void DraftBatchPermutation(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < dims[0]; ++i) {
    indices.push_back(static_cast<int32_t>(draft.Int(0, dims[0] - 1)));
  }
  draft.FeedSmooth("X", dims);
  draft.FeedInt32("I", {dims[0]}, indices);
  draft.SetOperator(type, {"X", "I"}, {"Y"});
}

}  // namespace

std::vector<Recipe> DetectionRecipes() {
  return {
      {"RoIAlign", "", DraftRoIAlign},
      {"RoIAlignRotated", "", DraftRoIAlign},
      {"RoIPool", "", DraftRoIPool},
      {"RoIPoolF", "", DraftRoIPool},
      {"PSRoIPool", "", DraftPSRoIPool},
      {"AffineChannel", "", DraftAffineChannel},
      {"BatchPermutation", "", DraftBatchPermutation},
  };
}

}  // namespace caffe2rt::test
