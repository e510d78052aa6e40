// Constants, values handed on, and control flow.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/onnx_translator.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

void TranslateIdentity(OnnxNode* n) { n->Forward(0, n->In(0)); }

void DefineList(OnnxNode* n, int type, const std::vector<double>& values, bool scalar) {
  const OnnxDims dims = scalar ? OnnxDims{} : OnnxDims{static_cast<int64_t>(values.size())};
  n->Forward(0, n->Const("value", dims, type, values));
}

void TranslateConstant(OnnxNode* n) {
  if (const onnx::TensorProto* tensor = n->TensorAttr("value"); tensor != nullptr) {
    const std::string blob = n->NewName("value");
    n->nets().DefineTensor(blob, *tensor);
    return n->Forward(0, blob);
  }
  if (n->HasAttr("value_float")) {
    return DefineList(n, onnx::TensorProto::FLOAT, {n->Float("value_float", 0)}, true);
  }
  if (n->HasAttr("value_floats")) {
    const std::vector<float> values = n->FloatList("value_floats");
    return DefineList(n, onnx::TensorProto::FLOAT, {values.begin(), values.end()}, false);
  }
  if (n->HasAttr("value_ints"))
    return n->Forward(0, n->IntConst("value", n->IntList("value_ints")));
  CAFFE_ENFORCE(n->HasAttr("value_int"), "it has none of the attributes value, value_float, ",
                "value_floats, value_int and value_ints");
  auto content = std::make_shared<OnnxContent>();
  content->ints = InAllOnnxWorlds(std::vector<int64_t>{n->Int("value_int", 0)});
  n->Forward(0,
             n->nets().Constant(n->data().name + "/value", {}, onnx::TensorProto::INT64, content));
}

// Inference: the input, and a mask of true. A mode that only run time knows needs the operator.
void TranslateDropout(OnnxNode* n) {
  if (n->Has(2) && !n->IsKnown(2)) return EmitSame(n, "ONNXDropout");
  const bool trains = n->Has(2) && n->IntAt(2) != 0 && n->FloatOr(1, 0.5f) != 0;
  CAFFE_ENFORCE(!trains, "training_mode is true, want false: the importer is for inference");
  n->Forward(0, n->In(0));
  if (!n->HasOut(1)) return;
  n->Emit(
      "ConstantFill", {n->In(0)}, {n->Out(1)},
      {MakeArgument("value", true), MakeArgument("dtype", static_cast<int>(TensorProto::BOOL))});
}

// --- If ---

// The graph as a part of the nets around it; names outside are seen.
OnnxScope ScopeFor(OnnxNode* n, const std::string& label) {
  const OnnxScope* outer = n->translator()->scope();
  return {.parent = outer,
          .prefix = n->data().name + "/" + label,
          .opsets = outer->opsets,
          .call = outer->call};
}

void TranslateGraph(OnnxNode* n, const onnx::GraphProto& graph, OnnxScope* scope) {
  n->translator()->AddInitializers(graph, scope);
  n->translator()->TranslateNodes(graph.node(), scope);
}

const onnx::GraphProto& GraphOf(const OnnxNode& n, const char* name) {
  const onnx::GraphProto* graph = n.GraphAttr(name);
  CAFFE_ENFORCE(graph != nullptr, "attribute \"", name, "\" is missing, want a graph");
  return *graph;
}

void InlineBranch(OnnxNode* n, const onnx::GraphProto& branch) {
  OnnxScope scope = ScopeFor(n, "");
  TranslateGraph(n, branch, &scope);
  CAFFE_ENFORCE_GE(static_cast<size_t>(branch.output_size()), n->outputs(), "outputs of a branch");
  for (size_t i = 0; i < n->outputs(); ++i) {
    n->Forward(i, OnnxTranslator::Find(scope, branch.output(static_cast<int>(i)).name()));
  }
}

// Operators go into the net while it lives, also after an error.
class OnnxTarget {
 public:
  OnnxTarget(OnnxNets* nets, NetDef* net) : nets_(*nets), outer_(nets->SetTarget(net)) {}
  ~OnnxTarget() { nets_.SetTarget(outer_); }
  OnnxTarget(const OnnxTarget&) = delete;
  OnnxTarget& operator=(const OnnxTarget&) = delete;

