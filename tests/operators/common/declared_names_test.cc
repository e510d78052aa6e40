// The arguments and inputs that schemas declare for operators that share a registration: each has its own ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test::declared_names_test {
namespace {

using Names = std::vector<std::string>;

struct DeclaredRow {
  const char* type;
  Names arguments, inputs;
};

const DeclaredRow kDeclared[] = {
    {"SortedSegmentSum", {}, {"DATA", "SEGMENT_IDS"}},
    {"SortedSegmentWeightedSum", {"grad_on_weights"}, {"DATA", "SCALARS", "SEGMENT_IDS"}},
    {"SparseSortedSegmentMean", {}, {"DATA", "INDICES", "SEGMENT_IDS"}},
    {"SortedSegmentRangeLogSumExp", {}, {"DATA", "SEGMENT_IDS"}},
    {"UnsortedSegmentMean", {"num_segments"}, {"DATA", "SEGMENT_IDS"}},
    {"SparseUnsortedSegmentSum", {"num_segments"}, {"DATA", "INDICES", "SEGMENT_IDS"}},
    {"SparseUnsortedSegmentWeightedSum",
     {"num_segments", "grad_on_weights"},
     {"DATA", "SCALARS", "INDICES", "SEGMENT_IDS"}},
    {"LengthsMax", {}, {"DATA", "LENGTHS"}},
    {"LengthsWeightedSum", {"grad_on_weights"}, {"DATA", "SCALARS", "LENGTHS"}},
    {"SparseLengthsSum", {}, {"DATA", "INDICES", "LENGTHS"}},
    {"SparseLengthsPositionalWeightedSum", {}, {"DATA", "WEIGHT", "INDICES", "LENGTHS"}},
    {"SortedSegmentMeanGradient", {}, {"SEGMENT_GRADS", "SEGMENT_IDS"}},
    {"LengthsSumGradient", {}, {"SEGMENT_GRADS", "LENGTHS"}},
    {"LengthsWeightedSumWithMainInputGradient",
     {"grad_on_weights"},
     {"SCALARS", "SEGMENT_GRADS", "LENGTHS", "DATA"}},
    {"SparseLengthsWeightedSumWithMainInputGradient",
     {"grad_on_weights"},
     {"SCALARS", "SEGMENT_GRADS", "LENGTHS", "DATA", "INDICES"}},
    {"LengthsMaxWithMainInputAndForwardOutputGradient",
     {},
     {"OUTPUT", "SEGMENT_GRADS", "LENGTHS", "DATA"}},
    {"SortedSegmentRangeMaxGradient", {}, {"DATA", "OUTPUT", "SEGMENT_GRADS", "SEGMENT_IDS"}},
    {"SparseLengthsIndicesInGradientMeanGradient", {}, {"SEGMENT_GRADS", "LENGTHS", "INDICES"}},
    {"ReduceSum", {"axes", "keepdims", "noop_with_empty_axes"}, {"X", "axes"}},
    {"ReduceMean", {"axes", "keepdims", "noop_with_empty_axes"}, {"X", "axes"}},
    {"ReduceMax", {"axes", "keepdims", "noop_with_empty_axes", "infinite_if_empty"}, {"X", "axes"}},
    {"ReduceMin", {"axes", "keepdims", "noop_with_empty_axes", "infinite_if_empty"}, {"X", "axes"}},
    {"ReduceMaxGradient", {"axes", "keepdims"}, {"dY", "X", "Y"}},
    {"ReduceFrontSumGradient", {"num_reduce_dim"}, {"dY", "X", "lengths"}},
    {"ReduceBackMaxGradient", {"num_reduce_dim"}, {"dY", "X", "Y", "lengths"}},
    {"Gather", {"match_outer", "axis", "wrap_indices", "dense_gradient"}, {"DATA", "INDICES"}},
    {"BatchGather", {"match_outer"}, {"DATA", "INDICES"}},
    {"Unsqueeze", {"axes"}, {"X", "axes"}},
    {"ONNXTile", {"repeats"}, {"X", "repeats"}},
    {"ONNXExpand", {"shape"}, {"X", "shape"}},
};

TEST(DeclaredNamesTest, AreThoseOfTheType) {
  EnsureBuiltinOperators();
  for (const DeclaredRow& row : kDeclared) {
    SCOPED_TRACE(row.type);
    const OpSchema* const schema = OpSchemaRegistry::Schema(row.type);
    ASSERT_NE(schema, nullptr);
    Names arguments, inputs;
    for (const OpSchema::Argument& argument : schema->args()) arguments.push_back(argument.name);
    for (const OpSchema::NamedDoc& input : schema->input_docs()) inputs.push_back(input.name);
    EXPECT_EQ(arguments, row.arguments);
    EXPECT_EQ(inputs, row.inputs);
  }
}

}  // namespace
}  // namespace caffe2rt::test::declared_names_test
