#include "caffe2_core/graph/passes/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/channel_affine.h"
#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/user_operators.h"

namespace caffe2rt {
namespace {

// An operator with a filter, and what is needed to scale its output channels.
struct FilterOperator {
  const Tensor* filter = nullptr;
  const Tensor* bias = nullptr;  // null if it has none
  AffineInput output;
  // The output channel of the filter's elements: each run of `run` elements belongs to one channel,
  // `width` channels take turns, and the next `width` channels follow after `group_size` elements.
  size_t run = 1, width = 1, group_size = 1;
};

const Tensor* FloatConstant(const OperatorDef& op, int i, NetConstants* constants) {
  const Tensor* const tensor = i < op.input_size() ? constants->Find(op.input(i)) : nullptr;
  return tensor != nullptr && tensor->IsType<float>() ? tensor : nullptr;
}

bool ReadConv(const OperatorDef& op, FilterOperator* result) {
  const Tensor& filter = *result->filter;
  if (filter.dim() < 3) return false;
  const std::string order = DeclaredArguments(op).Get<std::string>("order");
  const StorageOrder parsed = ParseStorageOrder(order);
  if (parsed == UNKNOWN) return false;
  const int rank = filter.dim();
  result->output = {.channels = filter.dim(0),
                    .rank = rank,
                    .channel_axis = parsed == StorageOrder::NHWC ? rank - 1 : 1};
  result->run = result->group_size = static_cast<size_t>(filter.numel() / filter.dim(0));
  return true;
}

// The filter has shape [C, M / group, kh, kw] or, in NHWC, [C, kh, kw, M / group]. The input
// channels of group g write the output channels from g * (M / group) on.
bool ReadConvTranspose(const OperatorDef& op, FilterOperator* result) {
  const DeclaredArguments args(op);
  const Tensor& filter = *result->filter;
  const StorageOrder order = ParseStorageOrder(args.Get<std::string>("order"));
  const int64_t groups = args.Get<int>("group");
  if (filter.dim() != 4 || order == UNKNOWN || groups < 1 || filter.dim(0) % groups != 0) {
    return false;
  }
  const bool last = order == StorageOrder::NHWC;
  const int64_t width = last ? filter.dim(3) : filter.dim(1);
  result->output = {.channels = width * groups, .rank = 4, .channel_axis = last ? 3 : 1};
  result->run = static_cast<size_t>(last ? 1 : filter.dim(2) * filter.dim(3));
  result->width = static_cast<size_t>(width);
  result->group_size = static_cast<size_t>(filter.numel() / groups);
  return true;
}

// Y has the axes of X before `axis`, then the rows of the filter.
bool ReadFC(const OperatorDef& op, FilterOperator* result) {
  const DeclaredArguments args(op);
  const int axis = args.Get<int>("axis");
  const int axis_w = args.Get<int>("axis_w");
  const Tensor& filter = *result->filter;
  if (axis < 1 || axis_w < 1 || axis_w >= filter.dim() || result->bias == nullptr) return false;
  const int64_t rows = filter.size_to_dim(axis_w);
  result->output = {.channels = rows, .rank = axis + 1, .channel_axis = axis};
  result->run = result->group_size = static_cast<size_t>(filter.numel() / rows);
  return true;
}

std::optional<FilterOperator> ReadFilterOperator(const OperatorDef& op,
                                                 NetConstants* constants) try {
  FilterOperator result;
  result.filter = FloatConstant(op, 1, constants);
  if (result.filter == nullptr || result.filter->numel() == 0) return {};
  if (op.input_size() > 2) {
    result.bias = FloatConstant(op, 2, constants);
    if (result.bias == nullptr) return {};
  }
  const LinearForm form = TraitsOf(op.type()).linear;
  bool known = false;
  if (form == LinearForm::kConv) {
    known = ReadConv(op, &result);
  } else if (form == LinearForm::kConvTranspose) {
    known = ReadConvTranspose(op, &result);
  } else if (form == LinearForm::kFC) {
    known = ReadFC(op, &result);
  }
  if (!known) return {};
  if (result.bias != nullptr &&
      (result.bias->dim() != 1 || result.bias->dim(0) != result.output.channels)) {
    return {};
  }
  return result;
} catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
  return {};
}

bool AllFinite(const Tensor& tensor) {
  const float* const data = tensor.data<float>();
  return std::all_of(data, data + tensor.numel(), [](float x) { return std::isfinite(x); });
}

Tensor ScaledFilter(const FilterOperator& op, const ChannelAffine& affine) {
  Tensor scaled(op.filter->dims(), CPU);
  const float* const from = op.filter->data<float>();
  float* const to = scaled.mutable_data<float>();
  const auto size = static_cast<size_t>(scaled.numel());
  for (size_t i = 0; i < size; i += op.run) {
    const size_t channel = i / op.group_size * op.width + i / op.run % op.width;
    const double factor = affine.factor[channel];
    for (size_t k = i; k < i + op.run; ++k) {
      to[k] = static_cast<float>(static_cast<double>(from[k]) * factor);
    }
  }
  return scaled;
}

Tensor ShiftedBias(const FilterOperator& op, const ChannelAffine& affine) {
  Tensor shifted(std::vector<int64_t>{op.output.channels}, CPU);
  float* const to = shifted.mutable_data<float>();
  for (size_t c = 0; c < affine.factor.size(); ++c) {
    const double bias = op.bias != nullptr ? static_cast<double>(op.bias->data<float>()[c]) : 0.0;
    to[c] = static_cast<float>(bias * affine.factor[c] + affine.term[c]);
  }
  return shifted;
}

class Folder {
 public:
  Folder(NetDef* net, PassContext* context)
      : net_(*net), constants_(context->constants), values_(*net, *context), edits_(net) {}

