// Operators with nets inside: branches and loops.

#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/export/operator_export.h"
#include "caffe2_core/export/operator_writer.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

NetDef NetArgumentOf(const OperatorExport& op, const char* name) {
  CAFFE_ENFORCE(op.args.HasSingleArgumentOfType<NetDef>(name), "argument \"", name,
                "\" is missing, want a net");
  return op.args.GetSingleArgument<NetDef>(name, NetDef());
}

TensorShape TypeOnly(const TensorShape& shape) {
  TensorShape type = UnknownShape();
  if (shape.has_data_type()) type.set_data_type(shape.data_type());
  return type;
}

TensorShape ShapeIn(const ShapeMap& shapes, const std::string& blob) {
  const auto found = shapes.find(blob);
  return found == shapes.end() ? UnknownShape() : found->second;
}

bool IsSame(const TensorShape& a, const TensorShape& b) {
  return !a.unknown_shape() && !b.unknown_shape() && a.data_type() == b.data_type() &&
         GetDimsVector(a) == GetDimsVector(b);
}

// Nets write blobs of the net around them; ONNX's graphs write values of their own. THROWS if that
// makes a difference.
void CheckWrites(const OperatorExport& op, const std::set<std::string>& inputs) {
  std::set<std::string> fine(op.def().output().begin(), op.def().output().end());
  for (const std::string& blob : NestedBlobsOf(op.def()).written) {
    CAFFE_ENFORCE(fine.contains(blob) || !op.graph().HasValue(blob), "a net inside writes \"", blob,
                  "\" of the net around it, which is not an output of the operator; ONNX's graphs "
                  "cannot do that");
  }
  for (const std::string& blob : inputs) {
    CAFFE_ENFORCE(!op.graph().HasValue(blob), "input \"", blob,
                  "\" of the body has the name of a blob outside, want another name");
  }
}

// A graph's output: a value that one of its nodes writes.
void AddResult(OperatorExport* op, const std::string& blob, onnx::GraphProto* graph) {
  graph->add_output()->set_name(op->Emit("Identity", {op->graph().Value(blob)}));
}

void WriteIf(OperatorExport* op) {
  CheckWrites(*op, {});
  const std::string condition = op->In(0);
  onnx::GraphProto graphs[2];
  std::vector<TensorShape> results[2];
  constexpr const char* kNets[] = {"then_net", "else_net"};
  for (size_t i = 0; i < 2; ++i) {
    const NetDef net = NetArgumentOf(*op, kNets[i]);
    ShapeMap shapes = op->shapes();
    graphs[i].set_name(net.name().empty() ? kNets[i] : net.name());
    op->graph().WriteInside(&graphs[i], net, [&] {
      WriteOperators(net, op->graph(), &shapes);
      for (const std::string& output : op->def().output()) {
        AddResult(op, output, &graphs[i]);
        results[i].push_back(ShapeIn(shapes, output));
      }
    });
  }
  std::vector<std::string> outputs;
  for (int i = 0; i < op->def().output_size(); ++i) {
    const auto index = static_cast<size_t>(i);
    const TensorShape &a = results[0][index], &b = results[1][index];
    op->shapes()[op->def().output(i)] = IsSame(a, b) ? a : TypeOnly(a.has_data_type() ? a : b);
    outputs.push_back(op->Out(i));
  }
  onnx::NodeProto* const node = op->graph().AddNode("If", {condition}, outputs, {});
  SetGraph("then_branch", &graphs[0], node);
  SetGraph("else_branch", &graphs[1], node);
}

// The value as a bool.
std::string AsBool(OperatorExport* op, const std::string& value, TensorProto_DataType type) {
  return type == TensorProto::INT32 || type == TensorProto::INT64
             ? op->Emit("Cast", {value}, {Int("to", ExportedTypeOf(TensorProto::BOOL))})
             : value;
}

// Sets the shapes of the body's inputs in `shapes`. Those of carried values stay where inference finds
// that an iteration does not change them.
void StateBodyInputs(const OperatorExport& op, const NetDef& body, ShapeMap* shapes) {
  const int values = op.def().input_size() - 2;
  (*shapes)[body.external_input(0)] = CreateTensorShape(std::vector<int64_t>(), TensorProto::INT64);
  (*shapes)[body.external_input(1)] = CreateTensorShape(std::vector<int64_t>(), TensorProto::BOOL);
  for (int k = 0; k < values; ++k) {
    (*shapes)[body.external_input(2 + k)] = ShapeIn(*shapes, op.def().input(2 + k));
  }
  for (bool changed = true; changed;) {
    changed = false;
    ShapeMap trial = *shapes;
    (void)InferOpShapes({&body}, &trial);
    for (int k = 0; k < values; ++k) {
      TensorShape& shape = (*shapes)[body.external_input(2 + k)];
      if (shape.unknown_shape() || IsSame(shape, ShapeIn(trial, body.external_output(1 + k))))
        continue;
      shape = TypeOnly(shape);
      changed = true;
    }
  }
}

