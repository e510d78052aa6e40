#include "caffe2_core/graph/backward_pass.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/graph/blob_versions.h"
#include "caffe2_core/graph/gradient_origins.h"
#include "caffe2_core/graph/gradient_sums.h"
#include "caffe2_core/graph/net_gradient.h"

namespace caffe2rt {
namespace {

std::optional<DeviceOption> DeviceOf(const OperatorDef& op) {
  if (!op.has_device_option()) return std::nullopt;
  return op.device_option();
}

// The position of a name in the gradients of an operator's inputs or outputs. Of equal names, the
// first counts.
class GradientPositions {
 public:
  explicit GradientPositions(const std::vector<GradientWrapper>& gradients) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      for (const std::string* name :
           {&gradients[i].dense_, &gradients[i].indices_, &gradients[i].values_}) {
        if (!name->empty()) positions_.emplace(*name, static_cast<int>(i));
      }
    }
  }
  // Returns -1 if the name is not one of the gradients.
  int Find(const std::string& name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? -1 : found->second;
  }

 private:
  std::unordered_map<std::string_view, int> positions_;
};

class Builder {
 public:
  explicit Builder(const google::protobuf::RepeatedPtrField<OperatorDef>& ops)
      : forward_(ops), versions_(ops), parts_(versions_.size()) {}

  BackwardPass Build(const GradientStart& start) {
    CheckStopGradients();
    Begin(start);
    for (size_t i = static_cast<size_t>(forward_.size()); i-- > 0;) {
      Differentiate(i);
      AddUp(i);
    }
    origins_.Check(pass_.ops);
    for (const auto& [blob, gradient] : pass_.gradients) {
      const auto version = gradient_version_.find(blob);
      if (version != gradient_version_.end() && !versions_.writer(version->second)) {
        pass_.from_outside.insert(blob);
      }
    }
    return std::move(pass_);
  }

 private:
  using Version = BlobVersions::Version;

  const OperatorDef& Forward(size_t i) const { return forward_.Get(static_cast<int>(i)); }

  std::string Describe(size_t op) const {
    return MakeString("operator ", op, " (", Forward(op).type(), ")");
  }

  void CheckStopGradients() const {
    for (const OperatorDef& op : forward_) {
      if (op.type() != "StopGradient" || op.output_size() == 0) continue;
      CAFFE_ENFORCE(versions_.IsRead(op.output(0)), "output \"", op.output(0),
                    "\" of StopGradient is not an input of any operator; remove the operator, or "
                    "use its output");
    }
  }

  void Begin(const GradientStart& start) {
    for (const auto& [blob, given] : start) {
      CAFFE_ENFORCE(!given.IsSparse() || (!given.indices_.empty() && !given.values_.empty()),
                    "the gradient of blob \"", blob, "\" has indices \"", given.indices_,
                    "\" and values \"", given.values_, "\", want both");
      const Version version = versions_.AddFinalUse(blob);
      if (version >= parts_.size()) parts_.resize(version + 1);
      GradientWrapper gradient = given;
      if (given.IsEmpty()) {
        gradient.dense_ = blob + "_autogen_grad";
        OperatorDef fill = CreateOperatorDef("ConstantFill", "", {blob}, {gradient.dense_},
                                             {MakeArgument<float>("value", 1.0f)});
        const std::optional<size_t> writer = versions_.writer(version);
        if (writer && Forward(*writer).has_device_option()) {
          *fill.mutable_device_option() = Forward(*writer).device_option();
        }
        const GradientOutput origin{pass_.ops.size(), 0};
        origins_.Set(version, gradient.dense_, origin);
        parts_[version].push_back({.gradient = gradient,
                                   .dense = origin,
                                   .indices = {},
                                   .values = {},
                                   .device = DeviceOf(fill)});
        pass_.ops.push_back(std::move(fill));
      }
      const bool added = pass_.gradients.emplace(blob, std::move(gradient)).second;
      CAFFE_ENFORCE(added, "blob \"", blob, "\" is given twice among the blobs to differentiate");
      gradient_version_[blob] = version;
    }
  }

