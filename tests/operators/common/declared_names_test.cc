// The arguments and inputs that schemas declare for operators that share a registration: each has its own ones. The
// numbers of inputs and outputs of those that have several, and which outputs may be inputs.
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
    {"StopGradient", {}, {"X"}},
    {"CopyOnDeviceLike", {}, {"X", "like"}},
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

// The numbers up to 8 inputs and 6 outputs, and the pairs of input and output that may be one blob.
struct CountsRow {
  const char *type, *inputs, *outputs, *inplace;
};

const CountsRow kCounts[] = {
    {"WeightedSum", "2 4 6 8", "1", "0:0"},
    {"WeightedSumGradient", "1 3 5 7", "1 2 3 4 5 6", ""},
    {"NanCheck", "1 2 3 4 5 6 7 8", "1", "0:0"},
    {"EnforceFinite", "1", "0", ""},
    {"MeanGradient", "1", "1 2 3 4 5 6", "0:0"},
    {"Dropout", "1", "1 2", "0:0"},
    {"DropoutGrad", "1 2", "1", "0:0"},
    {"Add", "2", "1", "0:0 1:0"},
    {"Sub", "2", "1", "0:0 1:0"},
    {"Mul", "2", "1", "0:0 1:0"},
    {"Div", "2", "1", "0:0"},
    {"Copy", "1", "1", ""},
    {"StopGradient", "1", "1", "0:0"},
    {"CopyOnDeviceLike", "2", "1", ""},
    {"GroupNorm", "3", "1 3", ""},
    {"LayerNorm", "1 3", "3", ""},
    {"LayerNormGradient", "5 6", "1 3", ""},
    {"LRN", "1", "1 2", ""},
    {"InstanceNorm", "3", "1 2 3", "0:0"},
    {"SpatialBNGradient", "5 7", "3", "5:1 6:2"},
    {"MatMul", "2 3", "1", ""},
    {"FC", "3", "1", ""},
    {"FCGradient", "3", "2 3", ""},
    {"ConvTranspose", "2 3", "1", ""},
    {"ConvTransposeGradient", "3", "1 2 3", ""},
    {"Int8Slice", "1 3", "1", ""},
    {"Int8Quantize", "1 2", "1", ""},
    {"Int8Reshape", "1 2", "2", "0:0"},
    {"Int8FC", "3 4", "1 2 3 4", ""},
    {"Int8Concat", "1 2 3 4 5 6 7 8", "1 2", ""},
    {"Int8Relu", "1", "1", "0:0"},
    {"Int8LeakyRelu", "1", "1", "0:0"},
};

TEST(DeclaredCountsTest, AreThoseOfTheType) {
  EnsureBuiltinOperators();
  for (const CountsRow& row : kCounts) {
    SCOPED_TRACE(row.type);
    const OpSchema* const schema = OpSchemaRegistry::Schema(row.type);
    ASSERT_NE(schema, nullptr);
    std::string inputs, outputs, inplace;
    const auto add = [](std::string* list, const std::string& item) {
      if (!list->empty()) list->push_back(' ');
      *list += item;
    };
    for (int in = 0; in <= 8; ++in) {
      if (in >= schema->min_input() && in <= schema->max_input() && schema->num_inputs_allowed(in))
        add(&inputs, std::to_string(in));
      for (int out = 0; out < 6; ++out) {
        if (schema->inplace_allowed(in, out)) add(&inplace, MakeString(in, ":", out));
      }
    }
    for (int out = 0; out <= 6; ++out) {
      if (out >= schema->min_output() && out <= schema->max_output() &&
          schema->num_outputs_allowed(out))
        add(&outputs, std::to_string(out));
    }
    EXPECT_EQ(inputs, row.inputs);
    EXPECT_EQ(outputs, row.outputs);
    EXPECT_EQ(inplace, row.inplace);
  }
}

}  // namespace
}  // namespace caffe2rt::test::declared_names_test
