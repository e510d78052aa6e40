#pragma once
// What Python passes as a tensor, a message or a device, as values of the library.
//
// All functions REQUIRE the interpreter's lock.

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// A tensor on the CPU with the elements of a numpy array, of an object with __dlpack__, or of
// anything that numpy.asarray accepts (then numbers of Python with a fraction, and lists of them, are
// float32); without a copy where TensorOverArray needs none.
Tensor TensorOf(nanobind::handle value);

// The characters of bytes or of a str, which must have no surrogates.
std::string TextOf(nanobind::handle value);

// The bytes of a message: bytes, or an object with SerializeToString, as messages of protobuf and
// the classes of this package have it.
std::string BytesOf(nanobind::handle message, const char* subject);
// A NetDef from its bytes, its text (a str), or an operator, which becomes a net of its own. THROWS if
// it is a message of another kind.
NetDef NetOf(nanobind::handle message);
OperatorDef OperatorOf(nanobind::handle message);
PlanDef PlanOf(nanobind::handle message);
bool IsPlan(nanobind::handle message);

// An argument of an operator from a Python value: bool and int, float, str and bytes, a message or lists
// of these.
Argument ArgumentOf(const std::string& name, nanobind::handle value);

// "cpu", "cuda", "cuda:1". THROWS for other names.
DeviceOption DeviceOf(const std::string& text);

// The value of JSON text, by Python's module json.
nanobind::object JsonOf(const std::string& text);

}  // namespace caffe2rt
