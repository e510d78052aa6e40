#include "caffe2_core/import/caffe/layer_context.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

const std::string& CaffeLayerContext::Bottom(size_t i) const {
  CAFFE_ENFORCE(i < bottoms_.size(), "it has ", CountText(bottoms_.size(), "bottom"),
                ", want at least ", i + 1);
  return bottoms_[i];
}

const std::string& CaffeLayerContext::Top(size_t i) const {
  CAFFE_ENFORCE(i < tops_.size(), "it has ", CountText(tops_.size(), "top"), ", want at least ",
                i + 1);
  return tops_[i];
}

bool CaffeLayerContext::HasDims(const std::string& blob) const {
  const auto found = nets_->shapes.find(blob);
  return found != nets_->shapes.end() && !found->second.unknown_shape();
}

CaffeDims CaffeLayerContext::Dims(const std::string& blob) const {
  CAFFE_ENFORCE(HasDims(blob), "it needs the shape of blob \"", Shortened(blob),
                "\", which the file does not tell; give the shapes of the inputs");
  return GetDimsVector(nets_->shapes.at(blob));
}

void CaffeLayerContext::SetDims(const std::string& blob, const CaffeDims& dims) {
  nets_->shapes[blob] = CreateTensorShape(dims, TensorProto::FLOAT);
}

CaffeDims CaffeLayerContext::FixedDims(const std::string& blob) {
  if (nets_->fixed_size_layer.empty()) nets_->fixed_size_layer = layer_.name;
  return Dims(blob);
}

int64_t CaffeLayerContext::Rank(const std::string& blob) const {
  return static_cast<int64_t>(Dims(blob).size());
}

int64_t CaffeLayerContext::Axis(const std::string& blob, int64_t axis, bool end) const {
  if (axis >= 0 && !HasDims(blob)) return axis;
  const int64_t rank = Rank(blob);
  const int64_t found = axis < 0 ? axis + rank + (end ? 1 : 0) : axis;
  CAFFE_ENFORCE(found >= 0 && found < rank + (end ? 1 : 0), "axis ", axis,
                " is out of range for a blob of ", rank, " axes");
  return found;
}

std::string CaffeLayerContext::UniqueName(const std::string& wanted) {
  std::string name = wanted;
  while (!nets_->names.insert(name).second) {
    name = MakeString(wanted, "_", ++nets_->repetitions[wanted] + 1);
  }
  return name;
}

void CaffeLayerContext::InferShapes(const OperatorDef& op) {
  const OpSchema* schema = OpSchemaRegistry::Schema(op.type());
  CAFFE_ENFORCE(schema != nullptr, "operator type \"", op.type(), "\" is not known");
  std::vector<TensorShape> inputs;
  bool all_known = true;
  for (const std::string& input : op.input()) {
    const auto found = nets_->shapes.find(input);
    inputs.push_back(found == nets_->shapes.end() ? UnknownShape() : found->second);
    all_known &= !inputs.back().unknown_shape();
  }
  std::vector<TensorShape> outputs;
  try {
    outputs = schema->InferTensor(op, inputs);
  } catch (const EnforceNotMet&) {
    if (all_known) throw;
  }
  for (int i = 0; i < op.output_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    nets_->shapes[op.output(i)] = at < outputs.size() ? outputs[at] : UnknownShape();
  }
}

void CaffeLayerContext::Emit(const std::string& type, std::vector<std::string> inputs,
                             std::vector<std::string> outputs, const std::vector<Argument>& args) {
  OperatorDef* op = nets_->predict.add_op();
  *op = CreateOperatorDef(type, layer_.name, inputs, outputs, args);
  op->set_debug_info(layer_.name);
  InferShapes(*op);
}

std::string CaffeLayerContext::Value(const std::string& type, std::vector<std::string> inputs,
                                     const std::vector<Argument>& args) {
  const std::string label = absl::AsciiStrToLower(type);
  std::string name = UniqueName(MakeString(layer_.name, "/", label));
  Emit(type, std::move(inputs), {name}, args);
  return name;
}

