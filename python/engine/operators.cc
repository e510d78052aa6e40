#include "python/engine/operators.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "python/engine/arrays.h"
#include "python/engine/python_error.h"
#include "python/engine/text.h"
#include "python/engine/values.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

OperatorDef MakeOperator(const std::string& type, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const std::string& name,
                         const std::string& engine, const std::optional<std::string>& device,
                         const nb::dict& arguments) {
  OperatorDef def;
  def.set_type(type);
  def.set_name(name);
  for (const std::string& input : inputs) def.add_input(input);
  for (const std::string& output : outputs) def.add_output(output);
  if (!engine.empty()) def.set_engine(engine);
  if (device.has_value()) *def.mutable_device_option() = DeviceOf(*device);
  for (const auto& [argument, value] : arguments) {
    *def.add_arg() = ArgumentOf(nb::cast<std::string>(argument), value);
  }
  return def;
}

// An output of an operator while its function runs.
class PythonOutput {
 public:
  explicit PythonOutput(Tensor* tensor) : tensor_(tensor) {}
  void Close() { tensor_ = nullptr; }
  void Feed(nb::handle value) { *Open() = TensorOf(value).Clone(); }
  // output[...] = value takes the value's shape; another index is one of the elements that are there.
  void Set(nb::handle index, nb::handle value) {
    if (index.is(nb::ellipsis())) {
      Feed(value);
    } else {
      nb::object view = ViewOfTensor(Open());
      view[index] = value;
    }
  }
  // A writable array of this shape and type.
  nb::object Resize(const std::vector<int64_t>& shape, nb::handle type) {
    Open();
    const nb::object empty =
        nb::module_::import_("numpy").attr("empty")(nb::tuple(nb::cast(shape)), type);
    FeedArray(empty, tensor_);
    return ViewOfTensor(tensor_);
  }
  nb::object Array() { return ViewOfTensor(Open()); }

 private:
  Tensor* Open() const {
    CAFFE_ENFORCE(tensor_ != nullptr, "the output is used after its operator has run");
    return tensor_;
  }
  Tensor* tensor_;
};

// A function of Python as an operator type.
struct Function {
  nb::object run, gradient;  // gradient: None if there is none
};

nb::object ValueOf(const Argument& arg) {
  if (arg.has_f()) return nb::float_(arg.f());
  if (arg.has_i()) return nb::int_(arg.i());
  if (arg.has_s()) return nb::str(arg.s().data(), arg.s().size());
  if (arg.floats_size() > 0)
    return nb::cast(std::vector<float>(arg.floats().begin(), arg.floats().end()));
  if (arg.ints_size() > 0)
    return nb::cast(std::vector<int64_t>(arg.ints().begin(), arg.ints().end()));
  return nb::cast(std::vector<std::string>(arg.strings().begin(), arg.strings().end()));
}

class FunctionOperator final : public Operator<CPUContext> {
 public:
  FunctionOperator(const OperatorDef& def, Workspace* ws, nb::handle function)
      : Operator<CPUContext>(def, ws), function_(function) {
    const nb::gil_scoped_acquire locked;
    arguments_ = nb::dict().release();
    for (const Argument& arg : def.arg()) {
      nb::borrow<nb::dict>(arguments_)[arg.name().c_str()] = ValueOf(arg);
    }
  }
  ~FunctionOperator() override {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire locked;
    arguments_.dec_ref();
  }

  bool RunOnDevice() override {
    const nb::gil_scoped_acquire locked;
    try {
      Call();
    } catch (nb::python_error& error) {
      throw PythonOperatorError(__FILE__, __LINE__, error);
    }
    return true;
  }

 private:
  void Call() {
    nb::list inputs, outputs;
    for (int i = 0; i < InputSize(); ++i) {
      nb::object array = ArrayOverTensor(Input(i));
      array.attr("flags").attr("writeable") = false;
      inputs.append(array);
    }
    for (int i = 0; i < OutputSize(); ++i)
      outputs.append(nb::cast(PythonOutput(OutputTensor(i, CPU))));
    const auto close = [&] {
      for (const nb::handle output : outputs) nb::cast<PythonOutput&>(output).Close();
    };
    try {
      function_(inputs, outputs, **nb::borrow<nb::dict>(arguments_));
    } catch (...) {
      close();
      throw;
    }
    close();
  }

  const nb::handle function_;  // lives as long as the process
  nb::handle arguments_;
};

