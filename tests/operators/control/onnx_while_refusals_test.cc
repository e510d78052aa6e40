// Whole messages of ONNXWhile, and runs after longer, shorter and rejected ones.
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::onnx_while_refusals_test {
namespace {

struct Loop {
  std::string inputs = R"(external_input: "i" external_input: "c" external_input: "a")";
  std::string outputs = R"(external_output: "next" external_output: "b" external_output: "item")";
  std::string ops;
  std::string arguments = R"(arg { name: "has_trip_count" i: 1 })";
  std::string blobs = R"(output: "last" output: "all")";
};

std::string TextOf(const Loop& loop) {
  return R"(type: "ONNXWhile" input: "trips" input: "go" input: "x" )" + loop.blobs + " " +
         loop.arguments + R"( arg { name: "body" n { name: "body" )" + loop.inputs + " " +
         loop.outputs + " " + loop.ops + " } }";
}

// b = 2 a, and the item is b.
const std::string kDouble = R"(op { type: "Copy" input: "c" output: "next" }
  op { type: "Scale" input: "a" output: "b" arg { name: "scale" f: 2 } }
  op { type: "Copy" input: "b" output: "item" } )";

class OnnxWhileRefusalsTest : public testing::Test {
 protected:
  OnnxWhileRefusalsTest() {
    Trips(2);
    Feed<bool>(&ws_, "go", {1}, {true});
    Feed<float>(&ws_, "x", {1}, {1});
  }
  void Trips(int64_t count) { Feed<int64_t>(&ws_, "trips", {}, {count}); }
  // The operator's own sentence begins after its frame.
  void ExpectRejected(const Loop& loop, const std::string& message) {
    const std::string got = MessageOf([&] { (void)ws_.RunOperatorOnce(ParseOp(TextOf(loop))); });
    EXPECT_TRUE(got == message || got.ends_with(": " + message))
        << "got:  " << got << "\nwant: " << message;
  }
  Workspace ws_;
};

TEST_F(OnnxWhileRefusalsTest, OfBodiesNameTheNumbersOfBlobs) {
  const std::string carried = R"(external_output: "next" external_output: "b")";
  ExpectRejected({.inputs = R"(external_input: "i" external_input: "c")", .ops = kDouble},
                 "the body has 2 external inputs, want 3: the iteration, the condition and the "
                 "carried values");
  ExpectRejected({.outputs = R"(external_output: "next")", .ops = kDouble},
                 "the body has 1 external outputs, want at least 2: the condition and the carried "
                 "values");
  ExpectRejected({.ops = kDouble, .blobs = R"(output: "last")"},
                 "the operator has 1 outputs, want 2: 1 values and 1 lists, as the body has "
                 "external outputs");
  ExpectRejected(
      {.outputs = carried + R"( external_output: "item" external_output: "b")", .ops = kDouble},
      "the operator has 2 outputs, want 3: 1 values and 2 lists, as the body has "
      "external outputs");
  ExpectRejected({.ops = kDouble, .arguments = R"(arg { name: "save_scopes" i: 1 }
                    arg { name: "disable_scopes" i: 1 })"},
                 "arguments \"save_scopes\" and \"disable_scopes\" are both 1, want at most one of "
                 "them");
  // A body may have more inputs than there are values.
  const Loop more = {.inputs = R"(external_input: "i" external_input: "c" external_input: "a"
                                  external_input: "i")",
                     .ops = kDouble};
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(TextOf(more))));
  ExpectTensor<float>(ws_, "all", {2}, {2, 4});
}

TEST_F(OnnxWhileRefusalsTest, OfBodiesNameOutputsThatDoNotExist) {
  ExpectRejected(
      {.outputs = R"(external_output: "next" external_output: "b" external_output: "nowhere")",
       .ops = kDouble},
      "Some of the blobs are declared as output but never produced by the net body, the first one "
      "is "
      "nowhere");
}

