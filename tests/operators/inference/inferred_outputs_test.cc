// The schema of each operator infers one shape for each output, for all numbers of inputs and outputs that it allows.
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::inferred_outputs_test {
namespace {

constexpr int kMostInputs = 10, kMostOutputs = 6;

// The number of shapes, or -1 if an input or an argument is rejected. `given`: the inputs whose
// shape is given.
int ShapesOf(const OpSchema& schema, const OperatorDef& def, const TensorShape& input, int given) {
  const std::vector<TensorShape> inputs(static_cast<size_t>(given), input);
  try {
    return static_cast<int>(schema.InferTensor(def, inputs).size());
  } catch (const EnforceNotMet&) {
    return -1;
  }
}

// Counts of a schema that has other rules for its inputs and outputs together are rejected.
void ExpectShapes(const OpSchema& schema, int inputs, int outputs) {
  if (!schema.num_inputs_allowed(inputs) || !schema.num_outputs_allowed(outputs)) return;
  if (inputs < schema.min_input() || inputs > schema.max_input()) return;
  if (outputs < schema.min_output() || outputs > schema.max_output()) return;
  OperatorDef def;
  def.set_type(schema.type());
  for (int i = 0; i < inputs; ++i) def.add_input(MakeString("in", i));
  for (int i = 0; i < outputs; ++i) def.add_output(MakeString("out", i));
  const std::vector<TensorShape> tried = {
      UnknownShape(), CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT),
      CreateTensorShape(std::vector<int64_t>{2, 3, 4, 4}, TensorProto::FLOAT)};
  for (size_t i = 0; i < tried.size(); ++i) {
    for (int given = 0; given <= inputs; given += std::max(inputs, 1)) {
      int found = 0;
      ASSERT_NO_THROW(found = ShapesOf(schema, def, tried[i], given))
          << schema.type() << ", " << given << " of " << inputs << " inputs, " << outputs
          << " outputs, shape " << i;
      EXPECT_TRUE(found == outputs || found == -1)
          << schema.type() << ", " << given << " of " << inputs << " inputs: " << found
          << " shapes for " << outputs << " outputs, shape " << i;
    }
  }
}

TEST(InferredOutputsTest, AreOneForEachOutput) {
  EnsureBuiltinOperators();
  int known = 0;
  for (const std::string& type : OpSchemaRegistry::Types()) {
    const OpSchema& schema = *OpSchemaRegistry::Schema(type);
    if (!schema.HasTensorInference()) continue;
    ++known;
    for (int inputs = 0; inputs <= kMostInputs; ++inputs) {
      for (int outputs = 0; outputs <= kMostOutputs; ++outputs) {
        ExpectShapes(schema, inputs, outputs);
      }
    }
  }
  EXPECT_GT(known, 400);
}

}  // namespace
}  // namespace caffe2rt::inferred_outputs_test