  // Appends the gradient operators of forward operator `i`.
  void Differentiate(size_t i) {
    const OperatorDef& op = Forward(i);
    std::vector<GradientWrapper> of_outputs;
    bool any = op.type() == "ZeroGradient";
    for (const std::string& output : op.output()) {
      const auto known = pass_.gradients.find(output);
      of_outputs.push_back(known == pass_.gradients.end() ? GradientWrapper() : known->second);
      any = any || !of_outputs.back().IsEmpty();
    }
    if (!any) return;
    GradientOpsMeta meta;
    try {
      meta = GetGradientInNet(op, of_outputs);
      CheckInputs(i, meta, of_outputs);
    } catch (...) {
      RethrowWithFrame(MakeString("gradient of ", Describe(i)));
    }
    SeparateSteps(i, &meta);
    Collect(i, meta, of_outputs);
    RecordGradients(i, meta.g_input_);
    pass_.ops.insert(pass_.ops.end(), std::make_move_iterator(meta.ops_.begin()),
                     std::make_move_iterator(meta.ops_.end()));
  }

  // A gradient operator reads gradients of the outputs, outputs, inputs, and what the gradient
  // operators before it made. The blob must still contain that value.
  void CheckInputs(size_t i, const GradientOpsMeta& meta,
                   const std::vector<GradientWrapper>& of_outputs) {
    const GradientPositions positions(of_outputs);
    const BlobVersions::Names outputs = versions_.outputs(i), inputs = versions_.inputs(i);
    std::set<std::string_view> made;
    for (size_t k = 0; k < meta.ops_.size(); ++k) {
      const OperatorDef& gradient_op = meta.ops_[k];
      for (const std::string& name : gradient_op.input()) {
        const int output = positions.Find(name);
        if (output >= 0) {
          const std::string& blob = Forward(i).output(output);
          CheckGradient(i, blob, name, outputs);
          if (made.contains(name)) continue;
          origins_.Expect(pass_.ops.size() + k, name, origins_.Get(outputs.at(blob), name));
        } else if (const auto written = outputs.find(name); written != outputs.end()) {
          CheckValue(name, written->second, gradient_op.type(), "wrote");
        } else if (const auto read = inputs.find(name); read != inputs.end()) {
          CheckValue(name, read->second, gradient_op.type(), "read");
        } else {
          CAFFE_ENFORCE(made.contains(name), gradient_op.type(), " uses blob \"", name,
                        "\", which is not an input, an output or a gradient of the operator");
        }
      }
      made.insert(gradient_op.output().begin(), gradient_op.output().end());
    }
    // A maker may return an input as the indices of a sparse gradient.
    for (const GradientWrapper& gradient : meta.g_input_) {
      for (const std::string* name : {&gradient.dense_, &gradient.indices_, &gradient.values_}) {
        const auto read = inputs.find(*name);
        if (read == inputs.end() || made.contains(*name) || positions.Find(*name) >= 0) continue;
        if (!outputs.contains(*name)) CheckValue(*name, read->second, Forward(i).type(), "read");
      }
    }
  }

  void CheckGradient(size_t i, const std::string& output, const std::string& gradient,
                     const BlobVersions::Names& outputs) const {
    const Version written = outputs.at(output);
    const auto of = gradient_version_.find(output);
    if (of != gradient_version_.end() && of->second == written) return;
    const std::optional<size_t> writer =
        of == gradient_version_.end() ? std::nullopt : versions_.writer(of->second);
    CAFFE_THROW("\"", gradient, "\" is the gradient of the value of blob \"", output, "\" that ",
                writer ? Describe(*writer) : "the caller", writer ? " wrote" : " provided",
                ", want the gradient of the value that ", Describe(i), " wrote");
  }

  void CheckValue(const std::string& blob, Version version, const std::string& reader,
                  const char* verb) const {
    const std::optional<size_t> overwriter = versions_.overwriter(version);
    if (!overwriter) return;
    CAFFE_THROW(reader, " needs the value of blob \"", blob, "\" that the operator ", verb,
                ", but ", Describe(*overwriter),
                " overwrites it; write the output of that operator to another blob");
  }

