#include "caffe2_core/graph/passes/group_fusion.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/user_operators.h"

namespace caffe2rt {

GroupFusion::GroupFusion(NetDef* net, PassContext& context)
    : net_(*net), context_(context), values_(*net, context), edits_(net) {}

bool GroupFusion::IsFree(uint32_t position) const {
  return position != kNone && values_.is_plain(position) && !edits_.is_changed(position);
}

bool GroupFusion::IsType(uint32_t position, std::string_view type) const {
  return IsFree(position) && op(position).type() == type;
}

uint32_t GroupFusion::Writer(Value value, std::string_view type) const {
  const uint32_t writer = values_.writer(value);
  return IsType(writer, type) && values_.output(writer, 0) == value ? writer : kNone;
}

uint32_t GroupFusion::SoleReader(Value value, std::string_view type) const {
  const uint32_t reader = values_.SoleReader(value);
  return IsType(reader, type) ? reader : kNone;
}

const Tensor* GroupFusion::Constant(uint32_t position, size_t i) const {
  if (i >= values_.num_inputs(position)) return nullptr;
  if (values_.writer(values_.input(position, i)) != kNone) return nullptr;
  return context_.constants.Find(op(position).input(static_cast<int>(i)));
}

std::optional<float> GroupFusion::Number(uint32_t position, size_t i) const {
  const Tensor* const tensor = Constant(position, i);
  if (tensor == nullptr || !tensor->IsType<float>() || tensor->numel() != 1 || tensor->dim() > 1) {
    return std::nullopt;
  }
  return *tensor->data<float>();
}

std::optional<GroupFusion::Scaling> GroupFusion::AsScaling(uint32_t position) const {
  if (!IsFree(position)) return std::nullopt;
  const AffineForm form = TraitsOf(op(position).type()).affine;
  if (form == AffineForm::kScale) {
    const double factor = DeclaredArguments(op(position)).Get<float>("scale");
    return Scaling{values_.input(position, 0), factor};
  }
  const bool divides = form == AffineForm::kDiv;
  if (!divides && form != AffineForm::kMul) return std::nullopt;
  if (const std::optional<float> number = Number(position, 1)) {
    if (!CombinesLastDims(position, 1)) return std::nullopt;
    const double factor = static_cast<double>(*number);
    return Scaling{values_.input(position, 0), divides ? 1 / factor : factor};
  }
  if (divides) return std::nullopt;
  if (const std::optional<float> number = Number(position, 0)) {
    if (!CombinesLastDims(position, 0)) return std::nullopt;
    return Scaling{values_.input(position, 1), static_cast<double>(*number)};
  }
  return std::nullopt;
}

bool GroupFusion::BroadcastsLikeNumpy(uint32_t position) const {
  return !DeclaredArguments(op(position)).Get<bool>("broadcast");
}

bool GroupFusion::CombinesLastDims(uint32_t position, size_t small) const {
  const DeclaredArguments args(op(position));
  if (!args.Get<bool>("broadcast")) return true;
  return small == 1 && !args.HasArgument("axis_str") && args.Get<int>("axis") == -1;
}

bool GroupFusion::InputsLast(std::span<const uint32_t> group, const OperatorDef& fused) const {
  const uint32_t last = group.back();
  for (const uint32_t position : group) {
    const OperatorDef& def = op(position);
    for (int i = 0; i < def.input_size(); ++i) {
      if (!HasInput(fused, def.input(i))) continue;
      const uint32_t blob = values_.blobs().inputs(position)[static_cast<size_t>(i)];
      if (values_.IsWrittenBetween(blob, position, last)) return false;
    }
  }
  return std::none_of(fused.output().begin(), fused.output().end(),
                      [&](const std::string& output) { return HasInput(fused, output); });
}

bool GroupFusion::ResultsStay(std::span<const uint32_t> group, const OperatorDef& fused) const {
  const uint32_t last = group.back();
  const auto in_group = [&](uint32_t position) {
    return std::binary_search(group.begin(), group.end(), position);
  };
  for (const uint32_t position : group) {
    for (size_t i = 0; i < values_.num_outputs(position); ++i) {
      const Value value = values_.output(position, i);
      const bool written = HasOutput(fused, op(position).output(static_cast<int>(i)));
      if (position == last && written) continue;
      if (values_.is_observable(value)) return false;
      if (written && values_.IsWrittenBetween(values_.blob(value), position, last)) return false;
      for (const NetValues::Read& read : values_.readers(value)) {
        if (!in_group(read.op) && (!written || read.op < last)) return false;
      }
    }
  }
  return true;
}

bool GroupFusion::Fuse(std::vector<uint32_t> group, OperatorDef fused) {
  std::sort(group.begin(), group.end());
  group.erase(std::unique(group.begin(), group.end()), group.end());
  for (const uint32_t position : group) {
    if (!values_.is_plain(position) || edits_.is_changed(position)) return false;
  }
  if (context_.has_operator && !context_.has_operator(fused.type(), CPU)) return false;
  if (!InputsLast(group, fused) || !ResultsStay(group, fused)) return false;
  const OperatorDef& last = op(group.back());
  fused.set_name(last.name());
  if (last.has_device_option()) *fused.mutable_device_option() = last.device_option();
  for (const uint32_t position : group) AddUserOperators(op(position), &fused);
  edits_.Put(group.back(), std::move(fused));
  group.pop_back();
  for (const uint32_t position : group) edits_.Remove(position);
  return true;
}

}  // namespace caffe2rt