// The operator takes a part of one axis.
void CaffeLayerContext::Slice(const std::string& x, const CaffeDims& starts, const CaffeDims& ends,
                              const std::string& top) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (ends[i] != -1) axes.push_back(i);
  }
  if (axes.empty()) return Emit("Alias", {x}, {top});
  std::string value = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    CaffeDims first(starts.size(), 0), last(starts.size(), -1);
    first[axes[i]] = starts[axes[i]];
    last[axes[i]] = ends[axes[i]];
    const std::vector<Argument> args = {MakeArgument("starts", first), MakeArgument("ends", last)};
    if (i + 1 == axes.size()) return Emit("Slice", {value}, {top}, args);
    value = Value("Slice", {value}, args);
  }
}

std::string CaffeLayerContext::SharedName(size_t i) const {
  return i < layer_.shared.size() ? layer_.shared[i] : "";
}

size_t CaffeLayerContext::Blobs(size_t expected) const {
  if (!has_weights()) return expected;
  const size_t own = blobs_ == nullptr ? 0 : blobs_->blobs.size();
  const auto is_known = [&](const std::string& name) { return nets_->shared_blobs.contains(name); };
  const bool all_shared = std::all_of(layer_.shared.begin(), layer_.shared.end(), is_known);
  return all_shared ? std::max(own, layer_.shared.size()) : own;
}

void CaffeLayerContext::CheckBlobs() const {
  const size_t count = blobs_ == nullptr ? 0 : blobs_->blobs.size();
  CAFFE_ENFORCE(count <= used_, "it has ", CountText(count, "blob"), " in \"", weights_->subject(),
                "\", want ", used_,
                " by its fields; give the weights of this net, or correct the layer");
}

const CaffeBlob& CaffeLayerContext::BlobAt(size_t i) const {
  CAFFE_ENFORCE(
      has_weights(),
      "it needs the shape of its bottom, which the file does not tell, or weights; give the "
      "shapes of the inputs");
  CAFFE_ENFORCE(blobs_ != nullptr, "the weights \"", weights_->subject(),
                "\" have no layer of this name with blobs");
  CAFFE_ENFORCE(i < blobs_->blobs.size(), "it has ", CountText(blobs_->blobs.size(), "blob"),
                " in \"", weights_->subject(), "\", want at least ", i + 1);
  return blobs_->blobs[i];
}

CaffeDims CaffeLayerContext::BlobDims(size_t i) const {
  const CaffeBlob& blob = BlobAt(i);
  CaffeDims dims = blob.dims;
  if (!blob.legacy) return dims;
  while (dims.size() > 1 && dims.front() == 1) dims.erase(dims.begin());
  return dims;
}

int64_t CaffeLayerContext::BlobSize(size_t i) const { return CheckedProduct(BlobAt(i).dims); }

void CaffeLayerContext::AddFill(const std::string& name, const CaffeDims& dims, Tensor values) {
  values.Reshape({values.numel()});
  OperatorDef* op = nets_->init.add_op();
  *op = CreateOperatorDef(
      "GivenTensorFill", layer_.name, {}, {name},
      {MakeArgument("shape", dims), MakeArgument("values", std::vector<float>())});
  op->set_debug_info(layer_.name);
  nets_->weights.push_back(
      {.op = nets_->init.op_size() - 1, .arg = 1, .values = std::move(values)});
  nets_->shapes[name] = CreateTensorShape(dims, TensorProto::FLOAT);
}

std::string CaffeLayerContext::Constant(const std::string& label, const CaffeDims& dims,
                                        const std::vector<float>& values) {
  std::string name = UniqueName(MakeString(layer_.name, "_", label));
  Tensor tensor(dims, CPU);
  CAFFE_ENFORCE_EQ(tensor.numel(), static_cast<int64_t>(values.size()), "elements of ", label);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  AddFill(name, dims, std::move(tensor));
  return name;
}

std::string CaffeLayerContext::Zeros(const std::string& label, int64_t count) {
  std::string name = UniqueName(MakeString(layer_.name, "_", label));
  FillWithout(name, {count}, CaffeMessage());
  return name;
}

namespace {
// Of arrays that the import computes. Those of the weights are as large as their file.
constexpr int64_t kMaxComputed = int64_t{1} << 28;
}  // namespace

