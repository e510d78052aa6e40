#include "caffe2_core/inspect/model_check.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/input_check.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

using enum NetFindingKind;

// Whether the documentation of the operator names its input as a parameter.
bool IsWeight(const OperatorDef& op, int input) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr || static_cast<size_t>(input) >= schema->input_docs().size()) return false;
  static constexpr const char* kNames[] = {"filter", "W",     "weights", "b",     "bias",
                                           "scale",  "mean",  "var",     "gamma", "beta",
                                           "slope",  "Slope", "weight",  "scales"};
  const std::string& name = schema->input_docs()[static_cast<size_t>(input)].name;
  return input > 0 && std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The first operator that reads each of the blobs.
struct FirstRead {
  std::string name;
  int op = 0;
  int input = 0;
};

std::vector<FirstRead> FirstReadsOf(const NetDef& net, const std::vector<std::string>& names) {
  std::unordered_set<std::string> left(names.begin(), names.end());
  std::vector<FirstRead> reads;
  for (int i = 0; i < net.op_size() && !left.empty(); ++i) {
    for (int k = 0; k < net.op(i).input_size(); ++k) {
      if (left.erase(net.op(i).input(k)) > 0)
        reads.push_back({.name = net.op(i).input(k), .op = i, .input = k});
    }
  }
  return reads;
}

// Shapes before the net runs.
ShapeMap ShapesBefore(const ModelToCheck& model) {
  ShapeMap shapes = model.filled;
  InferOpShapes(model.init_nets, &shapes);
  for (const auto& [name, shape] : model.filled) shapes[name] = shape;
  for (const ZeroPlaceholder& placeholder : model.zero_placeholders) {
    if (!placeholder.HasInputShape()) shapes.erase(placeholder.name);
  }
  for (const auto& [name, shape] : model.given) {
    if (!shape.unknown_shape()) shapes[name] = shape;
  }
  return shapes;
}

// The values of blobs that no operator has written yet.
class ValuesBefore {
 public:
  explicit ValuesBefore(const ModelToCheck& model) : values_(model.values) {}

  // Of the operator's inputs, null if they are not known.
  std::vector<const Tensor*> Inputs(const OperatorDef& op) const {
    std::vector<const Tensor*> inputs;
    for (const std::string& name : op.input()) {
      const auto found = values_.find(name);
      inputs.push_back(found != values_.end() ? found->second : nullptr);
    }
    return inputs;
  }
  // Nets in the operator may write any blob.
  void Write(const OperatorDef& op) {
    if (HasNestedNets(op)) return values_.clear();
    for (const std::string& name : op.output()) values_.erase(name);
  }

 private:
  std::map<std::string, const Tensor*> values_;
};

class InputCheck {
 public:
  InputCheck(const NetDef& net, const ModelToCheck& model) : net_(net), model_(model) {}

  std::vector<NetFinding> Run() {
    const std::vector<FirstRead> missing = FirstReadsOf(net_, Missing());
    std::vector<FirstRead> inputs;
    for (size_t i = 0; i < missing.size(); ++i) {
      const FirstRead& read = missing[i];
      if (AddReadBeforeWrite(read)) continue;
      if (model_.has_surroundings && IsWeight(net_.op(read.op), read.input)) {
        i = AddWeights(missing, i);
      } else {
        inputs.push_back(read);
      }
    }
    if (!inputs.empty()) AddInputs(inputs);
    return std::move(findings_);
  }

 private:
  // The blobs that nothing fills, in order of first use.
  std::vector<std::string> Missing() const {
    // An external_input may be given when the net runs.
    if (!model_.has_surroundings && net_.external_input_size() > 0) return {};
    std::unordered_set<std::string> filled;
    for (const NetDef* init : model_.init_nets) {
      for (std::string& name : NamesWrittenBy(*init)) filled.insert(std::move(name));
    }
    for (const ZeroPlaceholder& placeholder : model_.zero_placeholders) {
      filled.erase(placeholder.name);
    }
    for (const auto& [name, shape] : model_.filled) filled.insert(name);
    for (const auto& [name, shape] : model_.given) filled.insert(name);
    return UnfilledInputs(net_, [&](const std::string& name) { return filled.contains(name); });
  }

  // Returns false if the net does not write the blob. In a net with external_input, ValidateNet
  // reports these.
  bool AddReadBeforeWrite(const FirstRead& read) {
    const uint32_t writer = blobs_.first_writer(blobs_.Find(read.name));
    if (writer == NetBlobs::kNone || declared_.contains(read.name)) return false;
    if (!declared_.empty()) return true;
    Add(kError, {read.op},
        MakeString("operator ", Shortened(net_.op(read.op).type()), " reads \"",
                   Shortened(read.name), "\" before operator ", writer, " writes it"));
    return true;
  }