 private:
  OnnxNets& nets_;
  NetDef* const outer_;
};

// A net that writes the outputs of the node. Returns what is known of them.
std::vector<OnnxBlob> WriteBranch(OnnxNode* n, const onnx::GraphProto& branch, const char* label,
                                  const std::vector<std::string>& outs, NetDef* net) {
  CAFFE_ENFORCE_EQ(static_cast<size_t>(branch.output_size()), outs.size(), "outputs of a branch");
  net->set_name(n->data().name + "/" + label);
  const OnnxTarget target(&n->nets(), net);
  OnnxScope scope = ScopeFor(n, MakeString(label, "/"));
  std::vector<OnnxBlob> results;
  TranslateGraph(n, branch, &scope);
  for (size_t i = 0; i < outs.size(); ++i) {
    const std::string& from =
        OnnxTranslator::Find(scope, branch.output(static_cast<int>(i)).name());
    n->EmitHere("Copy", {from}, {outs[i]});
    results.push_back(n->nets().At(from));
    net->add_external_output(outs[i]);
  }
  return results;
}

// -1 if it is not known.
int64_t KnownRank(const OnnxBlob& blob) {
  return blob.has_dims ? static_cast<int64_t>(blob.dims[0].size()) : blob.rank;
}

// What is known if either branch may have run: a dim that differs is a new symbol.
OnnxBlob Joined(OnnxNode* n, const OnnxBlob& a, const OnnxBlob& b) {
  OnnxBlob joined = {.type = a.type != 0 ? a.type : b.type};
  joined.has_dims = a.has_dims && b.has_dims && a.dims[0].size() == b.dims[0].size();
  if (!joined.has_dims) {
    if (KnownRank(a) == KnownRank(b)) joined.rank = KnownRank(a);
    return joined;
  }
  joined.dims = a.dims;
  for (size_t i = 0; i < a.dims[0].size(); ++i) {
    bool same = true;
    for (size_t world = 0; world < kOnnxWorlds; ++world)
      same &= a.dims[world][i] == b.dims[world][i];
    if (same) continue;
    const InOnnxWorlds<int64_t> numbers = n->nets().symbols.Of("");
    for (size_t world = 0; world < kOnnxWorlds; ++world) joined.dims[world][i] = numbers[world];
  }
  return joined;
}

// Adds what the bodies of the loops in the net call their inputs: no blobs of the nets around them.
void AddInputsOfBodies(const NetDef& net, std::set<std::string>* names) {
  for (const OperatorDef& op : net.op()) {
    for (const Argument& argument : op.arg()) {
      if (!argument.has_n()) continue;
      const NetDef& inner = argument.n();
      AddInputsOfBodies(inner, names);
      if (op.type() != "ONNXWhile") continue;
      const int own = std::min(op.input_size(), inner.external_input_size());
      names->insert(inner.external_input().begin(), inner.external_input().begin() + own);
    }
  }
}

// Appends an If, which lists what its nets read from outside.
void EmitIf(OnnxNode* n, OperatorDef op) {
  op.set_debug_info(n->data().name);
  const NestedBlobs nested = NestedBlobsOf(op);
  std::set<std::string> skipped(op.input().begin(), op.input().end());
  skipped.insert(nested.written.begin(), nested.written.end());
  for (const Argument& argument : op.arg()) AddInputsOfBodies(argument.n(), &skipped);
  for (const std::string& name : nested.read) {
    if (n->nets().Has(name) && skipped.insert(name).second) op.add_input(name);
  }
  n->nets().Append(std::move(op), /*in_target=*/true);
}

// What the condition is for usual sizes, if it is about sizes that are not fixed.
std::optional<bool> UsualCondition(const OnnxNode& n) {
  const OnnxContent* const content = n.Content(n.In(0));
  if (content == nullptr || content->real || content->size() != 1) return std::nullopt;
  for (size_t world = 1; world < kPlainOnnxWorlds; ++world) {
    if (content->ints[world] != content->ints[0]) return std::nullopt;
  }
  return content->ints[0][0] != 0;
}

