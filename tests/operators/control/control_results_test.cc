// What the operators of this folder make of a net that returns false, and of values at the edges of
// their types.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/control/net_gradient.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::control_results_test {
namespace {

// Returns false if "x" is above 1, and adds 1 to it otherwise. In a loop it sets the condition, "c", to
// whether "x" is below 2. The nets of the library never return false: failures of their operators are
// exceptions.
class FailsAboveOneNet final : public NetBase {
 public:
  FailsAboveOneNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws), blob_(ws->CreateBlob("x")) {
    if (def->name() == "loop_net" || def->name() == "cond_net") condition_ = ws->GetBlob("c");
  }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override {
    float& x = *blob_->GetMutableTensor(CPU)->mutable_data<float>();
    if (x > 1) return false;
    x += 1;
    if (condition_ != nullptr) {
      *condition_->GetMutableTensor(CPU)->mutable_data<bool>() = x < 2;
    }
    return true;
  }

 private:
  Blob* const blob_;
  Blob* condition_ = nullptr;
};
REGISTER_NET(control_results_fails_above_one, FailsAboveOneNet);

const std::string kFail = "type: 'control_results_fails_above_one' ";

std::string NetOf(const std::string& argument, const std::string& ops) {
  return "arg { name: '" + argument + "' n { name: '" + argument + "' " + ops + " } } ";
}

class ControlResultsTest : public testing::Test {
 protected:
  ControlResultsTest() {
    Feed<bool>(&ws_, "c", {1}, {true});
    Feed<float>(&ws_, "x", {1}, {0});
  }
  // Whether the operator, in a net, succeeds.
  bool Runs(const std::string& op) {
    try {
      return ws_.RunNetOnce(ParseNet("name: 'outer' op { " + op + " }"));
    } catch (const EnforceNotMet&) {
      return false;
    }
  }
  void ExpectX(float x) { ExpectTensor<float>(ws_, "x", {1}, {x}); }
  Workspace ws_;
};

TEST_F(ControlResultsTest, IfFailsWithItsNet) {
  const std::string op = R"(type: "If" input: "c" input: "x" output: "x" )";
  EXPECT_TRUE(Runs(op + NetOf("then_net", kFail)));
  EXPECT_TRUE(Runs(op + NetOf("then_net", kFail)));
  EXPECT_FALSE(Runs(op + NetOf("then_net", kFail)));
  EXPECT_FALSE(Runs(op + NetOf("then_net", kFail) + NetOf("else_net", "")));
  EXPECT_TRUE(Runs(op + NetOf("then_net", "") + NetOf("else_net", kFail)));
  Feed<bool>(&ws_, "c", {1}, {false});
  EXPECT_FALSE(Runs(op + NetOf("then_net", "") + NetOf("else_net", kFail)));
  EXPECT_TRUE(Runs(op + NetOf("then_net", kFail)));
  ExpectX(2);
}

TEST_F(ControlResultsTest, WhileFailsWithEitherOfItsNets) {
  const std::string op = R"(type: "While" input: "c" input: "x" output: "x" output: "c" )";
  // The second iteration makes the condition false; a third one would fail.
  EXPECT_TRUE(Runs(op + NetOf("loop_net", kFail)));
  ExpectX(2);
  ExpectTensor<bool>(ws_, "c", {1}, {false});
  Feed<bool>(&ws_, "c", {1}, {true});
  EXPECT_FALSE(Runs(op + NetOf("loop_net", kFail)));
  Feed<bool>(&ws_, "no", {1}, {false});
  // With a cond_net that fails, the loop does not run, whatever the condition is.
  for (const bool condition : {true, false}) {
    Feed<bool>(&ws_, "c", {1}, {condition});
    EXPECT_FALSE(Runs(op + NetOf("cond_net", kFail) +
                      NetOf("loop_net", R"(op { type: "Copy" input: "no" output: "c" })")));
    ExpectTensor<bool>(ws_, "c", {1}, {condition});
  }
  // cond_net runs before each test, of which there are two: the loop makes the condition false.
  Feed<float>(&ws_, "x", {1}, {0});
  Feed<bool>(&ws_, "c", {1}, {true});
  EXPECT_TRUE(Runs(op + NetOf("cond_net", kFail) +
                   NetOf("loop_net", R"(op { type: "Copy" input: "no" output: "c" })")));
  ExpectX(2);
}

