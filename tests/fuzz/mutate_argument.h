#pragma once
// Damages the arguments of operators.

#include <cstdint>
#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Edge values, or values that operators accept.
int64_t EdgeInt(Random* random);
std::string EdgeString(Random* random);

// Sets the value of an argument that has none, to any type.
void FillArg(Random* random, Argument* arg);
// Changes the value, mostly keeping its type.
void MutateArg(Random* random, Argument* arg);

}  // namespace caffe2rt::test