// The gradient reads the inputs, the outputs and the gradients of the outputs.
class FunctionGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs, outputs;
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(I(i));
    for (int i = 0; i < def_.output_size(); ++i) inputs.push_back(O(i));
    for (int i = 0; i < def_.output_size(); ++i) inputs.push_back(GO(i));
    for (int i = 0; i < def_.input_size(); ++i) outputs.push_back(GI(i));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, outputs);
  }
};

void RegisterFunction(const std::string& type, const nb::object& function, const std::string& doc) {
  CAFFE_ENFORCE(OpSchemaRegistry::Schema(type) == nullptr, "operator type \"", type,
                "\" exists already, want another name");
  RegisterSchema(type, "Python")
      .NumInputs(0, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AcceptsAnyArgument()
      .HasEffect(Effect::kOutput)
      .SetDoc(doc);
  nb::handle kept = nb::object(function).release();  // operators may exist until the process ends
  OperatorRegistryOf(CPU)->Register(
      type,
      [kept](const OperatorDef& def, Workspace* ws) -> std::unique_ptr<OperatorBase> {
        return std::make_unique<FunctionOperator>(def, ws, kept);
      },
      "Python");
}

void RegisterOperatorType(const std::string& type, const nb::object& function,
                          const nb::object& gradient, const std::string& doc) {
  CAFFE_ENFORCE(!type.empty(), "the operator type has no name");
  for (const nb::handle callable : {nb::handle(function), nb::handle(gradient)}) {
    CAFFE_ENFORCE(callable.is_none() || PyCallable_Check(callable.ptr()) != 0, "operator type \"",
                  type, "\": want a function, got ", nb::type_name(callable.type()).c_str());
  }
  (void)RegisteredOperatorTypes(CPU);  // the built-in operators come first
  RegisterFunction(type, function, doc);
  if (gradient.is_none()) return;
  RegisterFunction(type + "Gradient", gradient, "The gradient of " + type + ".");
  RegisterGradient<FunctionGradient>(type, "Python");
}

}  // namespace

void BindOperators(nb::module_& m) {
  nb::class_<PythonOutput>(m, "Output",
                           R"(An output of an operator in Python, while its function runs.

output[...] = array sets it, output.resize(shape, dtype) gives an array to write into.)")
      .def("__setitem__", &PythonOutput::Set,
           "output[...] = array: the output takes the shape and the type of the array.")
      .def("feed", &PythonOutput::Feed, nb::arg("value"),
           "Copies an array, whose shape and type the output takes.")
      .def("resize", &PythonOutput::Resize, nb::arg("shape"), nb::arg("dtype") = "float32",
           "Returns a writable array of this shape and type over the memory of the output, without "
           "defined elements.")
      .def("array", &PythonOutput::Array,
           "A writable array over the memory that the output has already, such as an input in "
           "place.");
  m.def(
      "make_operator",
      [](const std::string& type, const std::vector<std::string>& inputs,
         const std::vector<std::string>& outputs, const std::string& name,
         const std::string& engine, std::optional<std::string> device, const nb::dict& arguments) {
        return Serialized(MakeOperator(type, inputs, outputs, name, engine, device, arguments));
      },
      nb::arg("type"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("name"), nb::arg("engine"),
      nb::arg("device").none(), nb::arg("arguments"), "Returns a serialized OperatorDef.");
  m.def(
      "make_net",
      [](const std::string& name, const std::string& type, const std::vector<std::string>& inputs,
         const std::vector<std::string>& outputs, const std::vector<Text>& operators) {
        NetDef net;
        net.set_name(name);
        if (!type.empty()) net.set_type(type);
        for (const std::string& input : inputs) net.add_external_input(input);
        for (const std::string& output : outputs) net.add_external_output(output);
        for (OperatorDef& op : ParsedAll<OperatorDef>(operators, "operator"))
          *net.add_op() = std::move(op);
        return Serialized(net);
      },
      nb::arg("name"), nb::arg("type"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("operators"),
      "Returns a serialized NetDef.");
  m.def("register_operator", &RegisterOperatorType, nb::arg("type"), nb::arg("function"),
        nb::arg("gradient").none(), nb::arg("doc"),
        "Makes a function of Python an operator type on the CPU.");
  m.def(
      "operator_types", [] { return GetRegisteredOperators(); },
      "The names of all operator types.");
  m.def(
      "load_module", [](const std::string& path) { LoadModule("", path); }, nb::arg("path"),
      "Loads a module (.so) with operators written in C++.");
}

}  // namespace caffe2rt