  void AddInputs(const std::vector<FirstRead>& reads) {
    std::vector<std::string> names;
    std::vector<int> ops;
    for (const FirstRead& read : reads) {
      names.push_back(read.name);
      if (ops.empty() || ops.back() != read.op) ops.push_back(read.op);
    }
    if (!model_.has_surroundings) {
      return Add(kError, {},
                 MakeString("nothing fills ", Names(names),
                            ", and the net declares no external_input; --init-net and --input fill "
                            "inputs"));
    }
    const bool must_be_filled = model_.given_is_complete || declared_.empty();
    Add(must_be_filled ? kError : kNote, std::move(ops),
        InputsNotGivenText(net_, names, model_.zero_placeholders, ShapesBefore(model_)));
  }

  // Adds one finding about the weights of the operator that reads missing[i]. Returns the position
  // of the last of them.
  size_t AddWeights(const std::vector<FirstRead>& missing, size_t i) {
    const int op = missing[i].op;
    std::vector<std::string> names;
    size_t last = i;
    for (size_t k = i; k < missing.size() && missing[k].op == op; ++k) {
      if (!IsWeight(net_.op(op), missing[k].input)) break;
      names.push_back(missing[k].name);
      last = k;
    }
    Add(kError, {op},
        MakeString("no init net fills the weights ", Names(names), " of ",
                   Shortened(net_.op(op).type())));
    return last;
  }

  static std::string Names(const std::vector<std::string>& names) {
    constexpr size_t kMost = 10;
    std::vector<std::string> shown;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
      shown.push_back("\"" + Shortened(names[i]) + "\"");
    }
    const size_t others = names.size() - shown.size();
    return absl::StrJoin(shown, ", ") + (others > 0 ? MakeString(" and ", others, " more") : "");
  }

  void Add(NetFindingKind kind, std::vector<int> ops, std::string text) {
    findings_.push_back({.kind = kind,
                         .ops = std::move(ops),
                         .path = "",
                         .text = std::move(text),
                         .missing_type = ""});
  }

  const NetDef& net_;
  const ModelToCheck& model_;
  const NetBlobs blobs_{net_};
  const std::unordered_set<std::string> declared_{net_.external_input().begin(),
                                                  net_.external_input().end()};
  std::vector<NetFinding> findings_;
};

// The findings of ValidateShapes about operators without an error of their own, such as a wrong
// argument, which inference would repeat.
std::vector<NetFinding> NewShapeFindings(const NetDef& net, const ModelToCheck& model,
                                         const std::vector<NetFinding>& known) {
  std::set<int> rejected;
  for (const NetFinding& finding : known) {
    if (finding.kind == kError && finding.path.empty())
      rejected.insert(finding.ops.begin(), finding.ops.end());
  }
  std::vector<NetFinding> findings = ValidateShapes(net, model);
  std::erase_if(findings,
                [&](const NetFinding& finding) { return rejected.contains(finding.ops[0]); });
  return findings;
}

}  // namespace

std::vector<NetFinding> ValidateInitNet(const NetDef& net) try {
  std::vector<NetFinding> findings = ValidateNet(net);
  std::vector<NetFinding> shapes = NewShapeFindings(net, {}, findings);
  findings.insert(findings.begin(), std::move_iterator(shapes.begin()),
                  std::move_iterator(shapes.end()));
  return findings;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<NetFinding> ValidateShapes(const NetDef& net, const ModelToCheck& model) try {
  EnsureBuiltinOperators();
  ShapeMap shapes = ShapesBefore(model);
  ValuesBefore values(model);
  std::vector<NetFinding> findings;
  for (const OpShapes& op : InferOpShapes({&net}, &shapes)) {
    const OperatorDef& def = net.op(op.op);
    const std::vector<const Tensor*> known = values.Inputs(def);
    values.Write(def);
    std::string text;
    if (op.failed) {
      text = op.inputs.empty() ? MakeString(" fails: ", op.problem)
                               : MakeString(" rejects the shapes of its inputs: ", op.problem);
    } else if (const std::string wrong =
                   model.types_are_known ? WrongInputType(def, op.inputs) : "";
               !wrong.empty()) {
      text = MakeString(" rejects the types of its inputs: ", wrong);
    } else if (const std::string problem =
                   model.types_are_known ? InputProblem(def, op.inputs, known) : "";
               !problem.empty()) {
      text = MakeString(" rejects its inputs: ", problem);
    } else {
      continue;
    }
    findings.push_back({.kind = kError,
                        .ops = {op.op},
                        .path = "",
                        .text = MakeString("operator ", Shortened(def.type()), text),
                        .missing_type = ""});
  }
  return findings;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<NetFinding> ValidateModel(const NetDef& net, const ModelToCheck& model) try {
  std::vector<NetFinding> findings = ValidateNet(net);
  std::vector<NetFinding> shapes = NewShapeFindings(net, model, findings);
  for (NetFinding& finding : InputCheck(net, model).Run()) findings.push_back(std::move(finding));
  std::move(shapes.begin(), shapes.end(), std::back_inserter(findings));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const NetFinding& a, const NetFinding& b) { return a.kind < b.kind; });
  return findings;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
