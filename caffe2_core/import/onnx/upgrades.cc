#include "caffe2_core/import/onnx/upgrades.h"

#include <algorithm>
#include <string_view>

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// --- attributes that became inputs ---

void SetInput(OnnxNode* n, size_t i, const std::string& blob) {
  std::vector<std::string>& inputs = n->data().inputs;
  if (inputs.size() <= i) inputs.resize(i + 1);
  inputs[i] = blob;
}

// A list of integers becomes input i.
void IntsToInput(OnnxNode* n, const char* attribute, size_t i) {
  if (n->HasAttr(attribute)) SetInput(n, i, n->IntConst(attribute, n->IntList(attribute)));
}

void FloatToInput(OnnxNode* n, const char* attribute, size_t i) {
  if (n->HasAttr(attribute))
    SetInput(n, i, n->ScalarConst(attribute, n->Float(attribute, 0), n->Type(n->In(0))));
}

void AxesToInput(OnnxNode* n) { IntsToInput(n, "axes", 1); }
void ShapeToInput(OnnxNode* n) { IntsToInput(n, "shape", 1); }
void SplitToInput(OnnxNode* n) { IntsToInput(n, "split", 1); }

void UpgradeClip(OnnxNode* n) {
  FloatToInput(n, "min", 1);
  FloatToInput(n, "max", 2);
}

void UpgradeTopK(OnnxNode* n) {
  if (n->HasAttr("k")) SetInput(n, 1, n->IntConst("k", {n->Int("k", 1)}));
}

void UpgradeSlice(OnnxNode* n) {
  IntsToInput(n, "starts", 1);
  IntsToInput(n, "ends", 2);
  IntsToInput(n, "axes", 3);
}

void UpgradePad(OnnxNode* n) {
  IntsToInput(n, "paddings", 1);
  IntsToInput(n, "pads", 1);
  FloatToInput(n, "value", 2);
}

void UpgradeTile(OnnxNode* n) {  // opset 1: tiles, axis
  const int64_t tiles = n->IntAt(1), rank = n->Rank(n->In(0));
  std::vector<int64_t> repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(n->Axis(n->In(0), n->IntAt(2)))] = tiles;
  n->data().inputs.resize(1);
  SetInput(n, 1, n->IntConst("repeats", repeats));
}

// --- arithmetic of opsets 1 to 6: the dims of B match those of A from `axis` on ---

void UpgradeBroadcast(OnnxNode* n) {
  if (n->Int("broadcast", 0) == 0 || !n->HasAttr("axis")) return;
  const int64_t rank = n->Rank(n->In(0)), axis = n->Axis(n->In(0), n->Int("axis", 0));
  const int64_t own = n->Rank(n->In(1));
  const int64_t missing = rank - axis - own;
  if (missing <= 0) return;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < missing; ++i) dims.push_back(own + i);
  SetInput(n, 1, n->Value("ExpandDims", {n->In(1)}, {MakeArgument("dims", dims)}));
}

// --- old names and forms ---

void UpgradeCast(OnnxNode* n) {
  std::string name = n->Text("to");
  Proto::DataType type = Proto::UNDEFINED;
  CAFFE_ENFORCE(Proto::DataType_Parse(name, &type), "attribute \"to\" is \"", name,
                "\", want a type");
  n->data().SetInt("to", type);
}

void UpgradeConcat(OnnxNode* n) {
  if (!n->HasAttr("axis")) n->data().SetInt("axis", 1);
}

void UpgradeDropout(OnnxNode* n) { n->data().inputs.resize(1); }

// A node with more outputs than Y trains, unless is_test of the first opsets denies it. The third and
// fourth of them serve the gradient only.
void UpgradeBatchNormalization(OnnxNode* n) {
  OnnxNodeData& data = n->data();
  bool trains = false;
  for (size_t i = 1; i < data.outputs.size(); ++i) trains = trains || n->HasOut(i);
  trains = trains && n->Int("is_test", 0) == 0;
  if (trains) data.SetInt("training_mode", 1);
  data.outputs.resize(trains ? std::min<size_t>(data.outputs.size(), 3) : 1);
}

