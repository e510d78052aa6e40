#pragma once
// Arguments of operators as text for people.

#include <string>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The value of an argument, shortened to about `most` bytes: "3", "0.1", "[2, 2]", "\"NHWC\"",
// "a net of 4 operators".
std::string ArgumentText(const Argument& arg, size_t most);

// The arguments that a reader looks for first, for the box of the operator: "3x3, stride 2, pad 1,
// group 32" with a multiplication sign for windows, otherwise the first short arguments, such as
// "axis 1". Values that are defaults of Caffe2 are left out. At most about 60 bytes.
std::string DetailText(const OperatorDef& op);

}  // namespace caffe2rt
