// Reductions and selections.

#include <numeric>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

// Axes are an input of ReduceSum, and from opset 18 on of all.
void NodeReduce(OperatorExport* op, const std::vector<int64_t>& axes, int64_t keep) {
  const std::string type(op->row().onnx_type);
  const std::string x = op->In(0);
  std::vector<std::string> inputs = {x};
  OnnxAttributes attributes = {Int("keepdims", keep)};
  const bool as_input = type == "ReduceSum" || op->graph().opset() >= 18;
  if (!axes.empty() && as_input) inputs.push_back(op->graph().Constant(axes));
  if (!axes.empty() && !as_input) attributes.push_back(Ints("axes", axes));
  op->Node(type, inputs, {op->Out()}, attributes);
}

// Axes that the net computes stay an input.
void WriteReduceOfComputedAxes(OperatorExport* op) {
  const std::string type(op->row().onnx_type);
  CAFFE_ENFORCE(type == "ReduceSum" || op->graph().opset() >= 18, "axes of ", type,
                " that the net computes need opset 18; choose it with --opset; opset is ",
                op->graph().opset());
  op->Node(type, op->Ins(), {op->Out()},
           {Int("keepdims", op->args.GetSingleArgument<int64_t>("keepdims", 1)),
            Int("noop_with_empty_axes",
                op->args.GetSingleArgument<int64_t>("noop_with_empty_axes", 0))});
}

void WriteReduce(OperatorExport* op) {
  if (op->HasInput(1)) return WriteReduceOfComputedAxes(op);
  const bool no_axes = op->args.GetRepeatedArgument<int64_t>("axes").empty();
  if (no_axes && op->args.GetSingleArgument<int64_t>("noop_with_empty_axes", 0) != 0)
    return op->Node("Identity", {op->In(0)}, {op->Out()});
  NodeReduce(op, op->args.GetRepeatedArgument<int64_t>("axes"),
             op->args.GetSingleArgument<int64_t>("keepdims", 1));
}

// ReduceFront*, ReduceBack*: the first or last dims.
void WriteReduceEnd(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(1), "input 1 (lengths) of ", op->def().type(),
                " has no counterpart in ONNX");
  const auto count = op->args.GetSingleArgument<int64_t>("num_reduce_dim", 1);
  if (count == 0) return op->Node("Identity", op->Ins(), {op->Out()});
  std::vector<int64_t> axes(static_cast<size_t>(count));
  const bool front = op->def().type().starts_with("ReduceFront");
  std::iota(axes.begin(), axes.end(), front ? 0 : op->Rank(0) - count);
  NodeReduce(op, axes, 0);
}

void WriteArg(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node(std::string(op->row().onnx_type), {x}, {op->Out()},
           {Int("axis", op->args.GetSingleArgument<int64_t>("axis", -1)),
            Int("keepdims", op->args.GetSingleArgument<int64_t>("keepdims", 1))});
}

void WriteTopK(OperatorExport* op) {
  op->RefuseOutputsFrom(2);
  const auto k = op->args.GetSingleArgument<int64_t>("k", -1);
  const std::string x = op->In(0);
  std::string count;
  if (k > 0) {
    count = op->graph().Constant({k});
  } else {
    count = op->Emit("Reshape", {op->In(1), op->graph().Constant({1})});
  }
  const std::string values = op->Out(0), indices = op->Out(1);
  op->Node("TopK", {x, count}, {values, indices},
           {Int("axis", op->args.GetSingleArgument<int64_t>("axis", -1))});
}

}  // namespace

std::vector<OnnxExportRow> ReduceExportRows() {
  return {
      {"ReduceSum", WriteReduce, "ReduceSum"},
      {"ReduceMean", WriteReduce, "ReduceMean"},
      {"ReduceMax", WriteReduce, "ReduceMax"},
      {"ReduceMin", WriteReduce, "ReduceMin"},
      {"ReduceProd", WriteReduce, "ReduceProd"},
      {"ReduceSumSquare", WriteReduce, "ReduceSumSquare"},
      {"ReduceLogSum", WriteReduce, "ReduceLogSum"},
      {"ReduceLogSumExp", WriteReduce, "ReduceLogSumExp"},
      {"ReduceL1", WriteReduce, "ReduceL1"},
      {"ReduceL2", WriteReduce, "ReduceL2"},
      {"ReduceFrontSum", WriteReduceEnd, "ReduceSum"},
      {"ReduceFrontMean", WriteReduceEnd, "ReduceMean"},
      {"ReduceFrontMax", WriteReduceEnd, "ReduceMax"},
      {"ReduceBackSum", WriteReduceEnd, "ReduceSum"},
      {"ReduceBackMean", WriteReduceEnd, "ReduceMean"},
      {"ReduceBackMax", WriteReduceEnd, "ReduceMax"},
      {"ArgMax", WriteArg, "ArgMax"},
      {"ArgMin", WriteArg, "ArgMin"},
      {"TopK", WriteTopK},
  };
}

}  // namespace caffe2rt