// The branch of usual sizes; with others, the net fails.
void EmitUsualBranch(OnnxNode* n, bool condition, const onnx::GraphProto& branch) {
  const std::string met = condition ? n->In(0) : n->Call("Not", {n->In(0)});
  n->EmitHere(
      "Assert", {met}, {},
      {MakeArgument("error_msg",
                    MakeString("the condition of node \"", Shortened(n->data().name),
                               "\" depends on sizes that the model leaves open, and its "
                               "branches have other ranks; import it with the shapes of the "
                               "inputs"))});
  InlineBranch(n, branch);
}

// Whether the rank of an output is that of the first branch only. PyTorch squeezes so: the other
// branch needs a size of 1.
bool AreOtherRanks(const std::vector<OnnxBlob>& first, const std::vector<OnnxBlob>& second) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (KnownRank(first[i]) >= 0 && KnownRank(first[i]) != KnownRank(second[i])) return true;
  }
  return false;
}

void TranslateIf(OnnxNode* n) {
  const onnx::GraphProto &then_graph = GraphOf(*n, "then_branch"),
                         &else_graph = GraphOf(*n, "else_branch");
  if (n->IsKnown(0)) return InlineBranch(n, n->IntAt(0) != 0 ? then_graph : else_graph);
  const std::vector<std::string> outs = n->Outs();
  NetDef then_net, else_net;
  const std::optional<bool> usual = UsualCondition(*n);
  const onnx::GraphProto& usual_graph = usual.value_or(true) ? then_graph : else_graph;
  std::vector<OnnxBlob> first, second;
  try {
    first = WriteBranch(n, then_graph, "then", outs, &then_net);
    second = WriteBranch(n, else_graph, "else", outs, &else_net);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet&) {
    if (!usual.has_value()) throw;
    // The other branch may need its sizes. If it is not that one, the error comes again.
    return EmitUsualBranch(n, *usual, usual_graph);
  }
  // What follows mostly needs the ranks.
  if (usual.has_value() && (*usual ? AreOtherRanks(first, second) : AreOtherRanks(second, first)))
    return EmitUsualBranch(n, *usual, usual_graph);
  EmitIf(n, CreateOperatorDef(
                "If", n->data().name, std::vector<std::string>{n->In(0)}, outs,
                {MakeArgument("then_net", then_net), MakeArgument("else_net", else_net)}));
  for (size_t i = 0; i < outs.size(); ++i) n->nets().At(outs[i]) = Joined(n, first[i], second[i]);
}

// --- Loop ---

// What one translation of the body found.
struct LoopBody {
  NetDef net = {};
  std::vector<OnnxBlob> after = {};  // of the carried values
  std::vector<OnnxBlob> items = {};
};

LoopBody WriteBody(OnnxNode* n, const onnx::GraphProto& graph,
                   const std::vector<OnnxBlob>& carried) {
  LoopBody body;
  const auto values = static_cast<int>(carried.size());
  CAFFE_ENFORCE(graph.input_size() == values + 2 && graph.output_size() >= values + 1,
                "the body has ", CountText(graph.input_size(), "input"), " and ",
                CountText(graph.output_size(), "output"), ", which do not fit ",
                CountText(values, "carried value"));
  body.net.set_name(n->data().name + "/body");
  NetDef* outer = n->nets().SetTarget(&body.net);
  OnnxScope scope = ScopeFor(n, "body/");
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string blob = n->nets().UniqueName(scope.prefix + graph.input(i).name());
    const OnnxBlob scalar = {.type = i == 0 ? onnx::TensorProto::INT64 : onnx::TensorProto::BOOL,
                             .has_dims = true};
    n->nets().Define(blob) = i < 2 ? scalar : carried[static_cast<size_t>(i - 2)];
    scope.blobs[graph.input(i).name()] = blob;
    body.net.add_external_input(blob);
  }
  TranslateGraph(n, graph, &scope);
  for (int i = 0; i < graph.output_size(); ++i) {
    const std::string from = OnnxTranslator::Find(scope, graph.output(i).name());
    const std::string to = n->NewName("body/result");
    if (i <= values) {
      n->EmitHere("Copy", {from}, {to});
    } else {
      n->EmitHere("ExpandDims", {from}, {to}, {MakeArgument("dims", OnnxDims{0})});
    }
    if (i > 0) (i <= values ? body.after : body.items).push_back(n->nets().At(from));
    body.net.add_external_output(to);
  }
  n->nets().SetTarget(outer);
  return body;
}

