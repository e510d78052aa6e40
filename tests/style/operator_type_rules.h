#pragma once
// The rule that facts of an operator stand in the operator's own file.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// String literals in caffe2_core that are types of built-in operators, outside of compat and of an
// allowlist. What the core has to know about a type is a trait of its schema
// (caffe2_core/graph/operator_traits.h). A row of the allowlist must be needed.
Violations CheckOperatorTypesInCore(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
