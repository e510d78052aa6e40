#pragma once
// Damages the arguments of operators.

#include <cstdint>
#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Values that are at some edge, or that operators know.
int64_t EdgeInt(Random* random);
std::string EdgeString(Random* random);

// Gives an argument without value one of any kind.
void FillArg(Random* random, Argument* arg);
// Another value, mostly of the kind it has.
void MutateArg(Random* random, Argument* arg);

}  // namespace caffe2rt::test