TEST_F(OnnxWhileRefusalsTest, OfItemsNameListIterationAndShape) {
  const auto item = [](const std::string& op) {
    return Loop{.ops = R"(op { type: "Copy" input: "c" output: "next" }
      op { type: "Concat" input: "a" input: "a" output: "b" output: "dims"
           arg { name: "axis" i: 0 } } )" +
                       op};
  };
  ExpectRejected(item(R"(op { type: "Copy" input: "b" output: "item" })"),
                 "item 1 of list 0 has shape [4], want [2] as the first one");
  ExpectRejected(item(R"(op { type: "ReduceSum" input: "b" output: "item"
                              arg { name: "keepdims" i: 0 } })"),
                 "an item of list 0 is a scalar or has no shape, want at least one dimension");
  ExpectRejected(item(R"(op { type: "CreateCounter" output: "item" })"),
                 MakeString(
                     "external output \"item\" of the body holds ",
                     [] {
                       Workspace ws;
                       CAFFE_ENFORCE(
                           ws.RunOperatorOnce(ParseOp(R"(type: "CreateCounter" output: "k")")),
                           "no counter");
                       return std::string(ws.GetBlob("k")->TypeName());
                     }(),
                     ", want a tensor on the CPU"));
  // The type of the condition changes in the first iteration.
  Feed<int32_t>(&ws_, "go", {1}, {1});
  ExpectRejected({.outputs = R"(external_output: "next" external_output: "a"
                                external_output: "item")",
                  .ops = R"(op { type: "Copy" input: "i" output: "item" }
                            op { type: "Cast" input: "a" output: "next"
                                 arg { name: "to" i: 1 } })"},
                 "the condition \"next\" has elements of type float, want bool, int32 or int64");
  ExpectRejected({.outputs = R"(external_output: "next" external_output: "a"
                                external_output: "a")",
                  .ops = R"(op { type: "ConstantFill" output: "next" arg { name: "dtype" i: 5 }
                                 arg { name: "shape" ints: 0 } })"},
                 "the condition \"next\" has no element, want at least one");
  Feed<int64_t>(&ws_, "trips", {0}, {});
  ExpectRejected({.ops = kDouble}, "input 0 (trip count) has no element, want at least one");
}

TEST_F(OnnxWhileRefusalsTest, OperatorMayRunAgainAfterAnyRun) {
  const Loop loop = {.ops = kDouble};
  (void)ws_.CreateBlob("last");
  const auto op = CreateOperator(ParseOp(TextOf(loop)), &ws_);
  struct Run {
    int64_t trips;
    std::vector<float> x, all;
  };
  const Run runs[] = {{3, {1}, {2, 4, 8}},
                      {1, {5}, {10}},
                      {0, {7}, {}},
                      {2, {1, -1}, {2, -2, 4, -4}},
                      {4, {1}, {2, 4, 8, 16}}};
  for (const Run& run : runs) {
    Trips(run.trips);
    const auto size = static_cast<int64_t>(run.x.size());
    Feed<float>(&ws_, "x", {size}, run.x);
    ASSERT_TRUE(op->Run());
    if (run.trips == 0) {
      ExpectTensor<int32_t>(ws_, "all", {0}, {});
      ExpectTensor<float>(ws_, "last", {size}, run.x);
      continue;
    }
    ExpectTensor<float>(ws_, "all", {run.trips * size}, run.all);
    ExpectTensor<float>(ws_, "last", {size},
                        std::vector<float>(run.all.end() - size, run.all.end()));
    Feed<bool>(&ws_, "go", {0}, {});
    EXPECT_THROW(op->Run(), EnforceNotMet);
    Feed<bool>(&ws_, "go", {1}, {true});
  }
}

TEST_F(OnnxWhileRefusalsTest, ListsGrowByRowsOfSeveralDimensions) {
  Trips(5);
  Feed<float>(&ws_, "x", {2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(TextOf({.ops = kDouble}))));
  std::vector<float> want;
  for (const float factor : {2.0f, 4.0f, 8.0f, 16.0f, 32.0f}) {
    for (const float x : {1.0f, 2.0f, 3.0f, 4.0f}) want.push_back(factor * x);
  }
  ExpectTensor<float>(ws_, "all", {10, 2}, want);
  ExpectTensor<float>(ws_, "last", {2, 2}, {32, 64, 96, 128});
}

// Neither has_trip_count nor has_cond by default: the condition inside ends nothing.
TEST_F(OnnxWhileRefusalsTest, ConditionOfTheBodyCountsWithHasCondOnly) {
  const std::string stop = R"(op { type: "ConstantFill" output: "next" arg { name: "dtype" i: 5 }
      arg { name: "shape" ints: 1 } arg { name: "value" i: 0 } }
    op { type: "Scale" input: "a" output: "b" arg { name: "scale" f: 2 } }
    op { type: "Copy" input: "b" output: "item" } )";
  Trips(3);
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(TextOf({.ops = stop}))));
  ExpectTensor<float>(ws_, "all", {3}, {2, 4, 8});
  ASSERT_TRUE(ws_.RunOperatorOnce(
      ParseOp(TextOf({.ops = stop, .arguments = R"(arg { name: "has_cond" i: 1 })"}))));
  ExpectTensor<float>(ws_, "all", {1}, {2});
}

}  // namespace
}  // namespace caffe2rt::test::onnx_while_refusals_test