// The value of which a list has one in each iteration: the body gives it a first axis of one element.
std::string ItemOf(const NetDef& body, const std::string& blob) {
  for (int i = body.op_size() - 1; i >= 0; --i) {
    const OperatorDef& op = body.op(i);
    if (op.output_size() == 0 || op.output(0) != blob) continue;
    const ArgumentHelper args(op);
    if (op.type() == "ExpandDims" && args.GetRepeatedArgument<int64_t>("dims") == OnnxDims{0})
      return op.input(0);
    break;
  }
  CAFFE_THROW("the items \"", blob,
              "\" of a list are not the result of an ExpandDims of axis 0, as "
              "ONNX's Loop makes them");
}

// ONNX has no operator that fails. The outputs are the same where the net does not fail.
void LeaveOutAssert(OperatorExport* op) {
  op->graph().Note(MakeString("Assert of \"", op->In(0), "\" is left out: ONNX has no such check"));
}

void WriteOnnxWhile(OperatorExport* op) {
  const NetDef body = NetArgumentOf(*op, "body");
  const int values = op->def().input_size() - 2;
  const int results = body.external_output_size();
  CAFFE_ENFORCE(values >= 0 && body.external_input_size() >= 2 + values && results >= 1 + values &&
                    op->def().output_size() >= results - 1,
                "the body has ", CountText(body.external_input_size(), "input"), " and ",
                CountText(results, "output"), ", which do not fit ",
                CountText(values, "carried value"));
  const auto begin = body.external_input().begin();
  CheckWrites(*op, std::set<std::string>(begin, begin + 2 + values));
  std::vector<std::string> inputs = {"", ""};
  if (op->args.GetSingleArgument<bool>("has_trip_count", false)) inputs[0] = op->In(0);
  if (op->args.GetSingleArgument<bool>("has_cond", false))
    inputs[1] = AsBool(op, op->In(1), op->InputType(1));
  for (int k = 0; k < values; ++k) inputs.push_back(op->In(2 + k));
  ShapeMap shapes = op->shapes();
  StateBodyInputs(*op, body, &shapes);
  onnx::GraphProto graph;
  graph.set_name(body.name().empty() ? "body" : body.name());
  op->graph().WriteInside(&graph, body, [&] {
    for (int k = 0; k < 2 + values; ++k) {
      onnx::ValueInfoProto* const input = graph.add_input();
      input->set_name(op->graph().AddInput(body.external_input(k)));
      if (k > 1) continue;  // the iteration and the condition are scalars
      auto* const type = input->mutable_type()->mutable_tensor_type();
      type->set_elem_type(ExportedTypeOf(k == 0 ? TensorProto::INT64 : TensorProto::BOOL));
      (void)type->mutable_shape();
    }
    WriteOperators(body, op->graph(), &shapes);
    const std::string& condition = body.external_output(0);
    const std::string flag =
        AsBool(op, op->graph().Value(condition), ShapeIn(shapes, condition).data_type());
    graph.add_output()->set_name(op->Emit("Identity", {flag}));
    for (int k = 1; k <= values; ++k) AddResult(op, body.external_output(k), &graph);
    for (int k = 1 + values; k < results; ++k)
      AddResult(op, ItemOf(body, body.external_output(k)), &graph);
  });
  std::vector<std::string> outputs;
  for (int k = 0; k < results - 1; ++k) {
    const bool is_list = k >= values;
    const std::string& from = is_list ? body.external_output(1 + k) : body.external_input(2 + k);
    const TensorShape shape = ShapeIn(shapes, from);
    op->shapes()[op->def().output(k)] = is_list ? TypeOnly(shape) : shape;
    outputs.push_back(op->Out(k));
  }
  SetGraph("body", &graph, op->graph().AddNode("Loop", inputs, outputs, {}));
}

}  // namespace

std::vector<OnnxExportRow> ControlExportRows() {
  return {{"Assert", LeaveOutAssert}, {"If", WriteIf}, {"ONNXWhile", WriteOnnxWhile}};
}

}  // namespace caffe2rt
