#pragma once
// Rules about the registration, arguments and kernel sources of operators.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// Manual registration: files register*.cc or register*.h in a family, and files <stem>.cc whose
// Register function is not named by an operator row of the family's CMakeLists.txt.
Violations CheckOperatorRows(const std::vector<SourceFile>& files);

// Arguments that operators/ reads or declares by a literal name. They must be declared once, as an
// ArgumentSpec (caffe2_core/graph/argument_spec.h).
Violations CheckArgumentDeclarations(const std::vector<SourceFile>& files);

// Headers that a .cu or .cuh file of contexts/ or operators/ must not include, directly or through
// other headers: protobuf, Tensor, contexts, operators and registries. "path includes X (through Y,
// Z)".
Violations CheckKernelIncludes(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
