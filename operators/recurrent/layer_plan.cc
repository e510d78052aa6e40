#include "operators/recurrent/layer_plan.h"

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kLayerDirection{"direction", "forward",
                                                    "forward, reverse or bidirectional"};
constexpr ArgumentSpec<int> kLayerLayout{
    "layout",
    0,
    "0: the time steps are the first axis; 1: the batch is",
    {[](int layout) { return layout == 0 || layout == 1; }, "0 or 1"}};
constexpr ArgumentSpec<float> kLayerClip{
    "clip",
    0.f,
    "above 0: the inputs of activations are limited to -clip and clip; 0: they are not",
    {[](float clip) { return clip >= 0; }, "at least 0"}};
constexpr ArgumentSpec<bool> kLayerInputForget{"input_forget", false,
                                               "1: the forget gate is 1 minus the input gate"};
constexpr ArgumentSpec<bool> kLayerLinearBeforeReset{
    "linear_before_reset", false,
    "1: the reset gate multiplies the product of R and its bias; 0: the hidden state"};
constexpr ArgumentSpec<int64_t> kLayerHiddenSize{"hidden_size", 0,
                                                 "the size of the hidden state; 0: that of R"};
constexpr RepeatedArgumentSpec<std::string> kLayerActivationNames{
    "activations", "the activations of the cell, of both directions if there are two"};
constexpr RepeatedArgumentSpec<float> kLayerAlphas{
    "activation_alpha", "the parameters alpha of the activations that have one"};
constexpr RepeatedArgumentSpec<float> kLayerBetas{
    "activation_beta", "the parameters beta of the activations that have one"};

}  // namespace

LayerArguments::LayerArguments(const ArgumentHelper& args, int functions,
                               const char* const* defaults)
    : batch_first(args.Read(kLayerLayout) == 1),
      clip(args.Read(kLayerClip)),
      input_forget(args.Read(kLayerInputForget)),
      linear_before_reset(args.Read(kLayerLinearBeforeReset)),
      hidden_size(args.Read(kLayerHiddenSize)) {
  const std::string direction = args.Read(kLayerDirection);
  CAFFE_ENFORCE(direction == "forward" || direction == "reverse" || direction == "bidirectional",
                "argument direction is \"", direction,
                "\", want forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  reverse = direction == "reverse";
  std::vector<std::string> names = args.Read(kLayerActivationNames);
  const size_t want = static_cast<size_t>(functions * directions);
  if (names.empty()) {
    for (size_t i = 0; i < want; ++i) names.push_back(defaults[i % static_cast<size_t>(functions)]);
  }
  CAFFE_ENFORCE_EQ(names.size(), want, "names in argument activations");
  activations = ParseLayerActivations(names, args.Read(kLayerAlphas), args.Read(kLayerBetas));
}

LayerSizes MakeLayerSizes(const LayerArguments& arguments, int gates, IntArrayRef x, IntArrayRef w,
                          IntArrayRef r) {
  CAFFE_ENFORCE_EQ(x.size(), 3u, "rank of input 0 (X) of shape ", x);
  CAFFE_ENFORCE(r.size() == 3 && r[0] == arguments.directions &&
                    r[1] == CheckedMultiply<int64_t>(r[2], gates),
                "input 2 (R) has shape ", r, ", want [", arguments.directions, ", ", gates,
                " * H, H] for the hidden size H");
  CAFFE_ENFORCE(w.size() == 3 && w[0] == arguments.directions && w[1] == r[1] && w[2] == x[2],
                "input 1 (W) has shape ", w, ", want [", arguments.directions, ", ", r[1], ", ",
                x[2], "] for inputs 0 (X) and 2 (R)");
  CAFFE_ENFORCE(arguments.hidden_size == 0 || arguments.hidden_size == r[2],
                "argument hidden_size is ", arguments.hidden_size, ", want ", r[2],
                " as input 2 (R) of shape ", r);
  LayerSizes sizes;
  sizes.directions = arguments.directions;
  sizes.steps = x[arguments.batch_first ? 1 : 0];
  sizes.batch = x[arguments.batch_first ? 0 : 1];
  sizes.inputs = x[2];
  sizes.hidden = r[2];
  sizes.gates = r[1];
  return sizes;
}

void LayerOutputDims(const LayerArguments& arguments, const LayerSizes& sizes, int output,
                     std::vector<int64_t>* dims) {
  const int64_t d = sizes.directions, n = sizes.batch, h = sizes.hidden;
  if (arguments.batch_first) {
    dims->assign({n, d, h});
    if (output == 0) dims->insert(dims->begin() + 1, sizes.steps);
  } else {
    dims->assign({d, n, h});
    if (output == 0) dims->insert(dims->begin(), sizes.steps);
  }
}

void DeclareLayerArguments(OpSchema& schema, const std::string& type) {
  schema.Args(kLayerDirection, kLayerLayout, kLayerClip, kLayerHiddenSize, kLayerActivationNames,
              kLayerAlphas, kLayerBetas);
  if (type == "LSTM") schema.Arg(kLayerInputForget);
  if (type == "GRU") schema.Arg(kLayerLinearBeforeReset);
}

}  // namespace caffe2rt
