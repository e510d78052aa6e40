#pragma once
// Finds the element types and ranks that the inputs of operators accept: runs recorded calls with
// other types and ranks. For operators/accepted_inputs.tsv.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/oracle/changed_calls.h"

namespace caffe2rt::test {

// Returns the rows of the table, sorted, and of each input that crashes or hangs a row with the reason
// in place of types and ranks. `most_calls`: how many recorded calls of an operator are changed; the
// types and ranks of the others count as accepted, too.
std::vector<std::string> FindAcceptedInputs(const ChangedCalls& calls, size_t most_calls);

}  // namespace caffe2rt::test
