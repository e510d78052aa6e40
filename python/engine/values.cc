#include "python/engine/values.h"

#include <nanobind/stl/string.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/model/device_placement.h"
#include "python/engine/arrays.h"
#include "python/engine/dlpack.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

std::string TypeNameOf(nb::handle value) { return nb::type_name(value.type()).c_str(); }

std::string MessageNameOf(nb::handle message) {
  const nb::object descriptor = nb::getattr(message, "DESCRIPTOR", nb::none());
  if (descriptor.is_none()) return "";
  return nb::cast<std::string>(nb::getattr(descriptor, "name", nb::str("")));
}

FileKind KindOfBytes(const std::string& bytes) {
  return DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
}

bool IsNumberOfPython(nb::handle value, bool* is_float) {
  *is_float = PyFloat_Check(value.ptr());
  return *is_float || PyBool_Check(value.ptr()) || PyLong_Check(value.ptr());
}

bool IsNumber(nb::handle value, bool* is_float) {
  if (IsNumberOfPython(value, is_float)) return true;
  // A scalar of numpy. item() returns one of Python, but for types that Python lacks.
  if (!nb::hasattr(value, "dtype") || nb::cast<int>(nb::getattr(value, "ndim", nb::int_(1))) != 0)
    return false;
  return IsNumberOfPython(value.attr("item")(), is_float);
}

int64_t IntegerOf(const std::string& name, nb::handle value) {
  int overflow = 0;
  const nb::int_ integer(value);
  const int64_t result = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  CAFFE_ENFORCE(overflow == 0, "argument \"", name, "\" is ", nb::str(integer).c_str(),
                ", want an integer of 64 bits");
  return result;
}

bool IsText(nb::handle value) { return PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr()); }

[[noreturn]] void ThrowBadArgument(const std::string& name, nb::handle value) {
  CAFFE_THROW("argument \"", name, "\" is of type ", TypeNameOf(value),
              ", want a number, a text, a net, or a list of these");
}

void AddElement(const std::string& name, nb::handle element, Argument* argument) {
  bool is_float = false;
  if (IsText(element)) {
    argument->add_strings(TextOf(element));
  } else if (IsNumber(element, &is_float)) {
    if (is_float) {
      argument->add_floats(nb::cast<float>(nb::float_(element)));
    } else {
      argument->add_ints(IntegerOf(name, element));
    }
  } else {
    ThrowBadArgument(name, element);
  }
}

// Integers among floats are floats.
void UnifyNumbers(Argument* argument, nb::handle list) {
  if (argument->floats_size() == 0 || argument->ints_size() == 0) return;
  argument->clear_floats();
  argument->clear_ints();
  for (const nb::handle element : list) argument->add_floats(nb::cast<float>(nb::float_(element)));
}

}  // namespace

std::string TextOf(nb::handle value) {
  if (PyBytes_Check(value.ptr())) {
    const nb::bytes bytes = nb::cast<nb::bytes>(value);
    return {bytes.c_str(), bytes.size()};
  }
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (data == nullptr) nb::raise_python_error();  // a surrogate: the error names its position
  return {data, static_cast<size_t>(size)};
}

Tensor TensorOf(nb::handle value) {
  if (IsNumpyArray(value)) return TensorOverArray(value);
  if (nb::hasattr(value, "__dlpack__")) {
    const nb::object capsule = value.attr("__dlpack__")();
    try {
      Tensor tensor(CPU);
      ShareDLPack(capsule, &tensor);
      return tensor;
    } catch (const EnforceNotMet&) {
      // Not in row-major order, or elsewhere: numpy copies it or says why not.
      return TensorOverArray(nb::module_::import_("numpy").attr("from_dlpack")(value));
    }
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("asarray")(value);
  // Numbers of Python, which have no other type, and lists of them.
  const bool has_type = nb::hasattr(value, "dtype") || nb::hasattr(value, "__array__");
  if (!has_type && nb::cast<bool>(array.attr("dtype").attr("__eq__")("float64")))
    array = array.attr("astype")("float32");
  return TensorOverArray(array);
}

std::string BytesOf(nb::handle message, const char* subject) {
  if (PyBytes_Check(message.ptr())) return TextOf(message);
  if (nb::hasattr(message, "SerializeToString")) return TextOf(message.attr("SerializeToString")());
  CAFFE_THROW(subject, " is of type ", TypeNameOf(message),
              ", want bytes or a message of protobuf");
}

bool IsPlan(nb::handle message) {
  const std::string name = MessageNameOf(message);
  if (!name.empty()) return name == "PlanDef";
  return PyBytes_Check(message.ptr()) && KindOfBytes(TextOf(message)) == FileKind::kPlanDef;
}

OperatorDef OperatorOf(nb::handle message) {
  OperatorDef op;
  ParseBinaryProto(BytesOf(message, "operator"), "operator", &op);
  return op;
}

PlanDef PlanOf(nb::handle message) {
  PlanDef plan;
  ParseBinaryProto(BytesOf(message, "plan"), "plan", &plan);
  return plan;
}

NetDef NetOf(nb::handle message) {
  NetDef net;
  const std::string name = MessageNameOf(message);
  CAFFE_ENFORCE(name.empty() || name == "NetDef" || name == "OperatorDef", "net is a ", name,
                ", want a NetDef or an OperatorDef");
  if (PyUnicode_Check(message.ptr())) {
    ParseTextProto(TextOf(message), "net", &net);
  } else if (name == "OperatorDef") {
    *net.add_op() = OperatorOf(message);
    net.set_name(net.op(0).type());
  } else {
    ParseBinaryProto(BytesOf(message, "net"), "net", &net);
  }
  return net;
}

Argument ArgumentOf(const std::string& name, nb::handle value) {
  Argument argument;
  argument.set_name(name);
  bool is_float = false;
  if (IsText(value)) {
    argument.set_s(TextOf(value));
  } else if (nb::hasattr(value, "SerializeToString")) {
    *argument.mutable_n() = NetOf(value);
  } else if (IsNumber(value, &is_float)) {
    if (is_float) {
      argument.set_f(nb::cast<float>(nb::float_(value)));
    } else {
      argument.set_i(IntegerOf(name, value));
    }
  } else if (PySequence_Check(value.ptr()) != 0 || nb::hasattr(value, "__iter__")) {
    for (const nb::handle element : value) AddElement(name, element, &argument);
    UnifyNumbers(&argument, value);
  } else {
    ThrowBadArgument(name, value);
  }
  return argument;
}

DeviceOption DeviceOf(const std::string& text) {
  DeviceOption device;
  CAFFE_ENFORCE(text == "cpu" || ParseDevice(text, &device), "device \"", text,
                "\" is not known, want cpu, cuda or cuda:NUMBER");
  return device;
}

nb::object JsonOf(const std::string& text) {
  return nb::module_::import_("json").attr("loads")(nb::str(text.data(), text.size()));
}

}  // namespace caffe2rt
