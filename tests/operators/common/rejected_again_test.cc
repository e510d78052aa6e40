// An operator that rejects an input rejects it in every run, and computes as before on the next
// good input: a failed run leaves no part of a plan.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::rejected_again_test {
namespace {

struct RejectedAgainRow {
  const char* op;
  const char* good;
  std::vector<const char*> bad;  // each replaces some of the good inputs
};

// Among the bad inputs are shapes that only the plan checks, and what every run checks.
std::vector<RejectedAgainRow> ConvRows() {
  return {
      {"Conv X w b -> Y kernel=3",
       "X f 1,2,4,5; w f 3,2,3,3; b f 3",
       {"X f 1,3,4,5", "X f 1,2,2,5", "X f 1,2,20", "w f 3,2,3,2", "w f 3,1,3,3", "b f 2",
        "b f 3,1", "w f 4,2,3,3", "X d 1,2,4,5", "w d 3,2,3,3"}},
      {"Conv X w b -> Y kernel=2 group=2 order=NHWC",
       "X f 2,3,4,4; w f 6,2,2,2; b f 6",
       {"X f 2,3,4,3", "X f 2,1,4,4", "w f 5,2,2,2", "w f 6,2,2,4", "b f 5"}},
      {"Conv X w -> Y kernel=3 group=4 pad=1",
       "X f 1,4,6,7; w f 4,1,3,3",
       {"X f 1,5,6,7", "w f 4,2,3,3", "w f 4,1,3,5"}},
      {"ConvFusion X w b S -> Y kernel=2 sum=1 activation=Relu",
       "X f 1,2,4,5; w f 3,2,2,2; b f 3; S f 1,3,3,4",
       {"X f 1,3,4,5", "X f 1,2,5,5", "S f 1,3,4,3", "S f 36", "b f 4", "w f 4,2,2,2"}},
      {"ConvTranspose X w b -> Y kernel=2 stride=2",
       "X f 1,2,3,4; w f 2,3,2,2; b f 3",
       {"X f 1,3,3,4", "X f 1,2,12", "w f 3,3,2,2", "w f 2,3,2,3", "b f 2", "b f 1,3",
        "w f 2,4,2,2", "X d 1,2,3,4", "w d 2,3,2,2", "b d 3"}},
      {"ConvTranspose X w -> Y kernel=3 pad=2 order=NHWC",
       "X f 1,3,3,2; w f 2,3,3,3",
       {"X f 1,1,3,2", "X f 1,3,3,3", "w f 2,3,2,3"}},
      {"ConvGradient X w G -> D E F kernel=2",
       "X f 1,2,3,4; w f 3,2,2,2; G f 1,3,2,3",
       {"X f 1,3,3,4", "X f 1,2,4,4", "w f 3,2,2,3", "w f 4,2,2,2", "G f 1,3,3,2", "G f 18",
        "G d 1,3,2,3"}},
      {"ConvTransposeGradient X w G -> D E F kernel=2",
       "X f 1,2,3,4; w f 2,3,2,2; G f 1,3,4,5",
       {"X f 1,3,3,4", "X f 1,2,4,4", "w f 2,4,2,2", "G f 1,3,5,4", "G f 60"}},
      {"ConvRelu X w b -> Y kernel=3",
       "X f 1,2,4,5; w f 3,2,3,3; b f 3",
       {"X f 1,3,4,5", "X f 1,2,2,5", "w f 3,2,3,2", "b f 2", "X d 1,2,4,5", "w d 3,2,3,3"}},
      {"LC X w b -> Y kernel=2",
       "X f 1,2,3,4; w f 2,3,5,2,2,2; b f 2,3,5",
       {"X f 1,3,3,4", "X f 1,2,4,4", "X f 1,2,12", "w f 2,3,5,2,2,3", "w f 3,2,5,2,2,2",
        "b f 2,3,4", "b f 30", "X d 1,2,3,4", "w d 2,3,5,2,2,2", "b d 2,3,5"}},
      {"LCGradient X w G -> D E F kernel=2",
       "X f 1,2,3,4; w f 2,3,5,2,2,2; G f 1,5,2,3",
       {"X f 1,3,3,4", "X f 2,2,3,4", "w f 2,3,4,2,2,2", "G f 1,5,3,2", "G f 30", "G d 1,5,2,3"}},
  };
}

std::vector<RejectedAgainRow> PoolRows() {
  return {
      {"MaxPool X -> Y kernel=3", "X f 1,2,4,5", {"X f 1,2,2,5", "X f 1,2,4,0", "X d 1,2,4,5"}},
      {"AveragePool X -> Y kernel=3 order=NHWC", "X f 1,4,5,2", {"X f 1,4,2,2", "X d 1,4,5,2"}},
      {"LpPool X -> Y kernels=2,3", "X f 1,2,4,5", {"X f 1,2,20", "X f 1,2,4,2", "X f 1,2,1,3"}},
      {"MaxPoolGradient X Y G -> D kernel=2",
       "X f 1,2,3,4; Y f 1,2,2,3; G f 1,2,2,3",
       {"X f 1,2,1,4", "X f 1,2,4,4", "Y f 1,2,3,2", "G f 1,2,3,2", "G f 12"}},
      {"AveragePoolGradient X Y G -> D kernel=2",
       "X f 1,2,3,4; Y f 1,2,2,3; G f 1,2,2,3",
       {"X f 1,2,1,4", "X f 2,2,3,4", "G f 1,2,3,2", "G f 12"}},
      {"MaxPoolWithIndex X -> Y I kernel=3", "X f 1,2,4,5", {"X f 1,2,2,5", "X i 1,2,4,5"}},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2",
       "X f 1,1,2,3; G f 1,1,1,2; I i 1,1,1,2 = 0,4",
       {"X f 1,1,1,3", "X f 1,1,3,3", "G f 2", "I i 2 = 0,4", "I i 1,1,1,2 = 0,6",
        "I i 1,1,1,2 = -2,0"}},
      {"MaxUnpoolWithIndex X I -> Y height=2 width=3",
       "X f 1,2,1,2; I i 1,2,1,2 = 5,0",
       {"X f 1,2,2", "X f 1,1,1,2", "I i 1,2,1,2 = 0,6", "I i 1,2,1,2 = 0,-2"}},
  };
}

