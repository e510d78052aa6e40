#pragma once
// Damages the records of a minidb, so that the file remains a sequence of records.

#include <string>

#include "tests/fuzz/mutate_input.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Damages, removes, repeats or swaps records. In a record that holds the nets of a predictor, a net
// may be damaged field by field. Returns false, and changes nothing, if the bytes are not a minidb
// with at least one record.
bool MutateRecords(Random* random, const BytesMutator& mutate_bytes, std::string* bytes);

}  // namespace caffe2rt::test
