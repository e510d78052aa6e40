// Recipes for operators on images: convolutions, pools, padding, resizing.

#include <algorithm>

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

using Dims = std::vector<int64_t>;

struct Windows {
  Dims kernels, strides, pads, dilations;  // pads: heads, then tails
  bool nhwc = false;
};

// Windows over `axes` axes; a pad is smaller than the kernel.
Windows RandomWindows(Draft& draft, int64_t axes, bool dilated) {
  Windows windows;
  windows.nhwc = draft.Coin();
  for (int64_t axis = 0; axis < axes; ++axis) {
    windows.kernels.push_back(draft.Int(1, 3));
    windows.strides.push_back(draft.Int(1, 2));
    windows.dilations.push_back(dilated ? draft.Int(1, 2) : 1);
  }
  for (int64_t i = 0; i < 2 * axes; ++i) {
    windows.pads.push_back(draft.Int(0, windows.kernels[static_cast<size_t>(i % axes)] - 1));
  }
  return windows;
}

void StateWindows(Draft& draft, const Windows& windows) {
  draft.Argument("kernels", windows.kernels)
      .Argument("strides", windows.strides)
      .Argument("pads", windows.pads)
      .Argument("order", windows.nhwc ? "NHWC" : "NCHW");
  if (*std::max_element(windows.dilations.begin(), windows.dilations.end()) > 1) {
    draft.Argument("dilations", windows.dilations);
  }
}

// [N, C, axes...] or [N, axes..., C].
Dims ImageDims(bool nhwc, int64_t n, int64_t c, const Dims& axes) {
  Dims dims = {n};
  if (!nhwc) dims.push_back(c);
  dims.insert(dims.end(), axes.begin(), axes.end());
  if (nhwc) dims.push_back(c);
  return dims;
}

// Axes that hold each window at least once.
Dims RandomAxes(Draft& draft, const Windows& windows) {
  Dims axes;
  for (size_t i = 0; i < windows.kernels.size(); ++i) {
    const int64_t reach = (windows.kernels[i] - 1) * windows.dilations[i] + 1;
    axes.push_back(draft.Int(reach, reach + 2));
  }
  return axes;
}

// The number of spatial axes in the name of a type such as MaxPool1D, else `otherwise`.
int64_t AxesOf(const std::string& type, int64_t otherwise) {
  const size_t digit = type.find_first_of("123");
  return digit == std::string::npos ? otherwise : type[digit] - '0';
}

void DraftConv(Draft& draft, const std::string& type) {
  const Windows windows = RandomWindows(draft, AxesOf(type, draft.Int(1, 3)), true);
  const Dims axes = RandomAxes(draft, windows);
  const int64_t group = draft.Int(1, 2), c = group * draft.Int(1, 2), m = group * draft.Int(1, 2);
  draft.FeedSmooth("X", ImageDims(windows.nhwc, draft.Int(1, 2), c, axes));
  draft.FeedSmooth("W", ImageDims(windows.nhwc, m, c / group, windows.kernels));
  draft.FeedSmooth("b", {m});
  const bool bias = draft.Coin();
  draft.SetOperator(
      type, bias ? std::vector<std::string>{"X", "W", "b"} : std::vector<std::string>{"X", "W"},
      {"Y"});
  StateWindows(draft, windows);
  draft.Argument("group", group);
  if (!bias) draft.Argument("no_bias", 1);
}

// A filter for each output position.
void DraftLocallyConnected(Draft& draft, const std::string& type) {
  const Windows windows = RandomWindows(draft, AxesOf(type, draft.Int(1, 3)), true);
  const Dims axes = RandomAxes(draft, windows);
  const size_t count = axes.size();
  Dims filters;
  for (size_t i = 0; i < count; ++i) {
    const int64_t reach = (windows.kernels[i] - 1) * windows.dilations[i] + 1;
    filters.push_back(
        (axes[i] + windows.pads[i] + windows.pads[count + i] - reach) / windows.strides[i] + 1);
  }
  const int64_t c = draft.Int(1, 2), m = draft.Int(1, 2);
  Dims biases = filters;
  biases.push_back(m);
  const Dims filter = ImageDims(windows.nhwc, m, c, windows.kernels);
  filters.insert(filters.end(), filter.begin(), filter.end());
  draft.FeedSmooth("X", ImageDims(windows.nhwc, draft.Int(1, 2), c, axes));
  draft.FeedSmooth("W", filters);
  draft.FeedSmooth("b", biases);
  const bool bias = draft.Coin();
  draft.SetOperator(
      type, bias ? std::vector<std::string>{"X", "W", "b"} : std::vector<std::string>{"X", "W"},
      {"Y"});
  StateWindows(draft, windows);
}

void DraftConvTranspose(Draft& draft, const std::string& type) {
  const Windows windows = RandomWindows(draft, 2, false);
  const Dims axes = {draft.Int(2, 3), draft.Int(2, 3)};
  const int64_t group = draft.Int(1, 2), c = group * draft.Int(1, 2), m = draft.Int(1, 2);
  draft.FeedSmooth("X", ImageDims(windows.nhwc, draft.Int(1, 2), c, axes));
  draft.FeedSmooth("W", ImageDims(windows.nhwc, c, m, windows.kernels));
  draft.FeedSmooth("b", {m * group});
  const bool bias = draft.Coin();
  draft.SetOperator(
      type, bias ? std::vector<std::string>{"X", "W", "b"} : std::vector<std::string>{"X", "W"},
      {"Y"});
  StateWindows(draft, windows);
  draft.Argument("group", group);
  if (!bias) draft.Argument("no_bias", 1);
}

