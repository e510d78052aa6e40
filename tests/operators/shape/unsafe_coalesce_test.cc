#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::unsafe_coalesce_test {
namespace {

TEST(UnsafeCoalesceTest, MovesTensorsIntoOneMemory) {
  ExpectResults({
      {"UnsafeCoalesce X Z -> X Z S", "X f 2,1 = 1,2; Z f - = 3",
       "X f 2,1 = 1,2; Z f - = 3; S f 3 = 1,2,3"},
      {"UnsafeCoalesce X Z -> Y W S", "X f 0,2; Z f 2 = 3,4", "Y f 0,2; W f 2 = 3,4; S f 2 = 3,4"},
      {"UnsafeCoalesce X -> X S", "X f 2,0", "X f 2,0; S f 0"},
  });
  ExpectInferred(
      {{"UnsafeCoalesce X Z -> Y W S", "X f 2,1; Z f 3", "float [2, 1]; float [3]; float [5]"},
       {"UnsafeCoalesce X Z -> Y W S", "X f 2,1; Z f ?", "float [2, 1]; ? ?; float ?"}});
  ExpectRejected({{"UnsafeCoalesce X Z -> X Z S", "X f 1; Z d 1",
                   "the tensor holds elements of type double, want float"}});
}

TEST(UnsafeCoalesceTest, SharesWhatIsWritten) {
  Workspace ws;
  Feed<float>(&ws, "a", {2}, {1, 2});
  Feed<float>(&ws, "b", {1}, {3});
  const char* const coalesce =
      R"(type: "UnsafeCoalesce" input: "a" input: "b" output: "a" output: "b" output: "all")";
  // A second run changes nothing.
  for (int run = 0; run < 2; ++run) {
    RunOp(&ws, coalesce);
    RunOp(&ws, R"(type: "Scale" input: "all" output: "all" arg { name: "scale" f: 2 })");
  }
  ExpectTensor<float>(ws, "a", {2}, {4, 8});
  ExpectTensor<float>(ws, "b", {1}, {12});
  RunOp(&ws, R"(type: "Scale" input: "b" output: "b" arg { name: "scale" f: 0.5 })");
  ExpectTensor<float>(ws, "all", {3}, {4, 8, 6});
  // The memory outlives the tensor of all.
  ws.RemoveBlob("all");
  ExpectTensor<float>(ws, "a", {2}, {4, 8});
  // A larger input moves again.
  Feed<float>(&ws, "a", {3}, {5, 6, 7});
  RunOp(&ws, coalesce);
  ExpectTensor<float>(ws, "all", {4}, {5, 6, 7, 6});
}

}  // namespace
}  // namespace caffe2rt::test::unsafe_coalesce_test
