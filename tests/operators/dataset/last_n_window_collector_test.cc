#include "tests/support/operator_test.h"

namespace caffe2rt::test::last_n_window_collector_test {
namespace {

const char* const kCollect = R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X"
                                output: "B" output: "N" arg { name: "num_to_collect" i: 4 })";

TEST(LastNWindowCollectorTest, FillsARing) {
  Workspace ws;
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<float>(&ws, "X", {3}, {1, 2, 3});
  RunOp(&ws, kCollect);
  ExpectTensor<float>(ws, "B", {3}, {1, 2, 3});
  ExpectTensor<int32_t>(ws, "N", {}, {3});
  RunOp(&ws, kCollect);
  ExpectTensor<float>(ws, "B", {4}, {2, 3, 3, 1});
  ExpectTensor<int32_t>(ws, "N", {}, {2});
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, kCollect);
  ExpectTensor<int32_t>(ws, "N", {}, {2});
}

TEST(LastNWindowCollectorTest, KeepsTheEndOfLongData) {
  Workspace ws;
  Feed<float>(&ws, "B", {1}, {9});
  Feed<int32_t>(&ws, "N", {}, {1});
  Feed<float>(&ws, "X", {6}, {1, 2, 3, 4, 5, 6});
  ExpectShapeInferred(&ws, kCollect);
  RunOp(&ws, kCollect);
  ExpectTensor<float>(ws, "B", {4}, {3, 4, 5, 6});
  ExpectTensor<int32_t>(ws, "N", {}, {0});
}

TEST(LastNWindowCollectorTest, CountsRowsUnderAMutex) {
  Workspace ws;
  ws.CreateBlob("B");
  Feed<int32_t>(&ws, "N", {}, {0});
  Feed<int64_t>(&ws, "V", {1}, {5});
  Feed<float>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, R"(type: "CreateMutex" output: "M")");
  RunOp(&ws, R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X" input: "M" input: "V"
                output: "B" output: "N" output: "V" arg { name: "num_to_collect" i: 4 })");
  ExpectTensor<int64_t>(ws, "V", {1}, {7});
  ExpectTensor<float>(ws, "B", {2}, {1, 2});
}

TEST(LastNWindowCollectorTest, RejectsRowsThatDoNotFit) {
  Workspace ws;
  Feed<float>(&ws, "B", {1, 2}, {1, 2});
  Feed<int32_t>(&ws, "N", {}, {1});
  Feed<float>(&ws, "X", {1, 3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, kCollect); }, "input 2 (DATA) has shape [1, 3]");
  Feed<int32_t>(&ws, "X", {1, 2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kCollect); }, "input 2 (DATA) has elements of type int32");
  Feed<float>(&ws, "X", {1, 2}, {1, 2});
  Feed<int32_t>(&ws, "N", {}, {7});
  ExpectThrows([&] { RunOp(&ws, kCollect); }, "input 1 (next cursor) is 7");
  // Two rows from there on would end behind the buffer, which then has three.
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "N", {}, {2});
  ExpectThrows(
      [&] { RunOp(&ws, kCollect); },
      "input 1 (next cursor) is 2, want at least 0 and less than 2, because the buffer has 1");
  Feed<int64_t>(&ws, "N", {}, {0});
  ExpectThrows([&] { RunOp(&ws, kCollect); }, "int64, want int32");
  Feed<int32_t>(&ws, "N", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, kCollect); }, "rank of input 1 (next cursor)");
}

}  // namespace
}  // namespace caffe2rt::test::last_n_window_collector_test
