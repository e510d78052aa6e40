#include "caffe2_core/graph/passes/onednn_precisions.h"

#include <algorithm>
#include <string>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/conv_layouts.h"

namespace caffe2rt {
namespace {

constexpr char kPrecision[] = "precision";
constexpr char kOutputPrecision[] = "output_precision";
constexpr char kOutputMin[] = "output_min";
constexpr char kPooledMin[] = "pooled_min";

template <class T>
void SetArgument(const std::string& name, const T& value, OperatorDef* def) {
  *GetMutableArgument(name, true, def) = MakeArgument(name, value);
}

// What a file says is not what the user asked for.
void StatePrecision(const char* name, Precision precision, OperatorDef* def) {
  if (precision == Precision::kFloat32 && GetArgumentPtr(*def, name) == nullptr) return;
  SetArgument(name, std::string(PrecisionName(precision)), def);
}

bool AddsTensor(const OperatorDef& def) {
  const Argument* const sum = GetArgumentPtr(def, "sum");
  return sum != nullptr && sum->i() != 0;
}

}  // namespace

OnednnPrecisions::OnednnPrecisions(const NetDef& net, const PassContext& context,
                                   const Machine& machine, const NetValues& values,
                                   const OnednnEstimates& estimates,
                                   const std::vector<OnednnRole>& roles)
    : net_(net),
      context_(context),
      machine_(machine),
      values_(values),
      estimates_(estimates),
      roles_(roles),
      bytes_(values.num_values()),
      rounded_(values.num_values()) {}

bool OnednnPrecisions::Allows(size_t op, Precision precision) const {
  const Argument* const least = GetArgumentPtr(Def(op), "least_precision");
  return context_.precision >= precision && IsConv(op) &&
         (least == nullptr || least->s().empty() || ParsePrecision(least->s()) >= precision);
}

bool OnednnPrecisions::MayQuantize(size_t op) const {
  return Allows(op, Precision::kInt8) && RangeOfInput(op).has_value() && HasByteKernel(op) &&
         Int8ConvPays(estimates_.SizeOfConv(op), machine_, context_.deterministic);
}

bool OnednnPrecisions::HasByteKernel(size_t op) const {
  const Argument* const f = GetArgumentPtr(Def(op), "activation");
  return HasInt8Conv(estimates_.SizeOfConv(op), f == nullptr ? "" : f->s(), AddsTensor(Def(op)));
}

// The range that the net states for the input of a convolution.
std::optional<OnednnPrecisions::Range> OnednnPrecisions::RangeOfInput(size_t op) const {
  const Argument* const min = GetArgumentPtr(Def(op), "input_min");
  const Argument* const max = GetArgumentPtr(Def(op), "input_max");
  if (min == nullptr || max == nullptr || !(min->f() < max->f())) return std::nullopt;
  return Range{min->f(), max->f()};
}

bool OnednnPrecisions::Declares(size_t op, const char* argument) const {
  const OpSchema* const schema = OpSchemaRegistry::Schema(Def(op).type());
  return schema != nullptr && std::any_of(schema->args().begin(), schema->args().end(),
                                          [&](const auto& arg) { return arg.name == argument; });
}

// Whether the operator can give its output in the element type of its inputs, or convert it: it is not a
// convolution, and has the argument that asks for it.
bool OnednnPrecisions::CanKeep(size_t op) const {
  return !IsConv(op) && Declares(op, kOutputPrecision);
}

// Whether the operator computes in float and can give its output in any element type. Those that only
// keep bytes have no argument for the range.
bool OnednnPrecisions::CanConvert(size_t op) const {
  return CanKeep(op) && Declares(op, kOutputMin);
}

// Whether the operator can read bytes of one range and write bytes of another one.
bool OnednnPrecisions::CanRescale(size_t op) const {
  return CanKeep(op) && Declares(op, kPooledMin);
}

bool OnednnPrecisions::ReadsAnyLayout(size_t op) const {
  if (!CanConvert(op)) return false;
  const Value value = values_.output(op, 0);
  const auto readers = values_.readers(value);
  return bytes_[value] || std::none_of(readers.begin(), readers.end(),
                                       [&](const auto& read) { return IsConv(read.op); });
}

// The range that all readers of the value want its bytes to have. What can rescale reads any, and none
// follows from its own result: means are in a smaller range than what they are made of.
std::optional<OnednnPrecisions::Range> OnednnPrecisions::RangeForReaders(Value value) const {
  if (on_cpu_[value]) return std::nullopt;
  std::optional<Range> range;
  for (const NetValues::Read& read : values_.readers(value)) {
    std::optional<Range> wanted;
    if (CanRescale(read.op) && bytes_[values_.output(read.op, 0)]) continue;
    if (CanConvert(read.op)) {
      wanted = std::nullopt;  // it reads floats
    } else if (!IsConv(read.op) && !CanRescale(read.op)) {
      wanted = bytes_[values_.output(read.op, 0)];
    } else if (IsConv(read.op) && read.input == 0 && MayQuantize(read.op)) {
      wanted = RangeOfInput(read.op);
    }
    if (!wanted || (range && *range != *wanted)) return std::nullopt;
    range = wanted;
  }
  return range;
}

// From the last operator to the first, so that readers are judged before what they read.
void OnednnPrecisions::AssignBytes(const std::vector<bool>& placed,
                                   const std::vector<bool>& barred) {
  bytes_.assign(values_.num_values(), std::nullopt);
  for (size_t op = values_.num_operators(); op-- > 0;) {
    if (!placed[op]) continue;
    const bool makes = (MayQuantize(op) && !AddsTensor(Def(op))) || CanConvert(op);
    const Value value = values_.output(op, 0);
    if (makes || (CanKeep(op) && !barred[op])) bytes_[value] = RangeForReaders(value);
  }
}

// The same for bf16, for values that are not kept in bytes.
void OnednnPrecisions::AssignRounded(const std::vector<bool>& placed,
                                     const std::vector<bool>& barred) {
  rounded_.assign(values_.num_values(), false);
  for (size_t op = values_.num_operators(); op-- > 0;) {
    if (!placed[op] || bytes_[values_.output(op, 0)]) continue;
    const bool may = IsConv(op) ? MayRound(op) : CanKeep(op) && !barred[op];
    if (may) rounded_[values_.output(op, 0)] = IsReadRounded(values_.output(op, 0));
  }
}

// An operator that passes on what it reads is barred if it has another input, and all are judged again.
template <class Assign, class IsKept>
void OnednnPrecisions::AssignAlike(const std::vector<bool>& placed,
                                   const std::vector<std::vector<uint32_t>>& data_inputs,
                                   const Assign& assign, const IsKept& is_kept) const {
  std::vector<bool> barred(values_.num_operators());
  for (bool again = true; again;) {
    assign(barred);
    again = false;
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!placed[op] || IsConv(op) || CanConvert(op)) continue;
      if (!is_kept(values_.output(op, 0))) continue;
      const bool alike =
          std::all_of(data_inputs[op].begin(), data_inputs[op].end(), [&](uint32_t i) {
            const auto &in = bytes_[values_.input(op, i)], &out = bytes_[values_.output(op, 0)];
            return (CanRescale(op) ? in.has_value() == out.has_value() : in == out) &&
                   rounded_[values_.input(op, i)] == rounded_[values_.output(op, 0)];
          });
      if (!alike) barred[op] = again = true;
    }
  }
}

