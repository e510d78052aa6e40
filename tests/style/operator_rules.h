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

// Kernels whose results have the bits of the CPU's. A .cu file of operators/ with a comment that
// begins with "Exact:" must be compiled without fused multiply-add (EXACT in an operator row, or
// caffe2rt_exact_kernels), and no other may. A file that uses Philox numbers must be one of them.
Violations CheckExactKernels(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