// Upsample, and Resize of opset 10: factors for each axis, positions from the corner, rounded down.
void UpgradeResize(OnnxNode* n) {
  OnnxNodeData& data = n->data();
  std::string scales = n->Has(1) ? n->In(1) : "";
  if (scales.empty()) {
    std::vector<float> factors = n->FloatList("scales");
    if (factors.empty()) factors = {1, 1, n->Float("height_scale", 1), n->Float("width_scale", 1)};
    scales = n->FloatConst("scales", {static_cast<int64_t>(factors.size())}, factors);
  }
  data.inputs = {n->In(0), "", scales};
  data.type = "Resize";
  data.version = kNewestOnnxOpset;
  const std::string mode = n->Text("mode", "nearest");
  data.Set(OnnxText("mode", mode == "bilinear" ? "linear" : mode));
  data.Set(OnnxText("coordinate_transformation_mode", "asymmetric"));
  data.Set(OnnxText("nearest_mode", "floor"));
}

void UpgradeScatter(OnnxNode* n) { n->data().type = "ScatterElements"; }

struct Upgrade {
  std::string_view type;
  int64_t before;  // the first opset that has the new form
  void (*apply)(OnnxNode*);
};

constexpr Upgrade kUpgrades[] = {
    {"Add", 7, &UpgradeBroadcast},
    {"And", 7, &UpgradeBroadcast},
    {"BatchNormalization", 14, &UpgradeBatchNormalization},
    {"Cast", 6, &UpgradeCast},
    {"Clip", 11, &UpgradeClip},
    {"Concat", 4, &UpgradeConcat},
    {"Div", 7, &UpgradeBroadcast},
    {"Dropout", 12, &UpgradeDropout},
    {"Equal", 7, &UpgradeBroadcast},
    {"Greater", 7, &UpgradeBroadcast},
    {"Less", 7, &UpgradeBroadcast},
    {"Mul", 7, &UpgradeBroadcast},
    {"Or", 7, &UpgradeBroadcast},
    {"Pad", 11, &UpgradePad},
    {"Pow", 7, &UpgradeBroadcast},
    {"ReduceL1", 18, &AxesToInput},
    {"ReduceL2", 18, &AxesToInput},
    {"ReduceLogSum", 18, &AxesToInput},
    {"ReduceLogSumExp", 18, &AxesToInput},
    {"ReduceMax", 18, &AxesToInput},
    {"ReduceMean", 18, &AxesToInput},
    {"ReduceMin", 18, &AxesToInput},
    {"ReduceProd", 18, &AxesToInput},
    {"ReduceSum", 13, &AxesToInput},
    {"ReduceSumSquare", 18, &AxesToInput},
    {"Reshape", 5, &ShapeToInput},
    {"Resize", 11, &UpgradeResize},
    {"Scatter", 1000, &UpgradeScatter},
    {"Slice", 10, &UpgradeSlice},
    {"Split", 13, &SplitToInput},
    {"Squeeze", 13, &AxesToInput},
    {"Sub", 7, &UpgradeBroadcast},
    {"Tile", 6, &UpgradeTile},
    {"TopK", 10, &UpgradeTopK},
    {"Upsample", 1000, &UpgradeResize},
    {"Unsqueeze", 13, &AxesToInput},
    {"Xor", 7, &UpgradeBroadcast},
};

}  // namespace

std::string_view NewestOnnxType(std::string_view type) {
  return type == "Scatter" ? "ScatterElements" : type == "Upsample" ? "Resize" : type;
}

void UpgradeOnnxNode(OnnxNode* n) {
  if (!n->data().domain.empty()) return;
  for (const Upgrade& upgrade : kUpgrades) {
    if (upgrade.type == n->type() && n->version() < upgrade.before) return upgrade.apply(n);
  }
}

}  // namespace caffe2rt