void OnednnPrecisions::Choose(const std::vector<bool>& placed,
                              const std::vector<std::vector<uint32_t>>& data_inputs,
                              const std::vector<bool>& on_cpu) {
  on_cpu_ = on_cpu;
  if (context_.precision == Precision::kFloat32) return;
  if (context_.precision == Precision::kInt8) {
    AssignAlike(
        placed, data_inputs, [&](const auto& barred) { AssignBytes(placed, barred); },
        [&](Value value) { return bytes_[value].has_value(); });
  }
  AssignAlike(
      placed, data_inputs, [&](const auto& barred) { AssignRounded(placed, barred); },
      [&](Value value) { return rounded_[value]; });
}

// Whether only convolutions that may round to bf16 read the value, and operators that pass bf16 on.
bool OnednnPrecisions::IsReadRounded(Value value) const {
  const auto readers = values_.readers(value);
  return !readers.empty() && !on_cpu_[value] &&
         std::all_of(readers.begin(), readers.end(), [&](const NetValues::Read& read) {
           if (IsConv(read.op)) return MayRound(read.op);
           return !CanConvert(read.op) && rounded_[values_.output(read.op, 0)];
         });
}

bool OnednnPrecisions::MayRoundCopy(Value value, const std::vector<bool>& placed) const {
  const auto readers = values_.readers(value);
  return std::all_of(readers.begin(), readers.end(), [&](const NetValues::Read& read) {
    if (!placed[read.op]) return true;  // on the CPU
    return IsConv(read.op) && read.input == 0 && MayRound(read.op) && !MayQuantize(read.op);
  });
}

Precision OnednnPrecisions::PrecisionOfOutput(size_t op) const {
  const Value value = values_.output(op, 0);
  if (bytes_[value]) return Precision::kInt8;
  return rounded_[value] ? Precision::kBfloat16 : Precision::kFloat32;
}

void OnednnPrecisions::State(size_t op, OperatorDef* def) const {
  if (IsConv(op)) {
    StatePrecision(kPrecision,
                   MayQuantize(op) ? Precision::kInt8
                   : MayRound(op)  ? Precision::kBfloat16
                                   : Precision::kFloat32,
                   def);
  } else if (!CanKeep(op)) {
    return;
  }
  StatePrecision(kOutputPrecision, PrecisionOfOutput(op), def);
  const std::optional<Range>& range = bytes_[values_.output(op, 0)];
  if (range && CanRescale(op)) {
    SetArgument(kPooledMin, range->min, def);
    SetArgument("pooled_max", range->max, def);
  }
  if (!range || !(IsConv(op) || CanConvert(op))) return;
  SetArgument(kOutputMin, range->min, def);
  SetArgument("output_max", range->max, def);
}

}  // namespace caffe2rt
