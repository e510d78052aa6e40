#pragma once
// Damages packed models and makes their checksums right again.

#include <string>

#include "tests/fuzz/mutate_input.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Changes fields of the index, the net or bytes anywhere, and writes a header that fits. Returns
// false if `bytes` is not a packed model.
bool MutatePack(Random* random, const BytesMutator& mutate_bytes, std::string* bytes);

}  // namespace caffe2rt::test
