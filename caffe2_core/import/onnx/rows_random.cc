// Random tensors. Their numbers are those of this library, not of another, also for a given seed.

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// Emits a fill of floats, of the attribute `shape` or like input 0, and casts it.
void EmitRandom(OnnxNode* n, const char* fill, std::vector<Argument> args, bool like) {
  if (n->HasAttr("seed")) n->Note("its seed has no effect: --seed sets that of the model");
  std::vector<std::string> inputs;
  if (like) {
    inputs.push_back(n->In(0));
  } else {
    args.push_back(MakeArgument("shape", n->IntList("shape")));
  }
  const int missing = like ? n->Type(n->In(0)) : static_cast<int>(Proto::FLOAT);
  const auto type = static_cast<int64_t>(n->Int("dtype", missing));
  n->Forward(0, n->Call("Cast", {n->Value(fill, inputs, args)}, {OnnxInt("to", type)}));
}

std::vector<Argument> Normal(const OnnxNode& n) {
  return {MakeArgument("mean", n.Float("mean", 0)), MakeArgument("std", n.Float("scale", 1))};
}

std::vector<Argument> Uniform(const OnnxNode& n) {
  return {MakeArgument("min", n.Float("low", 0)), MakeArgument("max", n.Float("high", 1))};
}

void TranslateBernoulli(OnnxNode* n) {
  const std::string numbers = n->Value("UniformFill", {n->In(0)});
  const std::string p = n->Call("Cast", {n->In(0)}, {OnnxInt("to", Proto::FLOAT)});
  const int64_t type = n->Int("dtype", n->Type(n->In(0)));
  n->Forward(0, n->Call("Cast", {n->Call("Less", {numbers, p})}, {OnnxInt("to", type)}));
}

}  // namespace

std::vector<OnnxRow> OnnxRandomRows() {
  return {
      {"Bernoulli", &TranslateBernoulli, "", true},
      {"RandomNormal", [](OnnxNode* n) { EmitRandom(n, "GaussianFill", Normal(*n), false); }},
      {"RandomNormalLike", [](OnnxNode* n) { EmitRandom(n, "GaussianFill", Normal(*n), true); }},
      {"RandomUniform", [](OnnxNode* n) { EmitRandom(n, "UniformFill", Uniform(*n), false); }},
      {"RandomUniformLike", [](OnnxNode* n) { EmitRandom(n, "UniformFill", Uniform(*n), true); }}};
}

}  // namespace caffe2rt
