#include "caffe2_core/inspect/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::calibration_test {
namespace {

// Of two convolutions, the second on |x|.
constexpr char kNet[] = R"(
name: "n"
op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } }
op { type: "Abs" input: "x" output: "a" }
op { type: "Conv" input: "a" input: "w" output: "z" arg { name: "kernel" i: 1 } })";

class CalibrationTest : public testing::Test {
 protected:
  CalibrationTest() {
    Feed<float>(&ws_, "w", {1, 1, 1, 1}, {2});
    Feed<float>(&ws_, "x", {1, 1, 1, 1}, {0});
    net_ = ws_.CreateNet(def_);
  }
  void Run(float x) {
    Feed<float>(&ws_, "x", {1, 1, 1, 1}, {x});
    net_->Run();
  }
  static float ArgumentOf(const OperatorDef& op, const char* name) {
    const Argument* const argument = GetArgumentPtr(op, name);
    return argument == nullptr ? std::numeric_limits<float>::infinity() : argument->f();
  }

  Workspace ws_;
  const NetDef written_ = ParseNet(kNet);
  const NetDef def_ = NetToWatch(written_);
  NetBase* net_ = nullptr;
};

TEST_F(CalibrationTest, StatesTheRangeOverAllRunsWithZero) {
  NetDef net = written_;
  {
    Calibration calibration(def_, net_);
    for (const float x : {-3.0f, 5.0f, 1.0f}) Run(x);
    calibration.StateRanges(&net);
  }
  EXPECT_EQ(ArgumentOf(net.op(0), "input_min"), -3);
  EXPECT_EQ(ArgumentOf(net.op(0), "input_max"), 5);
  EXPECT_EQ(net.op(1).arg_size(), 0);
  EXPECT_EQ(ArgumentOf(net.op(2), "input_min"), 0);
  EXPECT_EQ(ArgumentOf(net.op(2), "input_max"), 5);
  Run(100);  // the observation has ended
  EXPECT_EQ(ArgumentOf(net.op(0), "input_max"), 5);
}

// As copies between devices that a net was given: they stand for no operator of the user.
TEST_F(CalibrationTest, LeavesOutOperatorsThatTheUserDidNotWrite) {
  NetDef def = written_;
  def.set_name("unmarked");
  NetBase* const net = ws_.CreateNet(def);
  Calibration calibration(def_, net);
  net->Run();
  EXPECT_TRUE(calibration.ranges().empty());
}

TEST_F(CalibrationTest, WidensRangesByTheHeadroom) {
  NetDef net = written_;
  Calibration calibration(def_, net_);
  for (const float x : {-4.0f, 8.0f}) Run(x);
  calibration.StateRanges(&net, 0.25f);
  EXPECT_EQ(ArgumentOf(net.op(0), "input_min"), -5);
  EXPECT_EQ(ArgumentOf(net.op(0), "input_max"), 10);
  EXPECT_EQ(ArgumentOf(net.op(2), "input_min"), 0);
  EXPECT_EQ(ArgumentOf(net.op(2), "input_max"), 10);
  EXPECT_EQ(calibration.ranges(0.25f)[0].seen_max, 8);
}

TEST_F(CalibrationTest, WantsLessHeadroomForMoreExamples) {
  EXPECT_EQ(HeadroomFor(1), 0.25f);
  EXPECT_EQ(HeadroomFor(4), 0.25f);
  EXPECT_EQ(HeadroomFor(64), 0.0625f);
  EXPECT_EQ(HeadroomFor(10000), 0.005f);
}

TEST_F(CalibrationTest, StatesNoRangeOfInputsThatAreAlwaysZero) {
  NetDef net = written_;
  Calibration calibration(def_, net_);
  Run(0);
  EXPECT_EQ(calibration.ranges().size(), 2u);
  calibration.StateRanges(&net);
  EXPECT_EQ(net.SerializeAsString(), written_.SerializeAsString());
}

TEST_F(CalibrationTest, LeavesOutOperatorsThatHaveSeenNothing) {
  NetDef net = written_;
  Calibration calibration(def_, net_);
  EXPECT_TRUE(calibration.ranges().empty());
  Feed<float>(&ws_, "x", {0, 1, 1, 1}, {});
  net_->Run();
  EXPECT_TRUE(calibration.ranges(0.5f).empty());
  calibration.StateRanges(&net, 0.5f);
  EXPECT_EQ(net.SerializeAsString(), written_.SerializeAsString());
  // The second convolution does not run.
  ws_.GetBlob("w")->GetMutableTensor(CPU)->Resize(1, 2, 1, 1);
  (void)ws_.GetBlob("w")->GetMutableTensor(CPU)->mutable_data<float>();
  Feed<float>(&ws_, "x", {1, 1, 1, 1}, {-4});
  EXPECT_THROW(net_->Run(), EnforceNotMet);
  const std::map<int, InputRange> ranges = calibration.ranges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges.at(0).min, -4);
  EXPECT_EQ(ranges.at(0).elements, 1);
}

// A bound that leaves out an outlier is no end of what was seen, so that other examples are thought of.
TEST_F(CalibrationTest, OnlyEndsOfWhatWasSeenGetHeadroom) {
  std::vector<float> x(1000001, 0.9f);
  x[17] = 1.8f;
  Feed<float>(&ws_, "x", {1, 1, 1, 1000001}, x);
  Calibration calibration(def_, net_);
  net_->Run();
  for (const int position : {0, 2}) {
    const InputRange range = calibration.ranges(0.25f).at(position);
    EXPECT_EQ(range.min, 0);
    EXPECT_EQ(range.max, 0.9f);
    EXPECT_EQ(range.seen_min, 0);
    EXPECT_EQ(range.seen_max, 1.8f);
    EXPECT_EQ(range.elements, 1000001);
    EXPECT_EQ(range.not_finite, 0);
  }
  Feed<float>(&ws_, "x", {1, 1, 1, 3}, {-2, INFINITY, NAN});
  net_->Run();
  const InputRange wider = calibration.ranges(0.25f).at(0);
  EXPECT_EQ(wider.seen_min, -2);
  EXPECT_EQ(wider.elements, 1000004);
  EXPECT_EQ(wider.not_finite, 2);
}

TEST_F(CalibrationTest, RejectsElementsThatAreNotFinite) {
  for (const float bad : {NAN, INFINITY}) {
    NetDef net = written_;
    Calibration calibration(def_, net_);
    Run(1);
    Run(bad);
    ExpectThrows([&] { calibration.StateRanges(&net); },
                 "input 0 (\"x\") of operator 0 (Conv) that are not finite");
  }
}

}  // namespace
}  // namespace caffe2rt::test::calibration_test