std::vector<RejectedAgainRow> MatrixRows() {
  return {
      {"FC X W b -> Y",
       "X f 2,3; W f 5,3; b f 5",
       {"X f 2,4", "W f 5,2", "W f 4,3", "b f 4", "b f 5,1", "X d 2,3", "W d 5,3", "b d 5"}},
      {"FCTransposed X W b -> Y axis=2",
       "X f 1,2,3; W f 3,5; b f 5",
       {"X f 1,3,2", "X f 6", "W f 5,3", "b f 3"}},
      {"FCFusion X W b -> Y activation=Relu",
       "X f 2,3; W f 5,3; b f 5",
       {"X f 2,4", "W f 5,2", "W f 4,3", "b f 4"}},
      {"FCGradient X W G -> dW db dX",
       "X f 2,3; W f 5,3; G f 2,5",
       {"X f 2,4", "X f 3,3", "W f 4,3", "G f 2,4", "G d 2,5"}},
      {"MatMul A B L -> Y",
       "A f 2,3; B f 3,4; L f 4,2",
       {"A f 2,2", "A f 3,3", "B f 4,4", "L f 9", "A d 2,3", "B d 3,4"}},
      {"MatMul A B -> Y trans_a=1 axis_b=2",
       "A f 3,2; B f 1,3,4",
       {"A f 2,3", "B f 1,4,3", "B f 12"}},
      {"BatchMatMul A B -> Y",
       "A f 2,3,4; B f 2,4,5",
       {"A f 3,3,4", "A f 2,4,3", "B f 4,5", "B f 2,5,4", "A d 2,3,4"}},
      {"BatchMatMul A B -> Y broadcast=1", "A f 2,1,3,4; B f 3,4,5", {"A f 2,2,3,4", "B f 3,3,5"}},
      {"RowMul X w -> Y", "X f 3,2; w f 3", {"X f 2,3", "w f 2", "X d 3,2"}},
      {"MultiHeadAttention Q K V M -> Y heads=2",
       "Q f 2,3,4; K f 2,5,4; V f 2,5,6; M f 3,5",
       {"Q f 2,3,6", "Q f 3,3,4", "K f 2,4,4", "V f 2,4,6", "V f 2,5,5", "M f 3,4", "M f 4,5",
        "Q d 2,3,4"}},
  };
}

