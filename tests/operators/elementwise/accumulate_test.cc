#include <limits>
#include <string>

#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::accumulate_test {
namespace {

TEST(AccumulateTest, AddsToTheDecayedOutput) {
  ExpectResults({
      {"Accumulate X -> Y", "X f 2 = 1,2; Y f 2 = 10,20", "Y f 2 = 11,22"},
      {"Accumulate X -> Y gamma=0.25", "X f 2 = 1,2; Y f 2,1 = 8,-4", "Y f 2 = 3,1"},
      {"Accumulate X -> Y gamma=0.5", "X f - = 3; Y f - = 4", "Y f - = 5"},
      // The output has another type, or another number of elements.
      {"Accumulate X -> Y", "X f 2 = 1,2; Y d 2 = 10,20", "Y f 2 = 1,2"},
      {"Accumulate X -> Y", "X f 2 = 1,2; Y f 3 = 10,20,30", "Y f 2 = 1,2"},
      {"Accumulate X -> Y", "X f 2 = 1,2", "Y f 2 = 1,2"},
      {"Accumulate X -> Y", "X f 0,2", "Y f 0,2"},
  });
}

TEST(AccumulateTest, KeepsItsOutputBetweenRuns) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, -1});
  NetBase* const net =
      ws.CreateNet(ParseNet(R"(name: "n" op { type: "Accumulate" input: "X" output: "Y"
                                 arg { name: "gamma" f: 0.5 } })"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2}, {1.75f, -1.75f});
  EXPECT_TRUE(MemoryTraitsOf("Accumulate").keeps_memory);
}

// Recorded from Caffe2.
TEST(AccumulateTest, DropsInfinitiesForAGammaOfZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<float>(&ws, "Y", {2}, {10, std::numeric_limits<float>::infinity()});
  const std::string op = R"(type: "Accumulate" input: "X" output: "Y")";
  RunOp(&ws, op + R"( arg { name: "gamma" f: 0 })");
  ExpectTensor<float>(ws, "Y", {2}, {1, 2});
  ExpectThrows([&] { DescribeGradient(op); },
               "One should not call gradient for operator Accumulate.");
}

TEST(AccumulateTest, RejectsOtherTypes) {
  ExpectRejected(
      {{"Accumulate X -> Y", "X d 1", "the tensor holds elements of type double, want float"}});
  ExpectInferred({{"Accumulate X -> Y", "X f 3,2", "float [3, 2]"}});
}

}  // namespace
}  // namespace caffe2rt::test::accumulate_test
