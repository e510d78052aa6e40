#pragma once
// Rules about how operators are registered, declare their arguments and launch kernels.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// Registration by hand: a file register*.cc or register*.h of a family, and a file <stem>.cc whose
// Register function no operator row of the family's CMakeLists.txt names.
Violations CheckOperatorRows(const std::vector<SourceFile>& files);

// Arguments read or declared by a literal name in operators/: they are declared once, as an
// ArgumentSpec (caffe2_core/graph/argument_spec.h).
Violations CheckArgumentDeclarations(const std::vector<SourceFile>& files);

// What a .cu or .cuh file of contexts/ or operators/ includes, over any number of headers, and may
// not: protobuf, Tensor, contexts, operators and registries. "path includes X (through Y, Z)".
Violations CheckKernelIncludes(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
