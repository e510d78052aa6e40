#pragma once
// Gradient makers: from one forward operator, and the names of its outputs' gradients, to the
// operators that compute its inputs' gradients.
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
// The registry is thread safe; a maker lives for one call.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The gradient of one blob: the name of a dense tensor, or those of indices and values, or nothing.
struct GradientWrapper {
  std::string dense_;
  std::string indices_;
  std::string values_;

  bool IsDense() const { return !dense_.empty(); }
  bool IsSparse() const { return !indices_.empty() || !values_.empty(); }
  bool IsEmpty() const { return !IsDense() && !IsSparse(); }
};

// What a maker gives: the operators in the order to run them, and one entry for each input of the
// forward operator.
struct GradientOpsMeta {
  std::vector<OperatorDef> ops_;
  std::vector<GradientWrapper> g_input_;

  GradientOpsMeta() = default;
  GradientOpsMeta(std::vector<OperatorDef> ops, std::vector<GradientWrapper> g_input)
      : ops_(std::move(ops)), g_input_(std::move(g_input)) {}
};

class GradientMakerBase {
 public:
  // Keeps references: both must outlive the maker.
  GradientMakerBase(const OperatorDef& def, const std::vector<GradientWrapper>& g_output)
      : def_(def), g_output_(g_output), g_input_(static_cast<size_t>(def.input_size())) {}
  virtual ~GradientMakerBase() = default;
  GradientMakerBase(const GradientMakerBase&) = delete;
  GradientMakerBase& operator=(const GradientMakerBase&) = delete;

  // Whether GetGradientForOp gives the forward operator's ones to each gradient operator.
  virtual bool CopyDeviceOption() const { return true; }
  virtual bool CopyEngine() const { return true; }
  virtual bool CopyArguments() const { return true; }

  // THROWS when the forward operator does not fit its schema.
  virtual void VerifyOp() const;
  // VerifyOp, then GetGradientDefs with every operator marked is_gradient_op.
  virtual GradientOpsMeta Get();

  const OperatorDef& Def() const { return def_; }

  // Outputs of `op` that are named as gradients ("x_grad"), each with the name it is the gradient
  // of.
  static std::map<std::string, std::string> MatchGradsToParams(const OperatorDef& op);

 protected:
  virtual std::vector<OperatorDef> GetGradientDefs();

  // Names of the forward operator's input and output. These and the following THROW for an index
  // out of range.
  std::string I(int i) const;
  std::string O(int i) const;
  // The given gradient of an output. THROWS when it is missing, or of the other kind.
  std::string GO(int i) const;
  std::string GO_I(int i) const;
  std::string GO_V(int i) const;
  const GradientWrapper& GradOut(int i) const { return Given(i); }
  // The name for the gradient of an input ("x_grad", "x_grad_indices", "x_grad_values"), which is
  // noted as made. THROWS when the input was noted as the other kind.
  std::string GI(int i);
  std::string GI_I(int i);
  std::string GI_V(int i);
  // Notes the gradient of an input under a name of the maker's choice.
  void SetDense(int i, const std::string& name);
  void SetSparse(int i, const std::string& indices, const std::string& values);

  // One operator, as CreateOperatorDef makes it; the second form takes other containers too.
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

// No operators, no gradients.
class NoGradient : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override { return {}; }
};

// THROWS: there is no sense in asking for a gradient.
class ThrowInTheTowelIfGradientIsCalled : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

// THROWS: there could be one, and nobody wrote it.
class GradientNotImplementedYet : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  GradientOpsMeta Get() override;
};

using GradientRegistryType = Registry<std::string, std::unique_ptr<GradientMakerBase>,
                                      const OperatorDef&, const std::vector<GradientWrapper>&>;
// The process's makers, with those of the built-in operators in it.
GradientRegistryType* GradientRegistry();

namespace internal {
// The same registry, for registration: the built-in makers may still be missing.
GradientRegistryType* GradientMakers();
}  // namespace internal

template <class Maker>
bool RegisterGradient(const std::string& op_type, const char* file) {
  return internal::GradientMakers()->Register(
      op_type,
      [](const OperatorDef& def, const std::vector<GradientWrapper>& g_output) {
        return std::unique_ptr<GradientMakerBase>(new Maker(def, g_output));
      },
      file);
}

// The gradient operators of `def` when its outputs have the gradients `g_output` (one entry an
// output). They get the device option, the engine and the arguments of `def` as its maker allows.
// THROWS when no maker is registered, the maker refuses, or what it gives does not fit.
GradientOpsMeta GetGradientForOp(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output);

// For users, at namespace scope, with or without a semicolon. The class comes last and may hold
// commas.
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
