#pragma once
// The element types in which operators on IDEEP compute and keep their outputs, for the precision that was
// asked for (PassContext::precision).
//
//   OnednnPrecisions precisions(net, context, machine, values, estimates, roles);
//   precisions.Choose(placed, data_inputs, on_cpu);
//   precisions.State(op, &def);                 // sets the arguments of the operator
//
// A convolution rounds its input and filter to bf16, or quantizes them to bytes if the net states a range
// of its input and bytes are estimated to be faster. Its argument least_precision limits that. It keeps its
// output in the type in which all that read it round it anyway. Pools and joins pass on bytes and bf16.
// Operators that compute in float and declare output_min write what only such convolutions read.

#include <optional>
#include <vector>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/onednn_estimates.h"
#include "caffe2_core/graph/passes/onednn_placement.h"

namespace caffe2rt {

// The arguments that are read and set are declared in operators/common/onednn_argument.h.
class OnednnPrecisions {
 public:
  // REQUIRES: all arguments outlive this object.
  OnednnPrecisions(const NetDef& net, const PassContext& context, const Machine& machine,
                   const NetValues& values, const OnednnEstimates& estimates,
                   const std::vector<OnednnRole>& roles);

  // Whether the operator is a convolution that multiplies bytes if it is placed on IDEEP.
  bool MayQuantize(size_t op) const;

  // `placed`: for each operator, whether it is on IDEEP; `data_inputs`: the inputs that it reads there;
  // `on_cpu`: for each value, whether something on the CPU uses it.
  void Choose(const std::vector<bool>& placed,
              const std::vector<std::vector<uint32_t>>& data_inputs,
              const std::vector<bool>& on_cpu);

  // Whether the copy of a value to IDEEP may be of bf16, because only convolutions that round it to bf16
  // read it there. `placed`: as above.
  bool MayRoundCopy(NetValues::Value value, const std::vector<bool>& placed) const;

  // Whether the value is kept in floats, whether something on the CPU uses it, and whether the operator is
  // no convolution and reads floats in any layout, and no convolution reads what it writes, unless that is
  // bytes. REQUIRES: Choose was called.
  bool IsFloat(NetValues::Value value) const { return !bytes_[value] && !rounded_[value]; }
  bool IsOnCpu(NetValues::Value value) const { return on_cpu_[value]; }
  bool ReadsAnyLayout(size_t op) const;

  // REQUIRES: Choose was called, and the operator is placed.
  void State(size_t op, OperatorDef* def) const;

 private:
  using Value = NetValues::Value;
  struct Range {  // of numbers
    float min = 0, max = 0;
    bool operator==(const Range&) const = default;
  };

  const OperatorDef& Def(size_t op) const { return net_.op(static_cast<int>(op)); }
  bool IsConv(size_t op) const { return roles_[op] == OnednnRole::kConvolution; }
  bool Allows(size_t op, Precision precision) const;
  bool MayRound(size_t op) const {
    return context_.bf16_convs && !context_.ForAnyMachine() && Allows(op, Precision::kBfloat16);
  }
  bool HasByteKernel(size_t op) const;
  std::optional<Range> RangeOfInput(size_t op) const;
  bool Declares(size_t op, const char* argument) const;
  bool CanKeep(size_t op) const;
  bool CanConvert(size_t op) const;
  std::optional<Range> RangeForReaders(Value value) const;
  bool CanRescale(size_t op) const;
  void AssignBytes(const std::vector<bool>& placed, const std::vector<bool>& barred);
  void AssignRounded(const std::vector<bool>& placed, const std::vector<bool>& barred);
  bool IsReadRounded(Value value) const;
  template <class Assign, class IsKept>
  void AssignAlike(const std::vector<bool>& placed,
                   const std::vector<std::vector<uint32_t>>& data_inputs, const Assign& assign,
                   const IsKept& is_kept) const;
  Precision PrecisionOfOutput(size_t op) const;

  const NetDef& net_;
  const PassContext& context_;
  const Machine& machine_;
  const NetValues& values_;
  const OnednnEstimates& estimates_;
  const std::vector<OnednnRole>& roles_;     // by operator
  std::vector<bool> on_cpu_;                 // by value
  std::vector<std::optional<Range>> bytes_;  // by value: it is kept in bytes of that range
  std::vector<bool> rounded_;                // by value: it is kept in bf16
};

}  // namespace caffe2rt
