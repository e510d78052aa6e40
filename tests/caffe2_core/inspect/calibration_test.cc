#include "caffe2_core/inspect/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
