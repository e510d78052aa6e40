#include "caffe2_core/graph/passes/channel_affine.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

using Result = std::optional<ChannelAffine>;

// The data of a constant float vector with one number for each channel, or null.
const float* ChannelNumbers(const std::string& name, const AffineInput& x,
                            NetConstants* constants) {
  const Tensor* const tensor = constants->Find(name);
  if (tensor == nullptr || !tensor->IsType<float>()) return nullptr;
  return tensor->dim() == 1 && tensor->dim(0) == x.channels ? tensor->data<float>() : nullptr;
}

// Whether the operator's `order` gives the channels the axis that they have in x.
bool HasChannelAxis(const DeclaredArguments& args, const AffineInput& x) {
  const std::string order = args.Get<std::string>("order");
  const StorageOrder parsed = ParseStorageOrder(order);
  if (parsed == UNKNOWN) return false;
  return x.channel_axis == (parsed == StorageOrder::NHWC ? x.rank - 1 : 1);
}

Result ReadBatchNorm(const OperatorDef& op, const AffineInput& x, NetConstants* constants) {
  const DeclaredArguments args(op);
  if (op.input_size() != 5 || op.output_size() != 1 || !args.HasArgument("is_test") ||
      args.Get<int>("is_test") == 0 || !HasChannelAxis(args, x)) {
    return {};
  }
  const float epsilon = args.Get<float>("epsilon");
  if (!(epsilon > 0)) return {};
  const float* numbers[4];  // scale, bias, mean, var
  for (int i = 0; i < 4; ++i) {
    numbers[i] = ChannelNumbers(op.input(i + 1), x, constants);
    if (numbers[i] == nullptr) return {};
  }
  ChannelAffine result(static_cast<size_t>(x.channels));
  for (size_t c = 0; c < result.factor.size(); ++c) {
    const double var = static_cast<double>(numbers[3][c]) + static_cast<double>(epsilon);
    result.factor[c] = static_cast<double>(numbers[0][c]) / std::sqrt(var);
    result.term[c] =
        static_cast<double>(numbers[1][c]) - static_cast<double>(numbers[2][c]) * result.factor[c];
  }
  return result;
}

Result ReadScaleAndBias(const OperatorDef& op, const AffineInput& x, NetConstants* constants) {
  const DeclaredArguments args(op);
  if (op.input_size() != 3 || !HasChannelAxis(args, x)) return {};
  const float* const scale = ChannelNumbers(op.input(1), x, constants);
  const float* const bias = ChannelNumbers(op.input(2), x, constants);
  if (scale == nullptr || bias == nullptr) return {};
  ChannelAffine result(static_cast<size_t>(x.channels));
  std::copy_n(scale, x.channels, result.factor.begin());
  std::copy_n(bias, x.channels, result.term.begin());
  return result;
}

Result ReadScale(const OperatorDef& op, const AffineInput& x) {
  ChannelAffine result(static_cast<size_t>(x.channels));
  const float scale = DeclaredArguments(op).Get<float>("scale");
  std::fill(result.factor.begin(), result.factor.end(), static_cast<double>(scale));
  return result;
}

// Whether a constant of this shape broadcasts to x along the channels or as one number, and leaves
// the shape of x as it is. `offset` is the axis of x that dimension 0 of the constant meets.
bool BroadcastsAlongChannels(const Tensor& constant, int offset, const AffineInput& x) {
  if (offset < 0 || offset + constant.dim() > x.rank) return false;
  for (int i = 0; i < constant.dim(); ++i) {
    if (constant.dim(i) == 1) continue;
    if (offset + i != x.channel_axis || constant.dim(i) != x.channels) return false;
  }
  return true;
}

// The constant operand, expanded to one number for each channel; empty if it is not such an
// operand.
std::vector<double> ConstantOperand(const OperatorDef& op, int x_index, const AffineInput& x,
                                    NetConstants* constants) {
  const DeclaredArguments args(op);
  const bool legacy = args.Get<bool>("broadcast");
  if (legacy && (x_index != 0 || args.HasArgument("axis_str"))) return {};
  const Tensor* const constant = constants->Find(op.input(1 - x_index));
  if (constant == nullptr || !constant->IsType<float>() || constant->numel() == 0) return {};
  const int axis = args.Get<int>("axis");
  const int offset = legacy && axis != -1 ? axis : x.rank - constant->dim();
  if (!BroadcastsAlongChannels(*constant, offset, x)) return {};
  const float* const data = constant->data<float>();
  if (constant->numel() == 1) {
    return std::vector<double>(static_cast<size_t>(x.channels), static_cast<double>(data[0]));
  }
  return {data, data + x.channels};
}

Result ReadArithmetic(AffineForm form, const OperatorDef& op, int x_index, const AffineInput& x,
                      NetConstants* constants) {
  if (op.input_size() != 2) return {};
  if (x_index != 0 && (form == AffineForm::kDiv || form == AffineForm::kSub)) return {};
  const std::vector<double> operand = ConstantOperand(op, x_index, x, constants);
  if (operand.empty()) return {};
  ChannelAffine result(operand.size());
  for (size_t c = 0; c < operand.size(); ++c) {
    if (form == AffineForm::kMul) result.factor[c] = operand[c];
    if (form == AffineForm::kDiv) result.factor[c] = 1.0 / operand[c];
    if (form == AffineForm::kAdd) result.term[c] = operand[c];
    if (form == AffineForm::kSub) result.term[c] = -operand[c];
  }
  return result;
}

}  // namespace

void ChannelAffine::Append(const ChannelAffine& next) {
  for (size_t c = 0; c < factor.size(); ++c) {
    factor[c] *= next.factor[c];
    term[c] = term[c] * next.factor[c] + next.term[c];
  }
}

std::optional<ChannelAffine> ReadChannelAffine(const OperatorDef& op, int x_index,
                                               const AffineInput& x, NetConstants* constants) try {
  const AffineForm form = TraitsOf(op.type()).affine;
  switch (form) {
    case AffineForm::kNone:
      return {};
    case AffineForm::kAdd:
    case AffineForm::kSub:
    case AffineForm::kMul:
    case AffineForm::kDiv:
      return ReadArithmetic(form, op, x_index, x, constants);
    case AffineForm::kScale:
      return x_index == 0 && op.input_size() == 1 ? ReadScale(op, x) : Result();
    case AffineForm::kScaleAndBias:
      return x_index == 0 ? ReadScaleAndBias(op, x, constants) : Result();
    case AffineForm::kBatchNorm:
      return x_index == 0 ? ReadBatchNorm(op, x, constants) : Result();
  }
  return {};
} catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
  return {};
}

}  // namespace caffe2rt
