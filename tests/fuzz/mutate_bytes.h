#pragma once
// Damages bytes without knowing what they mean.

#include <string>

#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Truncates, flips bits, overwrites, removes, repeats or zeroes ranges, plants numbers that are at
// some edge, or splices `other` in. `bytes` is never empty afterwards, and grows by at most 64 KiB.
void MutateBytes(const std::string& other, Random* random, std::string* bytes);

}  // namespace caffe2rt::test