  // If several gradients of an input will be added up, gives another name to the values that the
  // gradient operators pass on to each other in the blob of the gradient: they are not gradients.
  void SeparateSteps(size_t i, GradientOpsMeta* meta) const {
    const BlobVersions::Names inputs = versions_.inputs(i);
    for (size_t input = 0; input < meta->g_input_.size(); ++input) {
      const std::string& name = meta->g_input_[input].dense_;
      if (name.empty() ||
          !versions_.HasSeveralUses(inputs.at(Forward(i).input(static_cast<int>(input))))) {
        continue;
      }
      std::string* last = nullptr;  // the last output with this name
      for (OperatorDef& op : meta->ops_) {
        if (last != nullptr && HasInput(op, name)) {
          *last = MakeString("_", name, "_autogen_step");
          for (std::string& read : *op.mutable_input()) {
            if (read == name) read = *last;
          }
        }
        for (std::string& output : *op.mutable_output()) {
          if (output == name) last = &output;
        }
      }
    }
  }

  // Assigns the outputs of the gradient operators, which come next in the backward pass, to the
  // versions whose gradients they are.
  void Collect(size_t i, const GradientOpsMeta& meta,
               const std::vector<GradientWrapper>& of_outputs) {
    const GradientPositions positions(meta.g_input_), given(of_outputs);
    const BlobVersions::Names outputs = versions_.outputs(i);
    const BlobVersions::Names inputs = versions_.inputs(i);
    std::set<std::string_view> made;
    // Sparse gradients get one part for indices and values, placed after the dense ones.
    std::vector<std::pair<Version, GradientPart>> sparse;
    std::unordered_map<int, size_t> sparse_of_input;
    for (size_t k = 0; k < meta.ops_.size(); ++k) {
      const OperatorDef& gradient_op = meta.ops_[k];
      for (int out = 0; out < gradient_op.output_size(); ++out) {
        const std::string& name = gradient_op.output(out);
        made.insert(name);
        const int input = positions.Find(name);
        if (input < 0) continue;
        const GradientWrapper& gradient = meta.g_input_[static_cast<size_t>(input)];
        const Version version = inputs.at(Forward(i).input(input));
        const GradientOutput origin{pass_.ops.size() + k, out};
        origins_.Set(version, name, origin);
        if (gradient.IsDense()) {
          parts_[version].push_back({gradient, origin, {}, {}, DeviceOf(gradient_op)});
          continue;
        }
        const auto [entry, first] = sparse_of_input.emplace(input, sparse.size());
        if (first) sparse.push_back({version, {gradient, {}, {}, {}, DeviceOf(gradient_op)}});
        GradientPart& part = sparse[entry->second].second;
        (name == gradient.indices_ ? part.indices : part.values) = origin;
      }
    }
    for (auto& [version, part] : sparse) {
      parts_[version].push_back(std::move(part));
    }
    for (size_t input = 0; input < meta.g_input_.size(); ++input) {
      const GradientWrapper& gradient = meta.g_input_[input];
      const std::string& blob = Forward(i).input(static_cast<int>(input));
      const bool passed_on = gradient.IsDense()
                                 ? !made.contains(gradient.dense_)
                                 : gradient.IsSparse() && !made.contains(gradient.indices_) &&
                                       !made.contains(gradient.values_);
      if (passed_on) {
        parts_[inputs.at(blob)].push_back({gradient, {}, {}, {}, DeviceOf(Forward(i))});
      }
      for (const std::string* name : {&gradient.dense_, &gradient.indices_, &gradient.values_}) {
        const int output = made.contains(*name) ? -1 : given.Find(*name);
        if (output < 0) continue;
        const Version version = outputs.at(Forward(i).output(output));
        origins_.Set(inputs.at(blob), *name, origins_.Get(version, *name));
      }
      if (!gradient.IsEmpty()) gradient_version_[blob] = inputs.at(blob);
    }
  }

  // An input without a gradient keeps the one of a later reader, unless the operator overwrites
  // the blob: then the known gradient is that of the value written.
  void RecordGradients(size_t i, const std::vector<GradientWrapper>& of_inputs) {
    const OperatorDef& op = Forward(i);
    const std::set<std::string_view> outputs(op.output().begin(), op.output().end());
    std::set<std::string_view> set;
    for (size_t input = 0; input < of_inputs.size(); ++input) {
      const std::string& blob = op.input(static_cast<int>(input));
      if (!of_inputs[input].IsEmpty()) {
        pass_.gradients[blob] = of_inputs[input];
        set.insert(blob);
      } else if (outputs.contains(blob) && !set.contains(blob)) {
        pass_.gradients.erase(blob);
      }
    }
  }

