// Operators that reduce, sort and search along axes.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// The type in which a reduction computes: its own if there is a kernel, else one that holds its values.
int KernelType(int type, bool extreme) {
  switch (type) {
    case Proto::INT8:
    case Proto::UINT8:
    case Proto::BOOL:
      return extreme ? type : Proto::INT32;
    case Proto::INT16:
    case Proto::UINT16:
      return Proto::INT32;
    case Proto::UINT32:
      return Proto::INT64;
    default:
      return type;
  }
}

// Axes that are known become an argument, so that the shape of the result is known, too. The argument
// noop_with_empty_axes also allows the types that Caffe2's operators reject.
void EmitReduce(OnnxNode* n, const char* type, std::vector<Argument> args = {},
                bool extreme = false) {
  const int from = n->Type(n->In(0)), to = KernelType(from, extreme);
  args.push_back(MakeArgument("keepdims", n->Int("keepdims", 1)));
  const int64_t noop = n->Int("noop_with_empty_axes", 0);
  if (noop != 0 || (to != Proto::FLOAT && !IsRoundedOnnxType(to))) {
    args.push_back(MakeArgument("noop_with_empty_axes", noop));
  }
  std::vector<std::string> inputs = {n->Cast(n->In(0), to)};
  if (n->Has(1) && !n->IsKnown(1)) {
    inputs.push_back(n->In(1));
  } else if (const std::vector<int64_t> axes = n->IntsOr(1, {}); !axes.empty()) {
    args.push_back(MakeArgument("axes", axes));
  }
  if (from == to) return n->Emit(type, inputs, {n->Out(0)}, args);
  const std::string wide = n->Value(type, inputs, args);
  n->Emit("Cast", {wide}, {n->Out(0)}, {MakeArgument("to", static_cast<int>(Caffe2TypeOf(from)))});
  n->SetType(n->Out(0), from);
}

// No elements have the maximum -inf.
void TranslateReduceMax(OnnxNode* n) {
  EmitReduce(n, "ReduceMax", {MakeArgument("infinite_if_empty", 1)}, true);
}
void TranslateReduceMin(OnnxNode* n) {
  EmitReduce(n, "ReduceMin", {MakeArgument("infinite_if_empty", 1)}, true);
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
