// What random collections keep, and datasets without records, rows or dimensions.
#include <map>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/operators/dataset/dataset.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::dataset_chances_test {
namespace {

using SharedRecord = std::shared_ptr<std::vector<Tensor>>;
using SharedRecords = std::shared_ptr<std::vector<std::vector<Tensor>>>;

// How often a list of `most` tensors holds which ones of 0, 1, ..., runs - 1, in 300 collections.
std::map<std::vector<float>, int> Collections(int most, int runs) {
  std::map<std::vector<float>, int> counts;
  for (int seed = 1; seed <= 300; ++seed) {
    Workspace ws;
    ws.SetRandomSeed(static_cast<uint32_t>(seed));
    RunOp(&ws, "type: 'CreateTensorVector' output: 'v'");
    ws.CreateBlob("x");
    NetBase* const net = ws.CreateNet(ParseNet(
        MakeString("name: 'n' op { type: 'CollectTensor' input: 'v' input: 'x' output: 'v' ",
                   "arg { name: 'num_to_collect' i: ", most, " } }")));
    for (int i = 0; i < runs; ++i) {
      Feed<float>(&ws, "x", {1}, {static_cast<float>(i)});
      EXPECT_TRUE(net->Run());
    }
    RunOp(&ws, "type: 'ConcatTensorVector' input: 'v' output: 'y'");
    ++counts[Fetch<float>(ws, "y")];
  }
  return counts;
}

// Bounds are four standard deviations from the mean.
TEST(CollectTensorChancesTest, EachTensorIsKeptWithTheSameProbability) {
  std::map<std::vector<float>, int> counts = Collections(1, 2);
  EXPECT_EQ(counts.size(), 2u);
  for (const auto& [kept, count] : counts) EXPECT_NEAR(count, 150, 35) << kept[0];
  counts = Collections(2, 3);
  EXPECT_EQ(counts.size(), 3u);
  const std::vector<float> all[] = {{0, 1}, {2, 1}, {0, 2}};
  for (const std::vector<float>& kept : all)
    EXPECT_NEAR(counts[kept], 100, 33) << testing::PrintToString(kept);
  counts = Collections(1, 4);
  EXPECT_EQ(counts.size(), 4u);
  for (const auto& [kept, count] : counts) EXPECT_NEAR(count, 75, 30) << kept[0];
}

TEST(UnPackRecordsEdgesTest, RecordsMayBeAbsent) {
  Workspace ws;
  const std::string op = "type: 'UnPackRecords' input: 'p' output: 'x'" + FieldsArgument({"x"});
  Tensor* const packed = ws.CreateBlob("p")->GetMutableTensor(CPU);
  packed->Resize(1);
  packed->mutable_data<SharedRecords>();
  ExpectThrows([&] { ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op))); },
               "element 0 of input 0 (packed) has no records");
  packed->Resize(2);
  packed->mutable_data<SharedRecords>();
  ExpectThrows([&] { ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op))); },
               "elements of input 0 (packed)");
  packed->mutable_data<SharedRecord>();
  ExpectThrows([&] { ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op))); },
               "element 0 of input 0 (packed) has no record");
}

// A buffer without elements is replaced, whatever its type and shape are.
TEST(LastNWindowEdgesTest, AnEmptyBufferTakesTheShapeOfTheData) {
  const char* const op = R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
                            output: "B" output: "N" arg { name: "num_to_collect" i: 3 })";
  for (const bool rows : {true, false}) {
    Workspace ws;
    Feed<int64_t>(&ws, "B", rows ? std::vector<int64_t>{0} : std::vector<int64_t>{5, 0}, {});
    Feed<int32_t>(&ws, "N", {}, {0});
    Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(ws, "B", {2, 2}, {1, 2, 3, 4});
    ExpectTensor<int32_t>(ws, "N", {}, {2});
    Feed<float>(&ws, "X", {0, 2}, {});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(ws, "B", {2, 2}, {1, 2, 3, 4});
    // Two rows into a ring of three, of which two are written: the last place, then the first.
    Feed<float>(&ws, "X", {2, 2}, {5, 6, 7, 8});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(ws, "B", {3, 2}, {7, 8, 3, 4, 5, 6});
    ExpectTensor<int32_t>(ws, "N", {}, {1});
    // As many rows as the buffer has, from where it stands.
    Feed<float>(&ws, "X", {3, 2}, {1, 1, 2, 2, 3, 3});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(ws, "B", {3, 2}, {3, 3, 1, 1, 2, 2});
    ExpectTensor<int32_t>(ws, "N", {}, {1});
    Feed<float>(&ws, "X", {4, 2}, {1, 1, 2, 2, 3, 3, 4, 4});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(ws, "B", {3, 2}, {2, 2, 3, 3, 4, 4});
    ExpectTensor<int32_t>(ws, "N", {}, {0});
  }
}

}  // namespace
}  // namespace caffe2rt::test::dataset_chances_test
