#pragma once
// Gradient makers. Given a forward operator and the names of the gradients of its outputs, a maker
// returns the operators that compute the gradients of its inputs.
//
//   class GetScaleGradient : public GradientMakerBase {
//     using GradientMakerBase::GradientMakerBase;
//     std::vector<OperatorDef> GetGradientDefs() override {
//       return SingleGradientDef("Scale", "", {GO(0)}, {GI(0)});
//     }
//   };
//   RegisterGradient<GetScaleGradient>("Scale", __FILE__);   // built-in operators
//   REGISTER_GRADIENT(MyOp, GetMyGradient);     // users' operators, at namespace scope
//
//   GradientOpsMeta meta = GetGradientForOp(def, {{.dense_ = "y_grad"}});
//
// A maker states which values its gradient reads: I(i) is the value of input i before the operator
// ran, O(i) that of output i after it. If the operator works in place, both have one name, and the
// value before is gone: a gradient that reads it is an error.
//
// The registry is thread safe. A maker exists for the duration of one call. For an operator that
// works in place, a second maker is created, which sees other names for the outputs that are also
// inputs.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The gradient of one blob: the name of a dense tensor, or the names of the indices and values of a
// sparse gradient. Empty if there is no gradient.
struct GradientWrapper {
  std::string dense_{};
  std::string indices_{};
  std::string values_{};

  bool IsDense() const { return !dense_.empty(); }
  bool IsSparse() const { return !indices_.empty() || !values_.empty(); }
  bool IsEmpty() const { return !IsDense() && !IsSparse(); }
};

// The result of a maker: the gradient operators in execution order, and the gradient of each input
// of the forward operator.
struct GradientOpsMeta {
  std::vector<OperatorDef> ops_;
  std::vector<GradientWrapper> g_input_;

  GradientOpsMeta() = default;
  GradientOpsMeta(std::vector<OperatorDef> ops, std::vector<GradientWrapper> g_input)
      : ops_(std::move(ops)), g_input_(std::move(g_input)) {}
};

// Base class of gradient makers. A subclass overrides GetGradientDefs, or Get.
class GradientMakerBase {
 public:
  // Keeps references to both arguments, which must outlive the maker.
  GradientMakerBase(const OperatorDef& def, const std::vector<GradientWrapper>& g_output)
      : def_(def), g_output_(g_output), g_input_(static_cast<size_t>(def.input_size())) {}
  virtual ~GradientMakerBase() = default;
  GradientMakerBase(const GradientMakerBase&) = delete;
  GradientMakerBase& operator=(const GradientMakerBase&) = delete;

  // Whether GetGradientForOp copies the device option, the engine and the arguments of the forward
  // operator to each gradient operator.
  virtual bool CopyDeviceOption() const { return true; }
  virtual bool CopyEngine() const { return true; }
  virtual bool CopyArguments() const { return true; }

  // THROWS if the forward operator violates its schema.
  virtual void VerifyOp() const;
  // Calls VerifyOp and GetGradientDefs, and sets is_gradient_op in every operator returned.
  virtual GradientOpsMeta Get();

  const OperatorDef& Def() const { return def_; }

  // Maps each output of `op` that is named like a gradient ("x_grad") to the blob that it is the
  // gradient of ("x").
  static std::map<std::string, std::string> MatchGradsToParams(const OperatorDef& op);

  // The default names: "x_grad", "x_grad_indices" and "x_grad_values" for the gradient of blob "x".
  // GradientNameToParam is the inverse of GradientName. REQUIRES: IsGradientBlob(name).
  static std::string GradientName(const std::string& name) { return name + "_grad"; }
  static std::string GradientSliceIndices(const std::string& name) {
    return GradientName(name) + "_indices";
  }
  static std::string GradientSliceValues(const std::string& name) {
    return GradientName(name) + "_values";
  }
  static bool IsGradientBlob(const std::string& name) {
    return name.size() > 5 && name.ends_with("_grad");
  }
  static std::string GradientNameToParam(const std::string& name) {
    return name.substr(0, name.size() - 5);
  }

 protected:
  // The gradient operators in execution order. The default implementation THROWS.
  virtual std::vector<OperatorDef> GetGradientDefs();

  // Names of the forward operator's inputs, before it ran, and of its outputs. These functions and
  // those below THROW if the index is out of range.
  std::string I(int i) const;
  std::string O(int i) const;
  // A blob of the shape of input i, for a gradient operator that reads only the shape: the input,
  // or the output that overwrites it. REQUIRES: the operator keeps the shape of an input that it
  // overwrites.
  std::string ShapeOf(int i) const;
  // The gradient of an output: dense, or the indices and the values of a sparse one. THROWS if the
  // output has no gradient of that kind.
  std::string GO(int i) const;
  std::string GO_I(int i) const;
  std::string GO_V(int i) const;
  const GradientWrapper& GradOut(int i) const { return Given(i); }
  // The default name for the gradient of an input: "x_grad", "x_grad_indices" or "x_grad_values".
  // Also records that the maker returns this gradient. THROWS if a gradient of the other kind
  // (dense or sparse) is already recorded for the input.
  std::string GI(int i);
  std::string GI_I(int i);
  std::string GI_V(int i);
  // Like GI, GI_I and GI_V, with names chosen by the maker.
  void SetDense(int i, const std::string& name);
  void SetSparse(int i, const std::string& indices, const std::string& values);