TEST_F(ControlResultsTest, DoAndOnnxWhileFailWithTheirNets) {
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  const std::string op = R"(type: "Do" input: "x" input: "S" output: "x" output: "S"
      arg { name: "inner_blobs" strings: "x" } arg { name: "outer_blobs_idx" ints: 0 } )";
  EXPECT_TRUE(Runs(op + NetOf("net", kFail)));
  EXPECT_TRUE(Runs(op + NetOf("net", kFail)));
  EXPECT_FALSE(Runs(op + NetOf("net", kFail)));
  ExpectX(2);

  Feed<int64_t>(&ws_, "trips", {1}, {2});
  const std::string loop = R"(type: "ONNXWhile" input: "trips" input: "c" input: "y" output: "z"
      arg { name: "has_trip_count" i: 1 }
      arg { name: "body" n { name: "body" external_input: "i" external_input: "go"
        external_input: "x" external_output: "go" external_output: "x" )" +
                           kFail + "} }";
  Feed<float>(&ws_, "y", {1}, {0});
  EXPECT_TRUE(Runs(loop));
  ExpectTensor<float>(ws_, "z", {1}, {2});
  Feed<int64_t>(&ws_, "trips", {1}, {3});
  EXPECT_FALSE(Runs(loop));
}

TEST(AssertResultsTest, ReadsWholeElements) {
  Workspace ws;
  const auto runs = [&] { RunOp(&ws, "type: 'Assert' input: 'X'"); };
  Feed<int64_t>(&ws, "X", {4}, {int64_t{1} << 32, -1, int64_t{1} << 63, 1});
  runs();
  Feed<int64_t>(&ws, "X", {3}, {int64_t{1} << 32, 0, 0});
  ExpectThrows(runs, "element 1 of input 0 (X) is 0");
  Feed<int32_t>(&ws, "X", {2}, {-1, 1 << 30});
  runs();
  Feed<bool>(&ws, "X", {2}, {true, false});
  ExpectThrows(runs, "element 1 of input 0 (X) is false");
  Feed<bool>(&ws, "X", {}, {false});
  ExpectThrows([&] { RunOp(&ws, "type: 'Assert' input: 'X' arg { name: 'error_msg' s: 'why' }"); },
               "element 0 of input 0 (X) is false: why");
}

// The gradient of a loop is that of its one Do: another operator would be left out.
TEST(WhileGradientResultsTest, RejectsLoopsOfSeveralOperators) {
  const std::string body = R"(op { type: "Do" input: "x" input: "S" output: "y" output: "S"
      arg { name: "inner_blobs" strings: "x" strings: "y" }
      arg { name: "outer_blobs_idx" ints: 0 ints: 1 } arg { name: "copy_external_blobs" i: 1 }
      arg { name: "net" n { name: "net" op { type: "Tanh" input: "x" output: "y" } } } } )";
  const auto describe = [&](const std::string& ops) {
    (void)DescribeBackwardPass(
        R"(op { type: "While" input: "c" input: "x" input: "S" output: "y" output: "c" output: "S"
             arg { name: "loop_net" n { name: "loop" )" +
            ops + " } } }",
        "y");
  };
  const std::string want = "; a While with a gradient needs one Do as its loop";
  describe(body);
  ExpectThrows([&] { describe(body + R"(op { type: "Not" input: "c" output: "c" })"); },
               "net \"loop\" has 2 operators, the first one of type Do" + want);
  ExpectThrows([&] { describe(R"(op { type: "Not" input: "c" output: "c" } )" + body); },
               "net \"loop\" has 2 operators, the first one of type Not" + want);
  ExpectThrows([&] { describe(""); }, "net \"loop\" has 0 operators" + want);
}

}  // namespace
}  // namespace caffe2rt::test::control_results_test