  // Adds up the gradients of the versions that forward operator `i` is the first to read.
  void AddUp(size_t i) {
    std::set<std::string_view> done;
    for (int k = 0; k < Forward(i).input_size(); ++k) {
      const std::string& blob = Forward(i).input(k);
      if (!done.insert(blob).second) continue;
      const Version version = versions_.input(i, static_cast<size_t>(k));
      const std::vector<GradientPart>& parts = parts_[version];
      if (parts.size() < 2 || !versions_.IsFirstOfSeveralUses(version, i)) continue;
      const size_t first = pass_.ops.size();
      pass_.gradients[blob] = AddUpGradients(blob, parts, &pass_.ops);
      ExpectTerms(version, parts, first);
      for (size_t op = first; op < pass_.ops.size(); ++op) {
        origins_.Set(version, pass_.ops[op].output(0), GradientOutput{op, 0});
      }
    }
  }

  // The operators from `first` on, which add up the parts, must find them.
  void ExpectTerms(Version version, const std::vector<GradientPart>& parts, size_t first) {
    std::unordered_map<std::string, GradientOutput> made;
    for (const GradientPart& part : parts) {
      for (const auto& origin : {part.dense, part.indices, part.values}) {
        if (origin) made[pass_.ops[origin->op].output(origin->index)] = *origin;
      }
    }
    for (size_t op = first; op < pass_.ops.size(); ++op) {
      for (const std::string& name : pass_.ops[op].input()) {
        const auto found = made.find(name);
        origins_.Expect(op, name,
                        found != made.end() ? GradientOrigins::Origin(found->second)
                                            : origins_.Get(version, name));
      }
    }
  }

  const google::protobuf::RepeatedPtrField<OperatorDef>& forward_;
  BlobVersions versions_;
  std::vector<std::vector<GradientPart>> parts_;  // by version
  GradientOrigins origins_;
  // The version of each blob whose gradient pass_.gradients holds.
  std::unordered_map<std::string, Version> gradient_version_;
  BackwardPass pass_;
};

// Keeps the gradients of the blobs `wrt`, and the operators that compute them: from the last
// operator to the first, those that write a blob that is needed at that point.
void Restrict(const std::vector<std::string>& wrt, BackwardPass* pass) {
  GradientMap wanted;
  std::unordered_set<std::string> needed;
  for (const std::string& blob : wrt) {
    const auto found = pass->gradients.find(blob);
    if (found == pass->gradients.end()) {
      std::vector<std::string> known;
      for (const auto& [name, gradient] : pass->gradients) known.push_back(name);
      const std::string close = absl::StrJoin(NearestNames(blob, known), ", ");
      CAFFE_THROW("blob \"", blob, "\" has no gradient", close.empty() ? "" : "; close: ", close);
    }
    wanted.insert(*found);
    for (const std::string* name :
         {&found->second.dense_, &found->second.indices_, &found->second.values_}) {
      needed.insert(*name);
    }
  }
  std::vector<OperatorDef> kept;
  for (auto op = pass->ops.rbegin(); op != pass->ops.rend(); ++op) {
    const bool needs = std::any_of(op->output().begin(), op->output().end(),
                                   [&](const std::string& name) { return needed.contains(name); });
    if (!needs) continue;
    for (const std::string& name : op->output()) needed.erase(name);
    needed.insert(op->input().begin(), op->input().end());
    kept.push_back(std::move(*op));
  }
  std::reverse(kept.begin(), kept.end());
  pass->ops = std::move(kept);
  pass->gradients = std::move(wanted);
}

}  // namespace

BackwardPass GetBackwardPass(const google::protobuf::RepeatedPtrField<OperatorDef>& ops,
                             const GradientStart& start) {
  return Builder(ops).Build(start);
}

GradientMap AddGradientOperators(NetDef* net, const GradientStart& start,
                                 const BackwardPassOptions& options) {
  CAFFE_ENFORCE_LE(options.skip, static_cast<size_t>(net->op_size()), "operators to skip in net \"",
                   net->name(), "\"");
  const google::protobuf::RepeatedPtrField<OperatorDef> ops(
      net->op().begin() + static_cast<int>(options.skip), net->op().end());
  BackwardPass pass = GetBackwardPass(ops, start);
  if (!options.wrt.empty()) Restrict(options.wrt, &pass);
  for (OperatorDef& op : pass.ops) net->add_op()->Swap(&op);
  return std::move(pass.gradients);
}

}  // namespace caffe2rt