void DraftPool(Draft& draft, const std::string& type) {
  const Windows windows = RandomWindows(draft, AxesOf(type, draft.Int(1, 3)), false);
  const Dims dims =
      ImageDims(windows.nhwc, draft.Int(1, 2), draft.Int(1, 2), RandomAxes(draft, windows));
  // The values of a window of MaxPool must keep their order; those of LpPool are far from 0.
  draft.FeedApart("X", dims, true);
  draft.SetOperator(type, {"X"}, {"Y"});
  StateWindows(draft, windows);
  if (type.starts_with("Average")) draft.Argument("count_include_pad", draft.Coin());
  if (type == "LpPool") draft.Argument("p", 2.0f);
}

void DraftGlobalPool(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const Dims axes = draft.Dims(AxesOf(type, 2), AxesOf(type, 2), 3);
  draft.FeedApart("X", ImageDims(nhwc, draft.Int(1, 2), draft.Int(1, 2), axes), true);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("global_pooling", 1)
      .Argument("order", nhwc ? "NHWC" : "NCHW");
}

void DraftImagePool(Draft& draft, const std::string& type) {
  Windows windows = RandomWindows(draft, 2, false);
  windows.nhwc = false;
  draft.FeedApart(
      "X", ImageDims(false, draft.Int(1, 2), draft.Int(1, 2), RandomAxes(draft, windows)), true);
  draft.SetOperator(
      type, {"X"},
      type == "LpPool" ? std::vector<std::string>{"Y"} : std::vector<std::string>{"Y", "index"});
  StateWindows(draft, windows);
  if (type == "LpPool") draft.Argument("p", 2.0f);
}

void DraftPadImage(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const Dims axes = {draft.Int(3, 4), draft.Int(3, 4)};
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 2), draft.Int(1, 2), axes));
  static constexpr const char* kModes[] = {"constant", "reflect", "edge"};
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("mode", kModes[draft.Int(0, 2)])
      .Argument("order", nhwc ? "NHWC" : "NCHW")
      .Argument("pads", Dims{draft.Int(0, 2), draft.Int(0, 2), draft.Int(0, 2), draft.Int(0, 2)});
}

void DraftResize(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", ImageDims(false, 1, draft.Int(1, 2), {draft.Int(2, 4), draft.Int(2, 4)}));
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("height_scale", draft.Coin() ? 2.0f : 1.5f)
      .Argument("width_scale", draft.Coin() ? 2.0f : 0.5f);
}

void DraftVideoResize(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", {1, draft.Int(1, 2), draft.Int(2, 3), draft.Int(2, 3), draft.Int(2, 3)});
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("temporal_scale", draft.Coin() ? 2.0f : 1.0f)
      .Argument("height_scale", 2.0f)
      .Argument("width_scale", 2.0f);
}

void DraftIntegralImage(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(4, 4, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftUpsampleNearest(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(4, 4, 3));
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("scale", draft.Int(1, 3));
}

void DraftChannelShuffle(Draft& draft, const std::string& type) {
  const bool nhwc = draft.Coin();
  const int64_t group = draft.Int(1, 3);
  draft.FeedSmooth("X", ImageDims(nhwc, draft.Int(1, 2), group * draft.Int(1, 3),
                                  {draft.Int(1, 3), draft.Int(1, 3)}));
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("group", group)
      .Argument("order", nhwc ? "NHWC" : "NCHW")
      .Argument("kernel", 1);
}

void DraftSpaceToBatch(Draft& draft, const std::string& type) {
  const int64_t n = draft.Int(1, 2), c = draft.Int(1, 2), pad = draft.Int(0, 1);
  const bool batch_first = type == "BatchToSpace";
  draft.FeedSmooth("X", {batch_first ? 4 * n : n, c, batch_first ? 2 : 4, batch_first ? 3 : 2});
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("block_size", 2).Argument("pad", pad);
}

}  // namespace

std::vector<Recipe> WindowRecipes() {
  std::vector<Recipe> recipes;
  for (const char* type : {"Conv", "Conv1D", "Conv2D", "Conv3D"}) {
    recipes.push_back({type, "", DraftConv});
  }
  recipes.push_back({"ConvTranspose", "", DraftConvTranspose});
  for (const char* type : {"LC", "LC1D", "LC2D", "LC3D"}) {
    recipes.push_back({type, "", DraftLocallyConnected});
  }
  for (const char* type : {"AveragePool", "AveragePool1D", "AveragePool2D", "AveragePool3D",
                           "MaxPool", "MaxPool1D", "MaxPool2D", "MaxPool3D"}) {
    recipes.push_back({type, "", DraftPool});
    recipes.push_back({type, "Global", DraftGlobalPool});
  }
  recipes.push_back({"LpPool", "", DraftImagePool});
  recipes.push_back({"MaxPoolWithIndex", "", DraftImagePool});
  recipes.push_back({"PadImage", "", DraftPadImage});
  recipes.push_back({"ResizeNearest", "", DraftResize});
  recipes.push_back({"ResizeNearest3D", "", DraftVideoResize});
  recipes.push_back({"IntegralImage", "", DraftIntegralImage});
  recipes.push_back({"UpsampleBilinear", "", DraftResize});
  recipes.push_back({"UpsampleNearest", "", DraftUpsampleNearest});
  recipes.push_back({"ChannelShuffle", "", DraftChannelShuffle});
  recipes.push_back({"SpaceToBatch", "", DraftSpaceToBatch});
  recipes.push_back({"BatchToSpace", "", DraftSpaceToBatch});
  return recipes;
}

}  // namespace caffe2rt::test
