// What may be an argument or an input means the same as either.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::given_as_inputs_test {
namespace {

struct Row {
  // As in LongCall; the results are called Y and Z.
  const char *by_argument, *by_input, *inputs;
};

constexpr Row kRows[] = {
    {"NonMaxSuppression B S -> Y max_output_boxes_per_class=3 iou_threshold=0.1 "
     "score_threshold=0.7",
     "NonMaxSuppression B S M I T -> Z",
     "B p 1,30,4; S p 1,2,30; M l 1 = 3; I f 1 = 0.1; T f 1 = 0.7"},
    {"UpsampleBilinear X -> Y height_scale=2.5 width_scale=1.5", "UpsampleBilinear X S -> Z",
     "X f 1,2,4,6; S f 2 = 2.5,1.5"},
    {"ResizeNearest X -> Y height_scale=2.5 width_scale=1.5", "ResizeNearest X S -> Z",
     "X f 1,2,4,6; S f 2 = 2.5,1.5"},
    {"ONNXSlice X -> Y starts=1,0 ends=5,3 axes=1,0 steps=2,1", "ONNXSlice X b e a s -> Z",
     "X f 4,6; b l 2 = 1,0; e l 2 = 5,3; a l 2 = 1,0; s l 2 = 2,1"},
    {"Slice X -> Y starts=0,1 ends=-1,4", "Slice X b e -> Z", "X f 4,6; b i 2 = 0,1; e i 2 = -1,4"},
    {"Resize X -> Y sizes=3,9", "Resize X r s z -> Z", "X f 4,6; r f 0; s f 0; z l 2 = 3,9"},
    {"Resize X -> Y scales=0.5,1.5 mode=linear", "Resize X r s -> Z mode=linear",
     "X f 4,6; r f 0; s f 2 = 0.5,1.5"},
    {"CenterCropPad X -> Y shape=2,9", "CenterCropPad X s -> Z", "X f 4,6; s l 2 = 2,9"},
    {"Pad X -> Y pads=1,2,3,0", "Pad X p -> Z", "X f 4,6; p l 4 = 1,2,3,0"},
    {"ONNXCol2Im X -> Y image_shape=4,5 block_shape=2,3", "ONNXCol2Im X s b -> Z",
     "X f 1,12,9; s l 2 = 4,5; b l 2 = 2,3"},
    {"TopK X -> Y I k=2", "TopK X k -> Z I", "X f 4,6; k l 1 = 2"},
    {"ONNXExpand X -> Y shape=3,4,6", "ONNXExpand X s -> Z", "X f 4,1; s l 3 = 3,4,6"},
    {"Split X -> A Y axis=1 split=2,4", "Split X s -> B Z axis=1", "X f 4,6; s i 2 = 2,4"},
    {"Reshape X -> Y a shape=3,-1", "Reshape X s -> Z b", "X f 4,6; s l 2 = 3,-1"},
    {"Tile X -> Y tiles=3 axis=1", "Tile X t a -> Z", "X f 4,6; t i 1 = 3; a i 1 = 1"},
    {"Trilu X -> Y k=2", "Trilu X k -> Z", "X f 4,6; k l 1 = 2"},
    {"ReduceSum X -> Y axes=0,2 keepdims=0", "ReduceSum X a -> Z keepdims=0",
     "X f 4,6,2; a l 2 = 0,2"},
    // Without effect, as in the original.
    {"SpatialSoftmaxWithLoss X L -> P Y average_by_batch_size=1", "SpatialSoftmaxWithLoss X L -> Q Z",
     "X f 2,3,2,2; L i 2,2,2 <3"},
    {"Concat A B -> Y S order=NHWC", "Concat A B -> Z S order=nhwc", "A f 2,2,3,3; B f 2,2,3,2"},
    {"Split X -> Y A order=NHWC", "Split X -> Z B order=nhwc", "X f 2,2,3,4"},
    {"MaxPool X -> Y kernel=2 order=NHWC", "MaxPool X -> Z kernel=2 order=nhwc", "X f 1,4,5,3"},
    {"ConstantFill -> Y shape=2,3 value=1.5", "ConstantFill s -> Z input_as_shape=1 value=1.5",
     "s l 2 = 2,3"},
};

TEST(GivenAsInputsTest, MeansTheSameAsAnArgument) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.by_input);
    Workspace ws;
    const LongCall by_argument{row.by_argument, row.inputs}, by_input{row.by_input, row.inputs};
    FeedInputs(by_argument, &ws);
    ASSERT_NO_THROW(RunOp(&ws, OperatorsOf(by_argument)[0]));
    ASSERT_NO_THROW(RunOp(&ws, OperatorsOf(by_input)[0]));
    const Tensor &y = ws.GetBlob("Y")->Get<Tensor>(), &z = ws.GetBlob("Z")->Get<Tensor>();
    EXPECT_EQ(y.dims(), z.dims());
    ASSERT_EQ(y.nbytes(), z.nbytes());
    EXPECT_GT(y.nbytes(), 0u);
    EXPECT_EQ(std::memcmp(y.raw_data(), z.raw_data(), y.nbytes()), 0);
  }
}

constexpr std::pair<const char*, const char*> kOrders[] = {{"NCHW", "nchw"}, {"NHWC", "nhwc"}};

// Whether the operator accepts the value of its argument.
bool IsRead(const OpSchema::Argument& argument, const std::string& type, const char* value) {
  OperatorDef def;
  def.set_type(type);
  Argument* const arg = def.add_arg();
  arg->set_name(argument.name);
  arg->set_s(value);
  try {
    argument.read(ArgumentHelper(def));
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

// The original reads the names of layouts in small letters, too.
TEST(OrderArgumentTest, IsReadInSmallLetters) {
  EnsureBuiltinOperators();
  int read = 0;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    for (const OpSchema::Argument& argument : OpSchemaRegistry::Schema(type)->args()) {
      if (argument.name != "order" || argument.default_value != "NCHW" || !argument.read) continue;
      for (const auto& [capital, small] : kOrders) {
        EXPECT_EQ(IsRead(argument, type, capital), IsRead(argument, type, small))
            << type << ", " << small;
        ++read;
      }
    }
  }
  EXPECT_GT(read, 60);
}

}  // namespace
}  // namespace caffe2rt::test::given_as_inputs_test
