#pragma once
// Generates nets of random operators over inputs that nearly fit: the documentation of an operator's
// schema states the shapes and types of its inputs, so that many runs reach its kernel. Some inputs
// are then damaged: another size, rank or type, values out of range, no blob, or one blob for
// several inputs and outputs.

#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// A net of up to four operators whose type contains `part`, which may be empty, with the operators
// that create their inputs. REQUIRES: a registered type contains `part`.
NetDef GenerateOperatorNet(const std::string& part, Random* random);

}  // namespace caffe2rt::test
