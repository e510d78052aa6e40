#include <map>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::map_test {
namespace {

const char* const kMake = R"(type: "KeyValueToMap" input: "K" input: "V" output: "M")";
const char* const kList = R"(type: "MapToKeyValue" input: "M" output: "K2" output: "V2")";

void ExpectPairsOf(const Workspace& ws, const std::map<int32_t, int64_t>& want) {
  const std::vector<int32_t> keys = Fetch<int32_t>(ws, "K2");
  const std::vector<int64_t> values = Fetch<int64_t>(ws, "V2");
  ASSERT_EQ(keys.size(), want.size());
  ASSERT_EQ(values.size(), want.size());
  std::map<int32_t, int64_t> got;
  for (size_t i = 0; i < keys.size(); ++i) got[keys[i]] = values[i];
  EXPECT_EQ(got, want);
}

TEST(MapTest, KeepsTheLastValueOfAKey) {
  Workspace ws;
  Feed<int64_t>(&ws, "K", {2}, {7, 7});
  Feed<int32_t>(&ws, "V", {2}, {1, 2});
  RunOp(&ws, kMake);
  RunOp(&ws, kList);
  ExpectTensor<int64_t>(ws, "K2", {1}, {7});
  ExpectTensor<int32_t>(ws, "V2", {1}, {2});
}

TEST(MapTest, StartsEmpty) {
  Workspace ws;
  RunOp(&ws, R"(type: "CreateMap" output: "M" arg { name: "value_dtype" i: 10 })");
  RunOp(&ws, kList);
  ExpectTensor<int32_t>(ws, "K2", {0}, {});
  ExpectTensor<int64_t>(ws, "V2", {0}, {});
}

TEST(MapTest, IsEmptyAgainWhenItIsCreatedAgain) {
  Workspace ws;
  for (int run = 0; run < 2; ++run) {
    RunOp(&ws, R"(type: "CreateMap" output: "M" arg { name: "key_dtype" i: 10 })");
    RunOp(&ws, kList);
    ExpectTensor<int64_t>(ws, "K2", {0}, {});
    ExpectTensor<int32_t>(ws, "V2", {0}, {});
    Feed<int64_t>(&ws, "K", {1, 2}, {7, -8});
    Feed<int32_t>(&ws, "V", {2, 1}, {1, 2});
    RunOp(&ws, kMake);
    RunOp(&ws, kList);
    EXPECT_EQ(DimsOf(ws, "K2"), std::vector<int64_t>{2});
    EXPECT_EQ(DimsOf(ws, "V2"), std::vector<int64_t>{2});
  }
  // Of another type in the same blob.
  RunOp(&ws, R"(type: "CreateMap" output: "M" arg { name: "value_dtype" i: 10 })");
  RunOp(&ws, kList);
  ExpectTensor<int32_t>(ws, "K2", {0}, {});
  ExpectTensor<int64_t>(ws, "V2", {0}, {});
}

TEST(MapTest, HoldsThePairsOfItsLastRunAlone) {
  Workspace ws;
  Feed<int32_t>(&ws, "K", {3}, {1, 2, 1});
  Feed<int64_t>(&ws, "V", {3}, {10, 20, 30});
  NetBase* const net =
      ws.CreateNet(ParseNet(std::string("name: 'n' op { ") + kMake + " } op { " + kList + " }"));
  ASSERT_TRUE(net->Run());
  ExpectPairsOf(ws, {{1, 30}, {2, 20}});
  Feed<int32_t>(&ws, "K", {1}, {2});
  Feed<int64_t>(&ws, "V", {1}, {5});
  ASSERT_TRUE(net->Run());
  ExpectPairsOf(ws, {{2, 5}});
  Feed<int32_t>(&ws, "K", {0}, {});
  Feed<int64_t>(&ws, "V", {0}, {});
  ASSERT_TRUE(net->Run());
  ExpectPairsOf(ws, {});
}

TEST(MapTest, RejectsOtherTypes) {
  Workspace ws;
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "CreateMap" output: "M" arg { name: "key_dtype" i: 1 })"); },
      "argument \"key_dtype\" is 1, want 2 (INT32) or 10 (INT64)");
  Feed<int32_t>(&ws, "K", {2}, {1, 2});
  Feed<float>(&ws, "V", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kMake); }, "the values has elements of type float");
  Feed<int32_t>(&ws, "V", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kMake); }, "values, want one for each key");
  Feed<int32_t>(&ws, "M", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kList); }, "input 0 (map blob) holds");
}

}  // namespace
}  // namespace caffe2rt::test::map_test
