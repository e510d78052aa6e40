// Integers that an operator reads do not change while it writes its outputs.
#include "caffe2_core/runtime/output_memory.h"

#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::output_memory_test {
namespace {

constexpr float kHuge = 1e9f;  // as an id, its bits are far out of range
const char* const kSum = R"(type: "UnsortedSegmentSum" input: "X" input: "S" output: "Y")";

class OutputMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    Feed<float>(&ws_, "X", {4, 2}, {kHuge, kHuge, 1, 2, 3, 4, 5, 6});
    Feed<int32_t>(&ws_, "S", {4}, {0, 1, 0, 1});
  }
  void ExpectSums(const std::string& sums, const std::string& ids) {
    ExpectTensor<float>(ws_, sums, {2, 2}, {kHuge, kHuge, 6, 8}, 1e-6);
    ExpectTensor<int32_t>(ws_, ids, {4}, {0, 1, 0, 1});
  }
  const void* MemoryOf(const std::string& name) {
    return ws_.GetBlob(name)->Get<Tensor>().raw_data();
  }
  Workspace ws_;
};

TEST_F(OutputMemoryTest, OutputThatIsAnAliasOfIdsGetsOtherMemory) {
  ws_.RunOperatorOnce(ParseOp(R"(type: "Alias" input: "S" output: "Y")"));
  ASSERT_EQ(MemoryOf("Y"), MemoryOf("S"));
  ws_.RunOperatorOnce(ParseOp(kSum));
  ExpectSums("Y", "S");
}

TEST_F(OutputMemoryTest, OutputWhoseAliasIsReadGetsOtherMemory) {
  ws_.RunOperatorOnce(ParseOp(R"(type: "Alias" input: "S" output: "T")"));
  ws_.RunOperatorOnce(ParseOp(R"(type: "UnsortedSegmentSum" input: "X" input: "T" output: "S")"));
  ExpectSums("S", "T");
}

TEST_F(OutputMemoryTest, OutputThatIsLinkedToTheSameRowsGetsOtherMemory) {
  Feed<int32_t>(&ws_, "t", {1}, {0});
  for (const char* const linked : {"Y", "T"}) {
    ws_.RunOperatorOnce(
        ParseOp(std::string("type: 'rnn_internal_apply_link' input: 't' input: 'S' output: '") +
                linked + "' output: 'S' arg { name: 'offset' i: 0 } arg { name: 'window' i: 4 }"));
  }
  ASSERT_EQ(MemoryOf("Y"), MemoryOf("T"));
  ws_.RunOperatorOnce(ParseOp(R"(type: "UnsortedSegmentSum" input: "X" input: "T" output: "Y")"));
  ExpectSums("Y", "T");
}

// Integers are written over integers: no change of the type gives the output other memory.
TEST_F(OutputMemoryTest, IdsOfBothTypesAreKept) {
  const auto expect_kept = [this](auto id) {
    using Id = decltype(id);
    Feed<Id>(&ws_, "X", {4}, {10, 11, 12, 13});
    Feed<Id>(&ws_, "S", {4}, {3, 0, 2, 1});
    ws_.RunOperatorOnce(ParseOp(R"(type: "Alias" input: "S" output: "Y")"));
    ws_.RunOperatorOnce(ParseOp(R"(type: "Gather" input: "X" input: "S" output: "Y")"));
    ExpectTensor<Id>(ws_, "Y", {4}, {13, 10, 12, 11});
    ExpectTensor<Id>(ws_, "S", {4}, {3, 0, 2, 1});
  };
  expect_kept(int32_t{});
  expect_kept(int64_t{});
}

TEST_F(OutputMemoryTest, AppliesToOperatorsOfNets) {
  for (const char* const type : {"simple", "dag"}) {
    NetDef net;
    net.set_name(type);
    net.set_type(type);
    *net.add_op() = ParseOp(R"(type: "Alias" input: "S" output: "Y")");
    *net.add_op() = ParseOp(kSum);
    NetBase* const made = ws_.CreateNet(net);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(made->Run());
    ExpectSums("Y", "S");
  }
}

TEST_F(OutputMemoryTest, OtherOutputsKeepTheirMemory) {
  ws_.RunOperatorOnce(ParseOp(R"(type: "Alias" input: "X" output: "A")"));
  const void* const memory = MemoryOf("A");
  ws_.RunOperatorOnce(ParseOp(R"(type: "Relu" input: "X" output: "A")"));
  EXPECT_EQ(MemoryOf("A"), memory);
  // In place.
  ws_.RunOperatorOnce(ParseOp(R"(type: "Alias" input: "S" output: "T")"));
  Feed<int32_t>(&ws_, "B", {4}, {1, 1, 1, 1});
  ws_.RunOperatorOnce(ParseOp(R"(type: "Add" input: "S" input: "B" output: "S")"));
  ExpectTensor<int32_t>(ws_, "T", {4}, {1, 2, 1, 2});
}

}  // namespace
}  // namespace caffe2rt::test::output_memory_test
