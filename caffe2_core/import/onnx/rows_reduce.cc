// Operators that reduce, sort and search along axes.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

// Axes that are known become an argument, so that the shape of the result is known, too.
void EmitReduce(OnnxNode* n, const char* type, std::vector<Argument> args = {}) {
  args.push_back(MakeArgument("keepdims", n->Int("keepdims", 1)));
  if (n->Int("noop_with_empty_axes", 0) != 0) {
    args.push_back(MakeArgument("noop_with_empty_axes", 1));
  }
  if (n->Has(1) && !n->IsKnown(1)) {
    return n->Emit(type, {n->In(0), n->In(1)}, {n->Out(0)}, args);
  }
  const std::vector<int64_t> axes = n->IntsOr(1, {});
  if (!axes.empty()) args.push_back(MakeArgument("axes", axes));
  n->EmitTyped(type, {n->In(0)}, n->Out(0), args);
}

// No elements have the maximum -inf.
void TranslateReduceMax(OnnxNode* n) {
  EmitReduce(n, "ReduceMax", {MakeArgument("infinite_if_empty", 1)});
}
void TranslateReduceMin(OnnxNode* n) {
  EmitReduce(n, "ReduceMin", {MakeArgument("infinite_if_empty", 1)});
}

void EmitArg(OnnxNode* n, const char* type) {
  const std::string& x = n->In(0);
  if (n->Int("select_last_index", 0) != 0 || n->Type(x) != onnx::TensorProto::FLOAT ||
      !n->HasRank(x)) {
    return EmitSame(n, MakeString("ONNX", type));
  }
  n->EmitTyped(type, {n->In(0)}, n->Out(0),
               {MakeArgument("axis", n->Axis(n->In(0), n->Int("axis", 0))),
                MakeArgument("keepdims", n->Int("keepdims", 1))});
}
void TranslateArgMax(OnnxNode* n) { EmitArg(n, "ArgMax"); }
void TranslateArgMin(OnnxNode* n) { EmitArg(n, "ArgMin"); }

}  // namespace

std::vector<OnnxRow> OnnxReduceRows() {
  return {{"ArgMax", &TranslateArgMax},
          {"ArgMin", &TranslateArgMin},
          {"ReduceL1", [](OnnxNode* n) { EmitReduce(n, "ReduceL1"); }},
          {"ReduceL2", [](OnnxNode* n) { EmitReduce(n, "ReduceL2"); }},
          {"ReduceLogSum", [](OnnxNode* n) { EmitReduce(n, "ReduceLogSum"); }},
          {"ReduceLogSumExp", [](OnnxNode* n) { EmitReduce(n, "ReduceLogSumExp"); }},
          {"ReduceMax", &TranslateReduceMax, "", true},
          {"ReduceMean", [](OnnxNode* n) { EmitReduce(n, "ReduceMean"); }},
          {"ReduceMin", &TranslateReduceMin, "", true},
          {"ReduceProd", [](OnnxNode* n) { EmitReduce(n, "ReduceProd"); }},
          {"ReduceSum", [](OnnxNode* n) { EmitReduce(n, "ReduceSum"); }},
          {"ReduceSumSquare", [](OnnxNode* n) { EmitReduce(n, "ReduceSumSquare"); }}};
}

}  // namespace caffe2rt
