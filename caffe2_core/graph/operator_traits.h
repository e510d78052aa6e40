#pragma once
// OperatorTraits: the facts of an operator type that graph passes, drawings and reports ask for. They
// are stated with the schema, in the operator's own file:
//
//   RegisterSchema("Cube", __FILE__)
//       .NumInputs(1).NumOutputs(1)
//       .Traits({.family = OperatorFamily::kElementwise, .same_shape = true});
//
//   if (TraitsOf(op.type()).same_shape) ...     // op_schema.h
//
// A fact that is not stated counts as not known: passes leave such an operator as it is. Passes
// change built-in operators only; drawings and reports also ask the traits of users' operators.
//
// This header includes no protobuf, so the tables of element functions, which .cu files read, may
// hold traits.

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)
namespace caffe2rt {

class OperatorDef;

// Operator types that have the same color in a drawing (drawing/operator_family.h).
enum class OperatorFamily : uint8_t {
  kConv,
  kPool,
  kNorm,
  kActivation,
  kElementwise,
  kShape,
  kMatMul,
  kLoss,
  kData,
  kOther
};
inline constexpr int kNumOperatorFamilies = 10;

// Whether output 0 has the shape, type and values of input 0 if that is the only input.
enum class PassesOn : uint8_t { kNever, kFloats, kAlways };  // kFloats: if the elements are float
// THROWS if an argument is invalid.
using PassesOnRule = PassesOn (*)(const OperatorDef& def);
inline PassesOn AlwaysPassesOn(const OperatorDef&) { return PassesOn::kAlways; }

// How output 0 depends on input X (input 0), or on one operand if the other is constant:
// Y = X * factor + term, with numbers for all elements or for each channel.
enum class AffineForm : uint8_t {
  kNone,
  kAdd,  // A + B, with broadcasting, as the next three
  kSub,
  kMul,
  kDiv,
  kScale,         // X times argument `scale`
  kScaleAndBias,  // X * input 1 + input 2, one number for each channel
  kBatchNorm,     // in test mode: normalization by scale, bias, mean and variance, inputs 1 to 4
};

// An operator that computes Y = X * filter + bias, with the filter in input 1 and an optional bias
// in input 2, and nothing else.
enum class LinearForm : uint8_t { kNone, kConv, kConvTranspose, kFC, kFCTransposed };

// The number of multiply-adds, from the shapes of X (input 0), W (input 1) and Y.
enum class MultiplyAddCount : uint8_t {
  kNotCounted,
  kConv,           // elements of Y * elements of W for one output channel
  kConvTranspose,  // elements of X * elements of W for one input channel
  kFC,             // elements of Y * inputs of one output, whichever way W lies
  kMatMul,         // elements of Y * the dimension of X over which is summed (argument trans_a)
};

// What an operator does with the layout of images on IDEEP (contexts/onednn).
enum class OnednnRole : uint8_t {
  kNone,         // cannot run on IDEEP
  kConvolution,  // chooses the layout of its output
  kAnyLayout,    // keeps the layout of its first input, or joins several inputs
};
// The arguments with which an operator can run on IDEEP.
enum class OnednnArguments : uint8_t {
  kAny,
  kNchw,         // order NCHW
  kImageWindow,  // the same, and windows of two axes
  kTestMode,     // order NCHW, and is_test is not 0
  kChannelAxis,  // the same order, `axis` is that of the channels, and add_axis is 0
};
struct OnednnTraits {
  OnednnRole role = OnednnRole::kNone;
  OnednnArguments arguments = OnednnArguments::kAny;
  bool same_rank = false;  // all inputs have the same rank in every run that succeeds
};

// The output of an operator without inputs that depends on nothing but its arguments.
enum class FillForm : uint8_t {
  kNone,
  kConstant,     // all elements have the value of argument `value`
  kGivenFloats,  // the elements of argument `values`, as floats unless `dtype` states another type
  kGiven,        // the elements of argument `values`, of another type
};

// The blobs that the nets in the arguments of an operator use.
enum class NestedScope : uint8_t {
  kUnknown,
  kShared,  // those of the operator's workspace, by the same names
  kBound,   // of a workspace of their own, with names bound by inner_blobs and outer_blobs_idx
};

// What an operator does with the queues in the inputs that it modifies (OpSchema::ModifiesInputs).
enum class QueueUse : uint8_t { kNone, kPuts, kTakes, kCloses };

struct OperatorTraits {
  // Not stated: that of the forward operator, or by parts of the name.
  std::optional<OperatorFamily> family = {};

  // --- The output, in every run that succeeds ---
  bool same_shape = false;           // output 0 has the shape of input 0
  bool writes_float = false;         // output 0 has elements of type float
  bool only_changes_shape = false;   // output 0 has the elements of input 0, in their order
  bool sums_inputs = false;          // output 0 is the sum of all inputs, which have the same shape
  PassesOnRule passes_on = nullptr;  // null: never
  AffineForm affine = AffineForm::kNone;
  LinearForm linear = LinearForm::kNone;
  FillForm fill = FillForm::kNone;
  bool loads_blobs = false;  // reads its outputs from files

  // --- Fusion and placement ---
  // ConvFusion and FCFusion can apply the function to their results. Each float or bool argument `a` of the
  // operator becomes their argument `activation_a`. Such an operator also runs on IDEEP, in any
  // layout.
  bool fused_activation = false;
  OnednnTraits onednn = {};

  // --- Waiting ---
  // May wait until another operator has run, of this net or of another one, as those of queues and
  // collectives do. An executor of several threads runs it on a thread that is not one of the pool.
  bool waits = false;
  // Operators with the same use of a queue keep their order. Those that put and those that take
  // records wait for each other as the queue demands, and are not ordered by the net.
  QueueUse queue_use = QueueUse::kNone;

  // --- Nets in arguments ---
  NestedScope nested_scope = NestedScope::kUnknown;
  // On the CPU, the operator exchanges values with its nets there, so they stay on the CPU.
  bool keeps_nets_on_cpu = false;

  // --- Reports ---
  MultiplyAddCount multiply_adds = MultiplyAddCount::kNotCounted;
  bool has_weights = false;  // the inputs after the first are weights
  // The argument that holds a number of TensorProto.DataType, which is shown as a name.
  const char* type_argument = nullptr;
  // The shape that input 0 must have, for errors about an input that was not given.
  const char* input_shape = nullptr;
  // Why the shape inference returns no shapes where it returns none.
  const char* no_shape_reason = nullptr;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
