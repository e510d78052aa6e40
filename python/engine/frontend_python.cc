// Operators that call functions of Python.
//
// An operator of type Python names its function by a token, which register_python_op returned, or
// holds the pickled call that builds the function. Its gradient is called with all inputs, all
// outputs and the gradients of the outputs.
//
// An exception of a function passes through nets and plans as a PythonOperatorError, and leaves the
// module as it was raised.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/frontend_tensors.h"
#include "python/engine/frontend_workspaces.h"
#include "python/engine/python_error.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr char kGradientSuffix[] = "_gradient";

struct Function {
  nb::object callable;
  bool pass_workspace = false;
};

// The registered functions by token. Never destroyed: operators may exist until the process ends.
// The interpreter's lock guards it.
std::map<std::string, Function>& Functions() {
  static auto* const functions = new std::map<std::string, Function>;
  return *functions;
}

std::string NameOf(nb::handle callable) {
  if (nb::hasattr(callable, "__name__")) return nb::cast<std::string>(callable.attr("__name__"));
  return nb::type_name(callable.type()).c_str();
}

std::string RegisterFunction(const nb::object& callable, bool pass_workspace, const Text& name) {
  std::string base = NameOf(callable);
  if (!name.view.empty()) base = name.str() + ":" + base;
  std::string token = base;
  for (int i = 1; Functions().count(token) != 0; ++i) token = MakeString(base, ":", i);
  Functions()[token] = {callable, pass_workspace};
  return token;
}

void RegisterGradientFunction(const Text& token, const nb::object& callable) {
  CAFFE_ENFORCE(Functions().count(token.str()) != 0, "no Python function has the token \"",
                token.view, "\"; register it with register_python_op first");
  Functions()[token.str() + kGradientSuffix] = {callable, false};
}

// The result of the pickled call (function, arguments, keyword arguments).
nb::object BuiltFunction(const std::string& pickled) {
  const nb::object call =
      nb::module_::import_("pickle").attr("loads")(nb::bytes(pickled.data(), pickled.size()));
  const nb::object args = nb::module_::import_("builtins").attr("tuple")(call[1]);
  const nb::object function = call[0];
  const nb::object keywords = call[2];
  return function(*args, **keywords);
}

Function FunctionOf(const OperatorBase& op, bool is_gradient) {
  const auto token = op.GetSingleArgument<std::string>("token", "");
  const auto pickled = op.GetSingleArgument<std::string>(
      is_gradient ? "pickled_grad_builder" : "pickled_builder", "");
  CAFFE_ENFORCE(!token.empty() || !pickled.empty(),
                "the operator has neither the argument token nor ",
                is_gradient ? "pickled_grad_builder" : "pickled_builder");
  if (!pickled.empty()) {
    return {BuiltFunction(pickled), op.GetSingleArgument<bool>("pass_workspace", false)};
  }
  const auto found = Functions().find(is_gradient ? token + kGradientSuffix : token);
  CAFFE_ENFORCE(found != Functions().end(), "no Python ", is_gradient ? "gradient" : "function",
                " is registered under the token \"", token, "\" in this process");
  return found->second;
}

// `Item` is what the function gets for a tensor.
template <class Item, bool kIsGradient>
class PythonOperator final : public Operator<CPUContext> {
 public:
  PythonOperator(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    for (const std::string& output : def.output()) outputs_.push_back(ws->FindBlob(output));
    const nb::gil_scoped_acquire locked;
    Guarded([&] { function_ = FunctionOf(*this, kIsGradient); });
  }
  ~PythonOperator() override {
    if (!nb::is_alive()) {
      (void)function_.callable.release();
      return;
    }
    const nb::gil_scoped_acquire locked;
    function_.callable.reset();
  }

  bool RunOnDevice() override {
    const nb::gil_scoped_acquire locked;
    Guarded([&] { Call(); });
    return true;
  }