bool SameDims(const OnnxBlob& a, const OnnxBlob& b) {
  return a.has_dims == b.has_dims && (!a.has_dims || a.dims == b.dims);
}

// Translates again if an iteration changes the shape of a carried value.
LoopBody BodyOf(OnnxNode* n, const onnx::GraphProto& graph, std::vector<OnnxBlob> carried) {
  constexpr int kTries = 3;
  for (int i = 0;; ++i) {
    LoopBody body = WriteBody(n, graph, carried);
    bool same = true;
    for (size_t k = 0; k < carried.size(); ++k) {
      if (SameDims(carried[k], body.after[k])) continue;
      same = false;
      carried[k] =
          i == 0 ? Joined(n, carried[k], body.after[k]) : OnnxBlob{.type = carried[k].type};
    }
    if (same || i == kTries) return body;
  }
}

// A net lists all of its external inputs, or none: those of a body are followed by what it reads from
// outside.
void ListReads(const OnnxNode& n, NetDef* body) {
  const OperatorDef op =
      CreateOperatorDef("ONNXWhile", "", std::vector<std::string>{}, std::vector<std::string>{},
                        {MakeArgument("body", *body)});
  const NestedBlobs nested = NestedBlobsOf(op);
  std::set<std::string> listed(body->external_input().begin(), body->external_input().end());
  listed.insert(nested.written.begin(), nested.written.end());
  AddInputsOfBodies(*body, &listed);
  for (const std::string& name : nested.read) {
    if (n.HasBlob(name) && listed.insert(name).second) body->add_external_input(name);
  }
}

// The argument empty_lists of ONNXWhile: types and shapes of the stacked items without an iteration. A dim that is not
// known is 0.
std::vector<int64_t> EmptyListsOf(const std::vector<OnnxBlob>& items) {
  std::vector<int64_t> numbers;
  for (const OnnxBlob& item : items) {
    numbers.push_back(item.type == 0 ? TensorProto::INT32 : Caffe2TypeOf(item.type));
    const OnnxDims dims = item.has_dims
                              ? item.dims[0]
                              : OnnxDims(static_cast<size_t>(std::max<int64_t>(item.rank, 0)), 0);
    numbers.push_back(static_cast<int64_t>(dims.size()) + 1);
    numbers.push_back(0);
    for (size_t i = 0; i < dims.size(); ++i)
      numbers.push_back(item.has_dims && !item.IsFixedDim(i) ? 0 : dims[i]);
  }
  return numbers;
}

void TranslateLoop(OnnxNode* n) {
  const onnx::GraphProto& graph = GraphOf(*n, "body");
  std::vector<OnnxBlob> carried;
  std::vector<std::string> inputs = {
      n->Has(0) ? n->In(0) : n->Const("no_limit", {}, onnx::TensorProto::INT64, {0}),
      n->Has(1) ? n->In(1) : n->Const("true", {}, onnx::TensorProto::BOOL, {1})};
  for (size_t i = 2; i < n->inputs(); ++i) {
    inputs.push_back(n->In(i));
    carried.push_back(n->nets().At(n->In(i)));
    carried.back() = {.type = carried.back().type,
                      .has_dims = carried.back().has_dims,
                      .dims = carried.back().dims};
  }
  LoopBody body = BodyOf(n, graph, carried);
  ListReads(*n, &body.net);
  const std::vector<std::string> outs = n->Outs();
  // The number of its inputs is that of the carried values: what the body reads besides is not listed.
  n->EmitHere("ONNXWhile", inputs, outs,
              {MakeArgument("body", body.net), MakeArgument("has_trip_count", n->Has(0)),
               MakeArgument("has_cond", n->Has(1)), MakeArgument("disable_scopes", true),
               MakeArgument("empty_lists", EmptyListsOf(body.items))});
  for (size_t i = 0; i < outs.size(); ++i) {
    const size_t item = i - carried.size();
    // What a constant of the body holds is no fact: there may be no iteration.
    const OnnxBlob& given = i < carried.size() ? body.after[i] : body.items.at(item);
    OnnxBlob blob = {
        .type = given.type, .has_dims = given.has_dims, .rank = given.rank, .dims = given.dims};
    if (i >= carried.size() && blob.has_dims) {
      const auto count = n->nets().symbols.Of("");
      for (size_t world = 0; world < kOnnxWorlds; ++world) {
        blob.dims[world].insert(blob.dims[world].begin(), count[world]);
      }
    }
    n->nets().At(outs[i]) = blob;
  }
}