std::vector<float> CaffeLayerContext::Values(size_t i, int64_t size, float missing) {
  CAFFE_ENFORCE_LE(size, kMaxComputed, "elements of blob ", i);
  used_ = std::max(used_, i + 1);
  if (!has_weights()) return std::vector<float>(static_cast<size_t>(size), missing);
  const std::string shared = SharedName(i);
  const auto owner = shared.empty() ? nets_->shared_blobs.end() : nets_->shared_blobs.find(shared);
  const CaffeBlob& blob = owner == nets_->shared_blobs.end() ? BlobAt(i) : *owner->second;
  if (!shared.empty()) nets_->shared_blobs[shared] = &blob;
  CAFFE_ENFORCE(size < 0 || CheckedProduct(blob.dims) == size, "blob ", i, " has shape [",
                absl::StrJoin(blob.dims, ", "), "], want ", size, " elements");
  const Tensor values = weights_->ReadBlob(blob);
  const float* data = values.data<float>();
  return {data, data + values.numel()};
}

namespace {

// Weights for bilinear interpolation, the same for each plane.
std::vector<float> BilinearValues(const CaffeDims& dims) {
  CAFFE_ENFORCE(dims.size() == 4 && dims[2] == dims[3],
                "the filler bilinear wants a square kernel, got shape [", absl::StrJoin(dims, ", "),
                "]");
  CAFFE_ENFORCE_LE(CheckedProduct(dims), kMaxComputed, "elements of a bilinear filter");
  const int64_t k = dims[3];
  const int64_t f = (k + 1) / 2;
  const float center = static_cast<float>(2 * f - 1 - f % 2) / (2.0f * static_cast<float>(f));
  const auto weight = [&](int64_t x) {
    return 1 - std::abs(static_cast<float>(x) / static_cast<float>(f) - center);
  };
  std::vector<float> values;
  for (int64_t i = 0; i < CheckedProduct(dims); ++i) {
    values.push_back(weight(i % k) * weight(i / k % k));
  }
  return values;
}

// Generations and forks differ in the dims of 1: a bias is [N], or [1, 1, 1, N].
CaffeDims WithoutOnes(CaffeDims dims) {
  std::erase(dims, 1);
  return dims;
}

}  // namespace

void CaffeLayerContext::FillWithout(const std::string& name, const CaffeDims& dims,
                                    const CaffeMessage& filler) {
  const std::string type = filler.Text("type", "constant");
  if (type == "bilinear") {
    const std::vector<float> values = BilinearValues(dims);
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
    return AddFill(name, dims, std::move(tensor));
  }
  OperatorDef* op = nets_->init.add_op();
  *op =
      type == "constant"
          ? CreateOperatorDef(
                "ConstantFill", layer_.name, {}, {name},
                {MakeArgument("shape", dims), MakeArgument("value", filler.Float("value", 0))})
          : CreateOperatorDef("XavierFill", layer_.name, {}, {name}, {MakeArgument("shape", dims)});
  op->set_debug_info(layer_.name);
  nets_->shapes[name] = CreateTensorShape(dims, TensorProto::FLOAT);
}

std::string CaffeLayerContext::Parameter(size_t i, const std::string& label, const CaffeDims& dims,
                                         const CaffeMessage& filler) {
  const std::string shared = SharedName(i);
  used_ = std::max(used_, i + 1);
  if (const auto found = nets_->shared.find(shared);
      !shared.empty() && found != nets_->shared.end()) {
    const CaffeDims owner = GetDimsVector(nets_->shapes.at(found->second));
    CAFFE_ENFORCE(owner == dims, "the shared parameter \"", shared, "\" has shape [",
                  absl::StrJoin(owner, ", "), "], want [", absl::StrJoin(dims, ", "), "]");
    return found->second;
  }
  std::string name = UniqueName(MakeString(layer_.name, "_", label));
  // Caffe itself fills an upsampling layer that was never trained.
  const bool absent = has_weights() && blobs_ == nullptr && filler.Text("type") == "bilinear";
  if (!has_weights() || absent) {
    FillWithout(name, dims, filler);
  } else {
    const CaffeBlob& blob = BlobAt(i);
    CAFFE_ENFORCE(WithoutOnes(blob.dims) == WithoutOnes(dims), "blob ", i, " has shape [",
                  absl::StrJoin(blob.dims, ", "), "] in \"", weights_->subject(), "\", want [",
                  absl::StrJoin(dims, ", "), "]");
    AddFill(name, dims, weights_->ReadBlob(blob));
  }
  if (!shared.empty()) nets_->shared[shared] = name;
  return name;
}

}  // namespace caffe2rt
