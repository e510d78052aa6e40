#pragma once
// The element types that operators accept, so that a wrong type is reported before a net runs. They
// are declared with the schema:
//
//   RegisterSchema("MaxPool", __FILE__).TypesOfInput(0, {.accepted = {TensorProto::FLOAT}});
//
// The declarations describe the built-in operators on all devices of the library. An input without
// one may have any type. Thread safe.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct InputTypes {
  std::vector<TensorProto_DataType> accepted;
  bool like_first = false;  // whether the type must be that of input 0
};

// Returns what is wrong with the element types of the operator's inputs, such as `input 0 (X) has
// elements of type int64, want float`, or "" if nothing is. Inputs whose type is not known are
// accepted.
std::string WrongInputType(const OperatorDef& op, const std::vector<TensorShape>& inputs);

}  // namespace caffe2rt
#pragma GCC visibility pop