// --- Scan: one copy of the body for each step ---

constexpr int64_t kMaxSteps = 4096;

// Element i of a list of integers, or 0.
int64_t ListItem(const OnnxNode& n, const char* name, size_t i) {
  const std::vector<int64_t> values = n.IntList(name);
  return i < values.size() ? values[i] : 0;
}

// The slice of a scanned input for a step, without its axis.
std::string ScannedPart(OnnxNode* n, size_t input, size_t scanned, int64_t step, int64_t steps) {
  const std::string& x = n->In(input);
  const int64_t axis = n->Axis(x, ListItem(*n, "scan_input_axes", scanned));
  const int64_t at = ListItem(*n, "scan_input_directions", scanned) != 0 ? steps - 1 - step : step;
  const std::string index =
      n->ScalarConst("step", static_cast<double>(at), onnx::TensorProto::INT64);
  return n->Call("Gather", {x, index}, {OnnxInt("axis", axis)});
}

// The items of all steps as one tensor with a new axis.
std::string StackedItems(OnnxNode* n, std::vector<std::string> items, size_t output) {
  if (ListItem(*n, "scan_output_directions", output) != 0) std::reverse(items.begin(), items.end());
  const int64_t rank = n->Rank(items[0]);
  const int64_t axis = OnnxNode::AxisOf(ListItem(*n, "scan_output_axes", output), rank + 1);
  for (std::string& item : items) item = n->Call("Unsqueeze", {item, n->IntConst("axis", {axis})});
  return items.size() == 1 ? items[0] : n->Call("Concat", items, {OnnxInt("axis", axis)});
}

void TranslateScan(OnnxNode* n) {
  const onnx::GraphProto& body = GraphOf(*n, "body");
  CAFFE_ENFORCE(n->version() >= 9, "Scan of opset 8 is not supported, want 9 or later");
  const auto scanned = static_cast<size_t>(n->Int("num_scan_inputs", 0));
  CAFFE_ENFORCE(scanned > 0 && scanned <= n->inputs() &&
                    static_cast<size_t>(body.input_size()) == n->inputs() &&
                    static_cast<size_t>(body.output_size()) == n->outputs() &&
                    n->outputs() >= n->inputs() - scanned,
                "inputs or outputs of the body do not fit those of the node");
  const size_t states = n->inputs() - scanned;
  const int64_t steps = n->FixedDim(n->In(states), ListItem(*n, "scan_input_axes", 0));
  CAFFE_ENFORCE(steps > 0 && steps <= kMaxSteps, steps, " steps, want 1 to ", kMaxSteps);
  std::vector<std::string> values = n->Ins();
  std::vector<std::vector<std::string>> items(n->outputs() - states);
  for (int64_t step = 0; step < steps; ++step) {
    OnnxScope scope = ScopeFor(n, MakeString("step", step, "/"));
    for (size_t i = 0; i < n->inputs(); ++i) {
      scope.blobs[body.input(static_cast<int>(i)).name()] =
          i < states ? values[i] : ScannedPart(n, i, i - states, step, steps);
    }
    TranslateGraph(n, body, &scope);
    for (size_t i = 0; i < n->outputs(); ++i) {
      const std::string blob = OnnxTranslator::Find(scope, body.output(static_cast<int>(i)).name());
      i < states ? values[i] = blob : items[i - states].emplace_back(blob);
    }
  }
  for (size_t i = 0; i < states; ++i) n->Forward(i, values[i]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (n->HasOut(states + i)) n->Forward(states + i, StackedItems(n, items[i], i));
  }
}

}  // namespace

std::vector<OnnxRow> OnnxControlRows() {
  return {{"Constant", &TranslateConstant, "", true}, {"Dropout", &TranslateDropout, "", true},
          {"Identity", &TranslateIdentity, "", true}, {"If", &TranslateIf, "", true},
          {"Loop", &TranslateLoop, "", true},         {"Scan", &TranslateScan, "", true}};
}

}  // namespace caffe2rt
