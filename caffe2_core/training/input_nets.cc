#include "caffe2_core/training/input_nets.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/training/training_nets.h"

namespace caffe2rt {
namespace {

constexpr char kFactor[] = "input_factor";
constexpr char kOffset[] = "input_offset";

bool IsBytes(const TensorFacts& facts) {
  return facts.type == TensorProto::BYTE || facts.type == TensorProto::UINT8;
}

bool IsGreyPixels(const InputDef& input, const TensorFacts& facts) {
  return IsBytes(facts) && facts.dims.size() == 2 && input.grey();
}

bool IsPixels(const InputDef& input, const TensorFacts& facts) {
  return (IsBytes(facts) && facts.dims.size() == 3) || IsGreyPixels(input, facts);
}

bool MovesChannels(const InputDef& input, const TensorFacts& facts) {
  return IsBytes(facts) && facts.dims.size() == 3 && !input.channels_last() &&
         (facts.dims[2] == 1 || facts.dims[2] == 3);
}

// Whether the net gets [batch, 1, H, W].
bool AddsChannels(const InputDef& input, const TensorFacts& facts) {
  return IsGreyPixels(input, facts) && !input.channels_last();
}

// y = factor * x + offset, one number each for all channels, or one for each channel.
struct Affine {
  std::vector<float> factor, offset;
};

Affine AffineOf(const InputDef& input) {
  const size_t channels = static_cast<size_t>(std::max({1, input.mean_size(), input.std_size()}));
  const auto at = [](const auto& values, size_t i, float none) {
    if (values.empty()) return none;
    return values.Get(values.size() == 1 ? 0 : static_cast<int>(i));
  };
  Affine affine;
  for (size_t i = 0; i < channels; ++i) {
    affine.factor.push_back(input.scale() / at(input.std(), i, 1.0f));
    affine.offset.push_back(-at(input.mean(), i, 0.0f) * affine.factor.back());
  }
  return affine;
}

bool IsZero(float x) { return x == 0; }

OperatorDef FillOp(const char* blob, const std::vector<float>& values) {
  return CreateOperatorDef(
      "GivenTensorFill", "", std::vector<std::string>{}, {std::string(blob)},
      {MakeArgument("shape", std::vector<int64_t>{static_cast<int64_t>(values.size())}),
       MakeArgument("values", values)});
}

// Without an axis, the values belong to the last one.
OperatorDef BroadcastOp(const char* type, const std::string& x, const char* other,
                        const std::vector<float>& values, bool channels_last,
                        const std::string& y) {
  std::vector<Argument> args = {MakeArgument("broadcast", 1)};
  if (values.size() > 1 && !channels_last) args.push_back(MakeArgument("axis", 1));
  return CreateOperatorDef(type, "", {x, other}, {y}, args);
}

std::vector<Argument> ImageArguments(const InputDef& input, const InputPlace& place) {
  std::vector<Argument> args = {
      MakeArgument("batch_size", static_cast<int>(place.batch_size)),
      MakeArgument("crop", input.crop()),
      MakeArgument("scale", input.has_resize() ? input.resize() : input.crop()),
      MakeArgument("color", input.grey() ? 0 : 1), MakeArgument("is_test", place.is_test ? 1 : 0)};
  if (input.mirror() && !place.is_test) args.push_back(MakeArgument("mirror", 1));
  // ImageInput computes (x - mean) / std.
  const Affine affine = AffineOf(input);
  std::vector<float> mean(input.mean().begin(), input.mean().end()), std;
  for (const float factor : affine.factor) std.push_back(1 / factor);
  const size_t channels = input.grey() ? 1 : 3;
  mean.resize(channels, mean.empty() ? 0 : mean[0]);
  std.resize(channels, std[0]);
  if (input.grey()) {
    args.push_back(MakeArgument("mean", mean[0]));
    args.push_back(MakeArgument("std", std[0]));
  } else {
    args.push_back(MakeArgument("mean_per_channel", mean));
    args.push_back(MakeArgument("std_per_channel", std));
  }
  if (place.on_error != "stop") args.push_back(MakeArgument("on_error", place.on_error));
  for (const Argument& arg : input.image_arg()) args.push_back(arg);
  return args;
}

std::vector<std::string> Prefixed(const InputPlace& place, std::vector<std::string> names) {
  for (std::string& name : names) name = place.prefix + name;
  return names;
}

// Prepares the first tensor, which the reader wrote to `raw`.
void PrepareData(const InputDef& input, const TensorFacts& facts, const std::string& raw,
                 const std::string& data, std::vector<OperatorDef>* ops) {
  std::string at = raw;
  const auto add = [&](OperatorDef op) {
    at = op.output(0);
    ops->push_back(std::move(op));
  };
  const Affine affine = AffineOf(input);
  const bool scales = affine.factor != std::vector<float>{1};
  const bool moves = !std::all_of(affine.offset.begin(), affine.offset.end(), IsZero);
  // Other integers may be indices.
  if (facts.type != TensorProto::FLOAT && (IsBytes(facts) || scales || moves)) {
    add(CreateOperatorDef("Cast", "", {at}, {data + "_float"},
                          {MakeArgument("to", static_cast<int>(TensorProto::FLOAT))}));
  }
  if (MovesChannels(input, facts))
    add(CreateOperatorDef("NHWC2NCHW", "", {at}, {data + "_planes"}));
  if (AddsChannels(input, facts)) {
    add(CreateOperatorDef("ExpandDims", "", {at}, {data + "_planes"},
                          {MakeArgument("dims", std::vector<int64_t>{1})}));
  }
  if (scales && affine.factor.size() == 1) {
    add(CreateOperatorDef("Scale", "", {at}, {data + "_scaled"},
                          {MakeArgument("scale", affine.factor[0])}));
  } else if (scales) {
    add(BroadcastOp("Mul", at, kFactor, affine.factor, input.channels_last(), data + "_scaled"));
  }
  if (moves) {
    add(BroadcastOp("Add", at, kOffset, affine.offset, input.channels_last(), data + "_moved"));
  }
  if (at != data) ops->back().set_output(0, data);
}

bool FlattensLabel(const TensorFacts& facts) {
  return facts.is_integer() && facts.dims.size() == 1 && facts.dims[0] == 1;
}

}  // namespace

std::vector<std::string> InputBlobs(const InputDef& input) {
  if (input.blob_size() == 0) return {"data", "label"};
  return {input.blob().begin(), input.blob().end()};
}

bool IsImageInput(const InputDef& input, const TensorFacts& facts) {
  return facts.is_image() || (IsPixels(input, facts) && input.has_crop());
}

std::string LabelBlob(const InputDef& input) {
  const std::vector<std::string> blobs = InputBlobs(input);
  if (std::find(blobs.begin(), blobs.end(), "label") != blobs.end()) return "label";
  return blobs.size() > 1 ? blobs.back() : "";
}

namespace {

// One number for all channels, or one for each.
void CheckChannels(const InputDef& input, const TensorFacts& first) {
  const int means = input.mean_size(), stds = input.std_size(), most = std::max(means, stds);
  CAFFE_ENFORCE(means <= 1 || stds <= 1 || means == stds, "input: mean has ",
                CountText(means, "number"), " and std has ", stds, ", want as many, or one");
  const int channels = input.grey() ? 1 : 3;
  CAFFE_ENFORCE(!IsImageInput(input, first) || most <= 1 || most == channels,
                "input: ", means == most ? "mean" : "std", " has ", CountText(most, "number"),
                ", but images have ", CountText(channels, "channel"));
}

}  // namespace

void CheckInput(const InputDef& input, const DataFacts& facts) {
  const std::vector<std::string> blobs = InputBlobs(input);
  CAFFE_ENFORCE(input.batch_size() > 0, "input: batch_size is ", input.batch_size(),
                ", want at least 1");
  CAFFE_ENFORCE(std::none_of(input.std().begin(), input.std().end(), IsZero),
                "input: std contains 0, want other numbers");
  const TensorFacts& first = facts.tensors[0];
  CAFFE_ENFORCE(facts.tensors.size() == blobs.size() || first.is_image(), "the records of \"",
                facts.place.path, "\" have ", CountText(facts.tensors.size(), "tensor"),
                ", but the input has ", CountText(blobs.size(), "blob"), ": ",
                absl::StrJoin(blobs, ", "),
                "; `input { blob: ... }` (--blobs) names one for each tensor");
  CAFFE_ENFORCE(!first.is_image() || input.crop() > 0, "the records of \"", facts.place.path,
                "\" are encoded images: set the size of the net's input, `input { crop: N }`");
  CAFFE_ENFORCE(!IsImageInput(input, first) || !input.channels_last(),
                "input: channels_last does not apply to images that are cut");
  CheckChannels(input, first);
}

std::vector<int64_t> InputShape(const InputDef& input, const DataFacts& facts) {
  const TensorFacts& first = facts.tensors[0];
  if (IsImageInput(input, first)) return {1, input.grey() ? 1 : 3, input.crop(), input.crop()};
  std::vector<int64_t> shape = {1};
  if (AddsChannels(input, first)) shape.push_back(1);
  const std::vector<int64_t>& dims = first.dims;
  if (MovesChannels(input, first)) {
    shape.insert(shape.end(), {dims[2], dims[0], dims[1]});
  } else {
    shape.insert(shape.end(), dims.begin(), dims.end());
  }
  return shape;
}

std::vector<OperatorDef> InputOperators(const InputDef& input, const DataFacts& facts,
                                        const InputPlace& place) {
  const std::vector<std::string> blobs = Prefixed(place, InputBlobs(input));
  std::vector<OperatorDef> ops;
  if (IsImageInput(input, facts.tensors[0])) {
    ops.push_back(
        CreateOperatorDef("ImageInput", "", {place.reader}, blobs, ImageArguments(input, place)));
    return ops;
  }
  std::vector<std::string> raw;
  for (const std::string& blob : blobs) raw.push_back(blob + "_read");
  std::vector<Argument> args = {MakeArgument("batch_size", static_cast<int>(place.batch_size))};
  if (place.on_error != "stop") {
    CAFFE_ENFORCE(DeclaresArgument("TensorProtosDBInput", "on_error"),
                  "operator TensorProtosDBInput of this build cannot leave out damaged records");
    args.push_back(MakeArgument("on_error", place.on_error));
  }
  ops.push_back(CreateOperatorDef("TensorProtosDBInput", "", {place.reader}, raw, args));
  PrepareData(input, facts.tensors[0], raw[0], blobs[0], &ops);
  if (ops.size() == 1) ops[0].set_output(0, blobs[0]);
  for (size_t i = 1; i < blobs.size(); ++i) {
    if (FlattensLabel(facts.tensors[i])) {
      ops.push_back(CreateOperatorDef("FlattenToVec", "", {raw[i]}, {blobs[i]}));
    } else {
      ops[0].set_output(static_cast<int>(i), blobs[i]);
    }
  }
  return ops;
}

std::vector<OperatorDef> InputFills(const InputDef& input, const DataFacts& facts) {
  if (IsImageInput(input, facts.tensors[0])) return {};
  const Affine affine = AffineOf(input);
  std::vector<OperatorDef> ops;
  if (affine.factor.size() > 1) ops.push_back(FillOp(kFactor, affine.factor));
  if (!std::all_of(affine.offset.begin(), affine.offset.end(), IsZero))
    ops.push_back(FillOp(kOffset, affine.offset));
  return ops;
}

}  // namespace caffe2rt