 private:
  template <class Body>
  static void Guarded(const Body& body) {
    try {
      body();
    } catch (nb::python_error& error) {
      throw PythonOperatorError(__FILE__, __LINE__, error);
    }
  }

  void Call() {
    nb::list inputs, outputs;
    for (int i = 0; i < InputSize(); ++i) {
      CAFFE_ENFORCE(InputIsTensorType(i, CPU), "input ", i, " (", debug_def().input(i),
                    ") is not a tensor on the CPU, but ",
                    InputBlob(i).IsEmpty() ? "empty" : InputBlob(i).TypeName());
      inputs.append(nb::cast(Item(input_owner(i))));
    }
    for (int i = 0; i < OutputSize(); ++i) {
      OutputTensor(i, CPU);
      outputs.append(nb::cast(Item(outputs_[static_cast<size_t>(i)])));
    }
    if (function_.pass_workspace) {
      function_.callable(inputs, outputs, SharedWorkspace(workspace()));
    } else {
      function_.callable(inputs, outputs);
    }
  }

  std::vector<std::shared_ptr<Blob>> outputs_;
  Function function_;
};

class GetPythonGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    std::vector<std::string> inputs, outputs;
    // Where an output overwrites an input, the function gets the output's value for both.
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(ShapeOf(i));
    for (int i = 0; i < def_.output_size(); ++i) inputs.push_back(O(i));
    for (const int i : Indices(args, "grad_output_indices", def_.output_size())) {
      inputs.push_back(GO(i));
    }
    for (const int i : Indices(args, "grad_input_indices", def_.input_size())) {
      outputs.push_back(GI(i));
    }
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, outputs);
  }

 private:
  // The front end writes an empty list for all of them.
  static std::vector<int> Indices(const ArgumentHelper& args, const char* name, int count) {
    std::vector<int> indices = args.GetRepeatedArgument<int>(name);
    if (!indices.empty()) return indices;
    for (int i = 0; i < count; ++i) indices.push_back(i);
    return indices;
  }
};

void Declare(const char* type) {
  RegisterSchema(type, __FILE__)
      .NumInputs(0, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AllowInplace([](int, int) { return true; })
      .AcceptsAnyArgument()
      .AccessesUnlistedBlobs([](const OperatorDef&) { return true; })
      .HasEffect(Effect::kOutput)
      .Arg("token", "the function, as register_python_op returned it")
      .Arg("pickled_builder", "the pickled call that builds the function")
      .Arg("pickled_grad_builder", "the same for the gradient")
      .Arg("pass_workspace", "call the function with the workspace as its third argument")
      .Arg("forced_cpu_outputs", "outputs that are on the CPU on other devices, too")
      .Arg("grad_output_indices", "outputs whose gradients the gradient function gets; empty: all")
      .Arg("grad_input_indices", "inputs whose gradients it computes; empty: all")
      .SetDoc("Calls a function of Python with two lists of tensors, the inputs and the outputs.");
}

template <class Item>
void RegisterType(const std::string& type) {
  const std::string gradient = type + "Gradient";
  Declare(type.c_str());
  Declare(gradient.c_str());
  RegisterCpuOperator<PythonOperator<Item, false>>(type, __FILE__);
  RegisterCpuOperator<PythonOperator<Item, true>>(gradient, __FILE__);
  RegisterGradient<GetPythonGradient>(type, __FILE__);
}

}  // namespace

void BindFrontendPythonOperators(nb::module_& m) {
  RestorePythonErrors();  // after the translator of the library's errors
  RegisterType<FrontendTensor>("Python");
  RegisterType<FrontendDLPackTensor>("PythonDLPack");
  EnsureBuiltinOperators();
  m.def("_use_original_error_texts", &UseOriginalErrorTexts);
  m.def("register_python_op", &RegisterFunction, nb::arg("func"), nb::arg("pass_workspace"),
        nb::arg("name"));
  m.def("register_python_gradient_op", &RegisterGradientFunction);
}

}  // namespace caffe2rt
