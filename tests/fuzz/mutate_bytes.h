#pragma once
// Damages bytes without knowledge of the format.

#include <string>

#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Truncates, flips bits, overwrites, removes, repeats or zeroes ranges, inserts edge values, or
// splices `other` in. Afterwards `bytes` is not empty and has grown by at most 64 KiB.
void MutateBytes(const std::string& other, Random* random, std::string* bytes);

}  // namespace caffe2rt::test
