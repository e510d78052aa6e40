#include "caffe2_core/graph/gradient_sums.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"

namespace caffe2rt {
namespace {

std::string WithoutSuffix(const std::string& name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

bool SameDevice(const std::optional<DeviceOption>& a, const std::optional<DeviceOption>& b) {
  const DeviceOption& x = a ? *a : DeviceOption::default_instance();
  const DeviceOption& y = b ? *b : DeviceOption::default_instance();
  return x.device_type() == y.device_type() && x.device_id() == y.device_id();
}

void CheckAddable(const std::string& blob, const std::vector<GradientPart>& parts) {
  for (const GradientPart& part : parts) {
    CAFFE_ENFORCE(part.gradient.IsDense() == parts[0].gradient.IsDense(), "blob \"", blob,
                  "\" has dense and sparse gradients, which cannot be added up");
    CAFFE_ENFORCE(SameDevice(part.device, parts[0].device), "the gradients of blob \"", blob,
                  "\" are on different devices and cannot be added up; copy the blob to one of "
                  "the devices first");
  }
}

class Summation {
 public:
  Summation(const std::string& blob, const std::vector<GradientPart>& parts,
            std::vector<OperatorDef>* ops)
      : parts_(parts), ops_(*ops), total_(TotalName(blob)) {
    for (const GradientPart& part : parts) {
      for (const auto& origin : {part.dense, part.indices, part.values}) {
        if (!origin || !HasNestedNets(ops_[origin->op])) continue;
        const OperatorDef& op = ops_[origin->op];
        taken_.insert(op.output().begin(), op.output().end());
      }
    }
  }

  GradientWrapper Dense() {
    std::vector<std::string> terms;
    int count = 0;
    bool first = true;
    for (const GradientPart& part : parts_) {
      if (part.dense && first) {
        terms.push_back(total_);
        first = false;
      } else {
        terms.push_back(Term(part.dense, part.gradient.dense_, &count));
      }
    }
    // Sum may write its result in place of its first input only.
    const auto in_place = std::find(terms.begin(), terms.end(), total_);
    if (in_place != terms.end()) std::iter_swap(terms.begin(), in_place);
    ops_.push_back(CreateOperatorDef("Sum", "", terms, {total_}));
    GradientWrapper gradient;
    gradient.dense_ = total_;
    return gradient;
  }

  GradientWrapper Sparse() {
    std::vector<std::string> indices, values;
    int index_count = 0, value_count = 0;
    for (const GradientPart& part : parts_) {
      indices.push_back(Term(part.indices, part.gradient.indices_, &index_count));
      values.push_back(Term(part.values, part.gradient.values_, &value_count));
    }
    GradientWrapper gradient;
    gradient.indices_ = Concatenate(indices, total_ + "_indices_concat");
    gradient.values_ = Concatenate(values, total_ + "_values_concat");
    return gradient;
  }

 private:
  std::string& NameOf(const GradientOutput& origin) {
    return *ops_[origin.op].mutable_output(origin.index);
  }

  // The name of the total, or the beginning of its names.
  std::string TotalName(const std::string& blob) {
    for (const GradientPart& part : parts_) {
      if (part.dense) return NameOf(*part.dense);
      if (part.indices) return WithoutSuffix(NameOf(*part.indices), "_indices");
      if (part.values) return WithoutSuffix(NameOf(*part.values), "_values");
    }
    return blob + "_grad";
  }

  // The name of one term. The output of a gradient operator is renamed; `count` is the number of
  // those renamed so far.
  std::string Term(const std::optional<GradientOutput>& origin, const std::string& name,
                   int* count) {
    if (!origin) {
      CAFFE_ENFORCE(name != total_, "gradient \"", name,
                    "\" would be overwritten by the sum that it is a part of");
      return name;
    }
    OperatorDef& op = ops_[origin->op];
    const std::string whole = NameOf(*origin);
    std::string part;
    do {
      part = MakeString("_", whole, "_autosplit_", (*count)++);
    } while (taken_.contains(part));
    RenameOutput(&op, origin->index, part);
    return part;
  }

  const std::string& Concatenate(const std::vector<std::string>& from, const std::string& to) {
    ops_.push_back(
        CreateOperatorDef("Concat", "", from, {to, to + "_split"}, {MakeArgument<int>("axis", 0)}));
    return ops_.back().output(0);
  }

  const std::vector<GradientPart>& parts_;
  std::vector<OperatorDef>& ops_;
  const std::string total_;
  // What operators with nets write. The nets may contain sums of their own, with the same names.
  std::set<std::string> taken_;
};

}  // namespace

GradientWrapper AddUpGradients(const std::string& blob, const std::vector<GradientPart>& parts,
                               std::vector<OperatorDef>* ops) {
  CheckAddable(blob, parts);
  const size_t first = ops->size();
  Summation summation(blob, parts, ops);
  GradientWrapper total = parts[0].gradient.IsDense() ? summation.Dense() : summation.Sparse();
  const auto device = std::find_if(
      parts.begin(), parts.end(), [](const GradientPart& part) { return part.device.has_value(); });
  for (size_t op = first; device != parts.end() && op < ops->size(); ++op) {
    *(*ops)[op].mutable_device_option() = *device->device;
  }
  return total;
}

}  // namespace caffe2rt