  void Run() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!values_.is_plain(op) || edits_.is_changed(op) || values_.num_outputs(op) != 1) continue;
      if (const auto filter = ReadFilterOperator(Def(op), &constants_)) FoldInto(op, *filter);
    }
    edits_.Apply();
  }

 private:
  const OperatorDef& Def(size_t op) const { return net_.op(static_cast<int>(op)); }

  // The operators after `op` that fold into it, in order; adds their numbers to `affine`.
  std::vector<size_t> ChainAfter(size_t op, const AffineInput& shape, ChannelAffine* affine) {
    std::vector<size_t> chain;
    NetValues::Value value = values_.output(op, 0);
    for (;;) {
      const uint32_t next = values_.SoleReader(value);
      if (next == NetValues::kNone || !values_.is_plain(next) || edits_.is_changed(next) ||
          values_.num_outputs(next) != 1 || !values_.InputsLastUntil(op, next) ||
          !IsSameDevice(Def(op).device_option(), Def(next).device_option()) ||
          SharesMemoryWithInput(op, next)) {
        return chain;
      }
      const int index = static_cast<int>(values_.readers(value)[0].input);
      const auto numbers = ReadChannelAffine(Def(next), index, shape, &constants_);
      if (!numbers.has_value()) return chain;
      affine->Append(*numbers);
      chain.push_back(next);
      value = values_.output(next, 0);
    }
  }

  // Whether the output of `last` is in the memory of an input of `op`.
  bool SharesMemoryWithInput(size_t op, size_t last) const {
    const NetDependencies& blobs = values_.blobs();
    const uint32_t memory = blobs.memory(blobs.outputs(last)[0]);
    const auto inputs = blobs.inputs(op);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](uint32_t blob) { return blobs.memory(blob) == memory; });
  }

  void FoldInto(size_t op, const FilterOperator& filter) {
    ChannelAffine affine(static_cast<size_t>(filter.output.channels));
    const std::vector<size_t> chain = ChainAfter(op, filter.output, &affine);
    if (chain.empty()) return;
    const bool scales = std::any_of(affine.factor.begin(), affine.factor.end(),
                                    [](double factor) { return factor != 1.0; });
    Tensor bias = ShiftedBias(filter, affine);
    if (!AllFinite(bias) || (scales && !MayCopyFilter(op, *filter.filter))) return;
    OperatorDef folded = Def(op);
    if (scales) {
      Tensor scaled = ScaledFilter(filter, affine);
      if (!AllFinite(scaled)) return;
      folded.set_input(1, constants_.Add(folded.input(1), std::move(scaled)));
    }
    const std::string bias_name = constants_.Add(
        folded.input_size() > 2 ? folded.input(2) : Def(op).input(1) + "_bias", std::move(bias));
    if (folded.input_size() > 2) {
      folded.set_input(2, bias_name);
    } else {
      folded.add_input(bias_name);
    }
    Replace(op, chain, std::move(folded));
  }

  // Counts the bytes of the copy if other operators read the filter too.
  bool MayCopyFilter(size_t op, const Tensor& filter) {
    if (values_.readers(values_.input(op, 1)).size() == 1) return true;
    if (filter.nbytes() > kMaxSharedFilterCopies - copied_) return false;
    copied_ += filter.nbytes();
    return true;
  }

  // The folded operator takes the place of the last operator of the chain.
  void Replace(size_t op, const std::vector<size_t>& chain, OperatorDef folded) {
    const size_t last = chain.back();
    folded.set_output(0, Def(last).output(0));
    for (const size_t part : chain) {
      AddUserOperators(Def(part), &folded);
      edits_.Remove(part);
    }
    edits_.Remove(op);
    edits_.Put(last, std::move(folded));
  }

  const NetDef& net_;
  NetConstants& constants_;
  const NetValues values_;
  NetEdits edits_;
  uint64_t copied_ = 0;
};

}  // namespace

NetDef FoldBatchNorm(NetDef net, PassContext& context) {
  Folder(&net, &context).Run();
  return net;
}

}  // namespace caffe2rt
