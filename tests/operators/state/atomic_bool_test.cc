#include <atomic>
#include <memory>

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::atomic_bool_test {
namespace {

const char* const kCreate = R"(type: "CreateAtomicBool" output: "flag")";
const char* const kSet = R"(type: "ConditionalSetAtomicBool" input: "flag" input: "C")";
const char* const kCheck = R"(type: "CheckAtomicBool" input: "flag" output: "V")";

void ExpectFlag(Workspace* ws, bool value) {
  ExpectShapeInferred(ws, kCheck);
  ExpectTensor<bool>(*ws, "V", {1}, {value});
}

TEST(AtomicBoolTest, StaysTrueOnceTheConditionHolds) {
  Workspace ws;
  RunOp(&ws, kCreate);
  ExpectFlag(&ws, false);
  Feed<bool>(&ws, "C", {1}, {false});
  RunOp(&ws, kSet);
  ExpectFlag(&ws, false);
  Feed<bool>(&ws, "C", {2}, {true, false});
  RunOp(&ws, kSet);
  ExpectFlag(&ws, true);
  Feed<bool>(&ws, "C", {}, {false});
  RunOp(&ws, kSet);
  ExpectFlag(&ws, true);
  RunOp(&ws, kCreate);
  ExpectFlag(&ws, false);
}

TEST(AtomicBoolTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  RunOp(&ws, kCreate);
  Feed<bool>(&ws, "C", {1}, {true});
  NetBase* const net =
      ws.CreateNet(ParseNet(MakeString("name: 'n' op { ", kSet, " } op { ", kCheck, " }")));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<bool>(ws, "V", {1}, {true});
}

TEST(AtomicBoolTest, RejectsInvalidInputs) {
  Workspace ws;
  RunOp(&ws, kCreate);
  Feed<bool>(&ws, "C", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kSet); }, "elements of input 1 (condition)");
  Feed<int32_t>(&ws, "C", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kSet); }, "the tensor holds elements of type int32, want bool");
  ws.CreateBlob("flag")->GetMutable<std::unique_ptr<std::atomic<bool>>>()->reset();
  ExpectThrows([&] { RunOp(&ws, kCheck); }, "input 0 (atomic_bool) holds no flag");
  // Also where nothing is set.
  Feed<bool>(&ws, "C", {1}, {false});
  ExpectThrows([&] { RunOp(&ws, kSet); }, "input 0 (atomic_bool) holds no flag");
  Feed<bool>(&ws, "flag", {1}, {false});
  ExpectThrows([&] { RunOp(&ws, kSet); }, "holds Tensor");
}

}  // namespace
}  // namespace caffe2rt::test::atomic_bool_test
