// Operators that reduce, sort and search along axes.

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

// The axes as an argument; all axes if there are none. Returns false if the node does nothing.
bool ReduceArguments(OnnxNode* n, std::vector<Argument>* args) {
  const std::vector<int64_t> axes = n->IntsOr(1, {});
  if (axes.empty() && n->Int("noop_with_empty_axes", 0) != 0) return false;
  if (!axes.empty()) args->push_back(MakeArgument("axes", axes));
  args->push_back(MakeArgument("keepdims", n->Int("keepdims", 1)));
  return true;
}

void EmitReduce(OnnxNode* n, const char* type, const std::string& x, const std::string& out) {
  std::vector<Argument> args;
  if (!ReduceArguments(n, &args)) return n->Emit("Alias", {x}, {out});
  n->EmitTyped(type, {x}, out, args);
}

std::string Reduced(OnnxNode* n, const char* type, const std::string& x) {
  std::string out = n->NewName("reduced");
  EmitReduce(n, type, x, out);
  return out;
}

void TranslateReduceMax(OnnxNode* n) { EmitReduce(n, "ReduceMax", n->In(0), n->Out(0)); }
void TranslateReduceMin(OnnxNode* n) { EmitReduce(n, "ReduceMin", n->In(0), n->Out(0)); }
void TranslateReduceSum(OnnxNode* n) { EmitReduce(n, "ReduceSum", n->In(0), n->Out(0)); }
void TranslateReduceMean(OnnxNode* n) { EmitReduce(n, "ReduceMean", n->In(0), n->Out(0)); }
void TranslateReduceL1(OnnxNode* n) { EmitReduce(n, "ReduceL1", n->In(0), n->Out(0)); }
void TranslateReduceL2(OnnxNode* n) { EmitReduce(n, "ReduceL2", n->In(0), n->Out(0)); }

void TranslateReduceLogSum(OnnxNode* n) {
  n->EmitTyped("Log", {Reduced(n, "ReduceSum", n->In(0))}, n->Out(0));
}

void TranslateReduceSumSquare(OnnxNode* n) {
  EmitReduce(n, "ReduceSum", n->TypedValue("Mul", {n->In(0), n->In(0)}), n->Out(0));
}

// Shifted by the largest elements, so that no exponential overflows.
void TranslateReduceLogSumExp(OnnxNode* n) {
  n->EmitTyped("Log", {Reduced(n, "ReduceSum", n->TypedValue("Exp", {n->In(0)}))}, n->Out(0));
}

void EmitArg(OnnxNode* n, const char* type) {
  CAFFE_ENFORCE(n->Int("select_last_index", 0) == 0, "select_last_index is not supported");
  n->EmitTyped(type, {n->In(0)}, n->Out(0),
               {MakeArgument("axis", n->Axis(n->In(0), n->Int("axis", 0))),
                MakeArgument("keepdims", n->Int("keepdims", 1))});
}
void TranslateArgMax(OnnxNode* n) { EmitArg(n, "ArgMax"); }
void TranslateArgMin(OnnxNode* n) { EmitArg(n, "ArgMin"); }

void TranslateTopK(OnnxNode* n) {
  CAFFE_ENFORCE(n->Int("largest", 1) == 1, "largest is 0, which is not supported");
  n->Emit("TopK", {n->In(0)}, {n->Out(0), n->Out(1)},
          {MakeArgument("k", n->IntAt(1)), MakeArgument("axis", n->Int("axis", -1))});
}

}  // namespace

std::vector<OnnxRow> OnnxReduceRows() {
  return {{"ArgMax", &TranslateArgMax},
          {"ArgMin", &TranslateArgMin},
          {"ReduceL1", &TranslateReduceL1},
          {"ReduceL2", &TranslateReduceL2},
          {"ReduceLogSum", &TranslateReduceLogSum},
          {"ReduceLogSumExp", &TranslateReduceLogSumExp},
          {"ReduceMax", &TranslateReduceMax, "", true},
          {"ReduceMean", &TranslateReduceMean},
          {"ReduceMin", &TranslateReduceMin, "", true},
          {"ReduceSum", &TranslateReduceSum},
          {"ReduceSumSquare", &TranslateReduceSumSquare},
          {"TopK", &TranslateTopK, "", true}};
}

}  // namespace caffe2rt