std::vector<RejectedAgainRow> UnitRowsOfTable() {
  return {
      {"InferenceLSTM X h c W R -> Y H C has_biases=0",
       "X f 3,2,4; h f 1,2,5; c f 1,2,5; W f 20,4; R f 20,5",
       {"X f 3,3,4", "X f 3,2,5", "h f 1,2,4", "c f 1,3,5", "W f 20,3", "R f 20,4", "R d 20,5"}},
      {"LSTMUnit h c g l t -> H C",
       "h f 1,2,3; c f 1,2,3; g f 1,2,12; l i 2 = 1,2; t i 1 = 1",
       {"h f 1,1,3", "c f 2,2,3", "c f 2,3", "g f 1,2,11", "g f 1,1,12", "l i 3 = 1", "l l 2 = 1",
        "t i 0", "t l 1 = 1"}},
      {"GRUUnit h g t -> H sequence_lengths=0",
       "h f 1,2,3; g f 1,2,9; t i 1 = 0",
       {"h f 2,2,3", "h f 2,3", "g f 1,2,8", "g f 1,1,9", "t i 0"}},
  };
}

std::unique_ptr<OperatorBase> OperatorOf(const RejectedAgainRow& row, Workspace* ws) {
  OperatorDef def = OperatorsOf({row.op, ""}).back();
  def.mutable_device_option()->set_device_type(PROTO_CPU);
  return CreateOperator(def, ws);
}

void FeedText(const char* inputs, Workspace* ws) { FeedInputs({"", inputs}, ws); }

// The outputs of the row's operator, element by element.
std::vector<std::vector<char>> OutputBytes(const RejectedAgainRow& row, const Workspace& ws) {
  std::vector<std::vector<char>> bytes;
  const OperatorDef def = OperatorsOf({row.op, ""}).back();
  for (const std::string& name : def.output()) {
    const Tensor& tensor = ws.GetBlob(name)->Get<Tensor>();
    const char* const data = static_cast<const char*>(tensor.raw_data());
    bytes.emplace_back(data, data + tensor.nbytes());
  }
  return bytes;
}

constexpr char kNothingThrown[] = "(nothing was thrown)";

void ExpectRejectedAgain(const RejectedAgainRow& row, const char* bad) {
  SCOPED_TRACE(MakeString(row.op, " with ", bad));
  Workspace fresh;
  FeedText(row.good, &fresh);
  FeedText(bad, &fresh);
  const std::unique_ptr<OperatorBase> lone = OperatorOf(row, &fresh);
  const std::string message = MessageOf([&] { lone->Run(); });
  ASSERT_NE(message, kNothingThrown);
  EXPECT_EQ(MessageOf([&] { lone->Run(); }), message) << "in a second run";

  Workspace ws;
  FeedText(row.good, &ws);
  const std::unique_ptr<OperatorBase> op = OperatorOf(row, &ws);
  ASSERT_TRUE(op->Run());
  const std::vector<std::vector<char>> want = OutputBytes(row, ws);
  FeedText(bad, &ws);
  EXPECT_EQ(MessageOf([&] { op->Run(); }), message) << "after a run on other inputs";
  EXPECT_EQ(MessageOf([&] { op->Run(); }), message) << "in a third run";
  FeedText(row.good, &ws);
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(OutputBytes(row, ws), want) << "after the rejected runs";

  FeedText(row.good, &fresh);
  ASSERT_TRUE(lone->Run());
  EXPECT_EQ(OutputBytes(row, fresh), want) << "in the first run that was not rejected";
}

void ExpectAllRejectedAgain(const std::vector<RejectedAgainRow>& rows) {
  for (const RejectedAgainRow& row : rows) {
    for (const char* const bad : row.bad) ExpectRejectedAgain(row, bad);
  }
}

TEST(RejectedAgainTest, ConvolutionsRejectAnInputInEveryRun) { ExpectAllRejectedAgain(ConvRows()); }
TEST(RejectedAgainTest, PoolsRejectAnInputInEveryRun) { ExpectAllRejectedAgain(PoolRows()); }
TEST(RejectedAgainTest, ProductsRejectAnInputInEveryRun) { ExpectAllRejectedAgain(MatrixRows()); }
TEST(RejectedAgainTest, RecurrentUnitsRejectAnInputInEveryRun) {
  ExpectAllRejectedAgain(UnitRowsOfTable());
}

}  // namespace
}  // namespace caffe2rt::test::rejected_again_test
