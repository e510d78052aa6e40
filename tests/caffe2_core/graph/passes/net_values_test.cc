#include "caffe2_core/graph/passes/net_values.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_values_test {
namespace {

OPERATOR_SCHEMA(NetValuesTestUser).NumInputs(1).NumOutputs(1);
OPERATOR_SCHEMA(NetValuesTestWriter).NumInputs(2).NumOutputs(1).ModifiesInputs({1});

constexpr uint32_t kNone = NetValues::kNone;

class NoConstants final : public NetConstants {
 public:
  const Tensor* Find(std::string_view) const override { return nullptr; }
  std::string Add(const std::string& name, Tensor) override { return name; }
  std::vector<Tensor> Evaluate(const OperatorDef&) override { return {}; }
};

class NetValuesTest : public testing::Test {
 protected:
  NetValues Values(const std::string& text) {
    net_ = test::ParseNet(text);
    PassContext context{.constants = constants_};
    context.kept = kept_;
    return NetValues(net_, context);
  }
  NoConstants constants_;
  std::set<std::string> kept_ = {"z"};
  NetDef net_;
};

TEST_F(NetValuesTest, DistinguishesTheValuesOfABlob) {
  const NetValues values = Values(R"(
    op { type: "Conv" input: "x" input: "w" output: "y" }
    op { type: "Relu" input: "y" output: "y" }
    op { type: "Sum" input: "y" input: "x" output: "z" })");
  EXPECT_EQ(values.input(1, 0), values.output(0, 0));
  EXPECT_NE(values.input(2, 0), values.output(0, 0));
  EXPECT_EQ(values.input(2, 1), values.input(0, 0));
  EXPECT_EQ(values.SoleReader(values.output(0, 0)), 1u);
  EXPECT_EQ(values.SoleReader(values.output(1, 0)), 2u);
  EXPECT_EQ(values.SoleReader(values.output(2, 0)), kNone);
  EXPECT_EQ(values.writer(values.input(0, 0)), kNone);
  EXPECT_EQ(values.readers(values.input(0, 0)).size(), 2u);
}

TEST_F(NetValuesTest, HidesOnlyTheLastValueOfAKeptBlob) {
  kept_ = {"y"};
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Tanh" input: "y" output: "y" }
    op { type: "Relu" input: "y" output: "t" })");
  EXPECT_EQ(values.SoleReader(values.output(0, 0)), 1u);
  EXPECT_EQ(values.SoleReader(values.output(1, 0)), kNone);
  EXPECT_TRUE(values.is_only_kept(values.output(1, 0)));
}

TEST_F(NetValuesTest, KeepsWhatTheNextRunReads) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "state" output: "t" }
    op { type: "Tanh" input: "t" output: "state" })");
  EXPECT_TRUE(values.is_observable(values.output(1, 0)));
}

TEST_F(NetValuesTest, CountsControlInputsAndNestedNets) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Relu" input: "x" output: "b" }
    op { type: "Relu" input: "a" output: "c" control_input: "b" }
    op { type: "Relu" input: "x" output: "d" }
    op { type: "If" input: "c" output: "z"
         arg { name: "then_net" n { op { type: "Relu" input: "d" output: "z" } } } })");
  EXPECT_EQ(values.SoleReader(values.output(0, 0)), 2u);
  EXPECT_TRUE(values.is_observable(values.output(1, 0)));
  EXPECT_TRUE(values.is_observable(values.output(3, 0)));
  EXPECT_FALSE(values.is_plain(2));
  EXPECT_FALSE(values.is_plain(4));
}

TEST_F(NetValuesTest, InputsThatAreWrittenAreNamed) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Relu" input: "x" output: "b" }
    op { type: "NetValuesTestWriter" input: "a" input: "b" output: "z" })");
  const NetValues::Value a = values.output(0, 0), b = values.output(1, 0);
  EXPECT_FALSE(values.is_observable(a));
  EXPECT_TRUE(values.is_observable(b));
  EXPECT_FALSE(values.IsWrittenBetween(values.blob(a), 1, 3));
  EXPECT_TRUE(values.IsWrittenBetween(values.blob(b), 1, 3));
}

// The arguments of such operators may name their inputs and outputs, too.
TEST_F(NetValuesTest, NestedNetsNameTheInputsAndOutputsOfTheirOperator) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "If" input: "a" output: "b"
         arg { name: "then_net" n { op { type: "Relu" input: "c" output: "d" } } } }
    op { type: "Relu" input: "b" output: "z" })");
  EXPECT_TRUE(values.is_observable(values.output(0, 0)));
  EXPECT_TRUE(values.is_observable(values.output(1, 0)));
}

TEST_F(NetValuesTest, CountsSharedMemory) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Alias" input: "a" output: "b" }
    op { type: "Tanh" input: "b" output: "b" }
    op { type: "Relu" input: "a" output: "z" })");
  EXPECT_TRUE(values.is_only_shared(values.output(0, 0)));
  EXPECT_TRUE(values.IsWrittenBetween(values.blob(values.output(0, 0)), 0, 3));
  EXPECT_FALSE(values.IsWrittenBetween(values.blob(values.output(0, 0)), 2, 3));
}

TEST_F(NetValuesTest, AcceptsOnlyOperatorsThatAreUnderstood) {
  const NetValues values = Values(R"(
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Relu" input: "x" output: "b" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "c" engine: "FAST" }
    op { type: "NoSuchType" input: "x" output: "d" }
    op { type: "Relu" input: "x" output: "e" output: "f" }
    op { type: "Dropout" input: "x" output: "g" output: "m" arg { name: "is_test" i: 0 } }
    op { type: "Dropout" input: "x" output: "h" arg { name: "is_test" i: 1 } }
    op { type: "Relu" input: "x" output: "i" arg { name: "a" i: 1 } arg { name: "a" i: 2 } }
    op { type: "Split" input: "x" output: "j" output: "j" })");
  std::vector<bool> plain;
  for (size_t op = 0; op < values.num_operators(); ++op) plain.push_back(values.is_plain(op));
  EXPECT_THAT(plain,
              testing::ElementsAre(true, false, false, false, false, false, true, false, false));
}

// Their schemas may omit effects.
TEST_F(NetValuesTest, OperatorsOfUsersAndThoseThatUseOtherBlobsAreNotPlain) {
  const NetValues values = Values(R"(
    op { type: "NetValuesTestUser" input: "x" output: "a" }
    op { type: "CreateDB" output: "d" arg { name: "db_type" s: "minidb" } arg { name: "db" s: "f" } }
    op { type: "RecurrentNetworkBlobFetcher" input: "x" output: "b" }
    op { type: "Print" input: "x" arg { name: "to_file" i: 1 } })");
  for (size_t op = 0; op < values.num_operators(); ++op) EXPECT_FALSE(values.is_plain(op)) << op;
}

}  // namespace
}  // namespace caffe2rt::net_values_test
