#include "tests/support/operator_test.h"

namespace caffe2rt::test::map_test {
namespace {

const char* const kMake = R"(type: "KeyValueToMap" input: "K" input: "V" output: "M")";
const char* const kList = R"(type: "MapToKeyValue" input: "M" output: "K2" output: "V2")";

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
