#include "tests/support/operator_test.h"

namespace caffe2rt::test::keys_test {
namespace {

const char* const kFind = R"(type: "FindDuplicateElements" input: "X" output: "Y")";

TEST(FindDuplicateElementsTest, ListsRepeatedElements) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {5}, {7, 8, 7, 7, 9});
  RunOp(&ws, kFind);
  ExpectTensor<int64_t>(ws, "Y", {2}, {2, 3});
  ExpectShapeInferred(&ws, kFind, true);
  Feed<std::string>(&ws, "X", {3}, {"a", "b", "a"});
  RunOp(&ws, kFind);
  ExpectTensor<int64_t>(ws, "Y", {1}, {2});
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, kFind);
  ExpectTensor<int64_t>(ws, "Y", {0}, {});
}

TEST(FindDuplicateElementsTest, RejectsOtherRanksAndTypes) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {1, 2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kFind); }, "rank of input 0 (data) of shape [1, 2]");
  Feed<bool>(&ws, "X", {2}, {true, true});
  ExpectThrows([&] { RunOp(&ws, kFind); }, "input 0 (data) has elements of type bool");
}

TEST(KeySplitTest, ListsThePositionsOfEachKey) {
  const char* const split =
      R"(type: "KeySplit" input: "X" output: "A" output: "B" arg { name: "categorical_limit" i: 2 })";
  Workspace ws;
  Feed<int64_t>(&ws, "X", {4}, {1, 0, 1, 1});
  RunOp(&ws, split);
  ExpectTensor<int32_t>(ws, "A", {1}, {1});
  ExpectTensor<int32_t>(ws, "B", {3}, {0, 2, 3});
  Feed<int64_t>(&ws, "X", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, split); }, "element 0 of input 0 (keys) is 2");
  Feed<int64_t>(&ws, "X", {1}, {-1});
  ExpectThrows([&] { RunOp(&ws, split); }, "element 0 of input 0 (keys) is -1");
  ExpectThrows([&] { RunOp(&ws, R"(type: "KeySplit" input: "X" output: "A")"); },
               "outputs, want one for each key");
}

TEST(IndexHashTest, HashesAsCaffe2) {
  // Recorded with Caffe2.
  Workspace ws;
  Feed<int64_t>(&ws, "X", {4}, {1, 2, 3, -5});
  RunOp(&ws, R"(type: "IndexHash" input: "X" output: "Y" arg { name: "seed" i: 7 }
                arg { name: "modulo" i: 100 })");
  ExpectTensor<int64_t>(ws, "Y", {4}, {30, 59, 88, 73});
  Feed<int32_t>(&ws, "X", {3}, {1, 2, 3});
  RunOp(&ws, R"(type: "IndexHash" input: "X" output: "X" arg { name: "modulo" i: 10 })");
  ExpectTensor<int32_t>(ws, "X", {3}, {9, 8, 7});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "IndexHash" input: "X" output: "Y" arg { name: "modulo" i: 0 })");
      },
      "want above 0");
}

}  // namespace
}  // namespace caffe2rt::test::keys_test