  // A list of one operator, with the parameters of CreateOperatorDef. The second overload forwards
  // to the other overloads of CreateOperatorDef.
  static std::vector<OperatorDef> SingleGradientDef(
      const std::string& type, const std::string& name, const std::vector<std::string>& inputs,
      const std::vector<std::string>& outputs, const std::vector<Argument>& args = {},
      const DeviceOption& device_option = {}, const std::string& engine = "") {
    return {CreateOperatorDef(type, name, inputs, outputs, args, device_option, engine)};
  }

  template <class... Args>
  static std::vector<OperatorDef> SingleGradientDef(const Args&... args) {
    return {CreateOperatorDef(args...)};
  }

  const OperatorDef& def_;
  const std::vector<GradientWrapper>& g_output_;
  std::vector<GradientWrapper> g_input_;

 private:
  const GradientWrapper& Given(int i) const;
  const GradientWrapper& GivenSparse(int i) const;
  GradientWrapper& Noted(int i, bool sparse);
};

// For operators that pass no gradient to any input: returns no operators and no gradients.
class NoGradient : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override { return {}; }
};

// For operators whose gradient is not meaningful: Get THROWS.
class ThrowInTheTowelIfGradientIsCalled : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

// For differentiable operators whose gradient is not implemented: Get THROWS.
class GradientNotImplementedYet : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

using GradientRegistryType = Registry<std::string, std::unique_ptr<GradientMakerBase>,
                                      const OperatorDef&, const std::vector<GradientWrapper>&>;
// The registry of the process. The built-in makers are registered on return.
GradientRegistryType* GradientRegistry();

using GradientCreator = std::unique_ptr<GradientMakerBase>(
    const OperatorDef& def, const std::vector<GradientWrapper>& g_output);

namespace internal {
template <class Maker>
std::unique_ptr<GradientMakerBase> MakeGradientMaker(const OperatorDef& def,
                                                     const std::vector<GradientWrapper>& g_output) {
  return std::make_unique<Maker>(def, g_output);
}
}  // namespace internal

// Registers the creator of a maker, or its class. `file` is __FILE__. Returns whether the type had
// no maker.
bool RegisterGradient(std::string_view op_type, GradientCreator* creator, const char* file);
template <class Maker>
bool RegisterGradient(std::string_view op_type, const char* file) {
  return RegisterGradient(op_type, internal::MakeGradientMaker<Maker>, file);
}

// Returns the gradient operators of `def`, given one entry in `g_output` for each of its outputs.
// The operators receive the device option, the engine and the arguments of `def` unless its maker
// disables that. THROWS
// - if no maker is registered, or if the maker throws;
// - if its result does not have one gradient per input, or has a sparse gradient without indices or
//   values;
// - for an operator that works in place, if a gradient operator reads an input that the operator
//   overwrites, or a gradient that was overwritten, or does not support to work in place. What it
//   reads is what it would read if inputs, outputs and gradients had different names; a maker that
//   returns other operators then reads outputs.
GradientOpsMeta GetGradientForOp(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output);

// For users, at namespace scope, with or without a semicolon. The class is the last parameter and
// may contain commas.
#define CAFFE2RT_REGISTER_GRADIENT(key, ...)                                     \
  namespace {                                                                    \
  [[maybe_unused]] const bool CAFFE2RT_CONCAT(caffe2rt_gradient_, __COUNTER__) = \
      ::caffe2rt::RegisterGradient<__VA_ARGS__>(key, __FILE__);                  \
  }
#define REGISTER_GRADIENT(name, ...) CAFFE2RT_REGISTER_GRADIENT(#name, __VA_ARGS__)
#define REGISTER_GRADIENT_STR(name, ...) CAFFE2RT_REGISTER_GRADIENT(name, __VA_ARGS__)
#define NO_GRADIENT(name) REGISTER_GRADIENT(name, ::caffe2rt::NoGradient)
#define SHOULD_NOT_DO_GRADIENT(name) \
  REGISTER_GRADIENT(name, ::caffe2rt::ThrowInTheTowelIfGradientIsCalled)
#define GRADIENT_NOT_IMPLEMENTED_YET(name) \
  REGISTER_GRADIENT(name, ::caffe2rt::GradientNotImplementedYet)
#define GRADIENT_OPERATOR_SCHEMA(name) OPERATOR_SCHEMA(name)

}  // namespace caffe2rt
#pragma GCC visibility pop
