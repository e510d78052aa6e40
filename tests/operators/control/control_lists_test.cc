// Loops with several lists that run again, and gradients that a loop or a net only passes on.
#include "caffe2_core/graph/shape_inference.h"
#include "tests/operators/control/net_gradient.h"

namespace caffe2rt::test::control_lists_test {
namespace {

// Lists the iteration as int64, twice in each item; the carried value as float; and a matrix of it.
constexpr char kLists[] = R"(
  op { type: "ONNXWhile" input: "trips" input: "go" input: "x" output: "last" output: "ids" output: "values"
    output: "matrix" arg { name: "has_trip_count" i: 1 }
    arg { name: "body" n { name: "body"
      external_input: "i" external_input: "c" external_input: "v"
      external_output: "next" external_output: "w" external_output: "ii" external_output: "v1" external_output: "m"
      op { type: "Reshape" input: "i" output: "i1" output: "unused" arg { name: "shape" ints: 1 } }
      op { type: "Concat" input: "i1" input: "i1" output: "ii" output: "unused2" arg { name: "axis" i: 0 } }
      op { type: "Copy" input: "v" output: "v1" }
      op { type: "Reshape" input: "v" output: "v2" output: "unused3" arg { name: "shape" ints: 1 ints: 1 } }
      op { type: "Concat" input: "v2" input: "v2" output: "m" output: "unused4" arg { name: "axis" i: 1 } }
      op { type: "Add" input: "v" input: "v" output: "w" }
      op { type: "Copy" input: "c" output: "next" } } } })";

TEST(OnnxWhileListsTest, KeepTheirTypesAndShapesInEachRun) {
  Workspace ws;
  Feed<bool>(&ws, "go", {}, {true});
  Feed<int64_t>(&ws, "trips", {}, {0});
  Feed<float>(&ws, "x", {1}, {3});
  NetDef def = ParseNet(kLists);
  def.set_name("lists");
  NetBase* const net = ws.CreateNet(def);
  for (const int64_t trips : {2, 5, 1, 0, 3}) {
    SCOPED_TRACE(trips);
    Feed<int64_t>(&ws, "trips", {}, {trips});
    ASSERT_TRUE(net->Run());
    std::vector<int64_t> ids;
    std::vector<float> values, matrix;
    float value = 3;
    for (int64_t i = 0; i < trips; ++i, value *= 2) {
      ids.insert(ids.end(), {i, i});
      values.push_back(value);
      matrix.insert(matrix.end(), {value, value});
    }
    ExpectTensor<float>(ws, "last", {1}, {value});
    if (trips == 0) {
      for (const char* name : {"ids", "values", "matrix"})
        EXPECT_EQ(DimsOf(ws, name), std::vector<int64_t>{0});
      continue;
    }
    ExpectTensor<int64_t>(ws, "ids", {2 * trips}, ids);
    ExpectTensor<float>(ws, "values", {trips}, values);
    ExpectTensor<float>(ws, "matrix", {trips, 2}, matrix);
  }
  ExpectTensor<float>(ws, "x", {1}, {3});
}

TEST(OnnxWhileListsTest, MayBeOfStrings) {
  Workspace ws;
  Feed<bool>(&ws, "go", {}, {true});
  Feed<int64_t>(&ws, "trips", {}, {3});
  Feed<std::string>(&ws, "x", {2}, {"a", "b"});
  ws.RunOperatorOnce(
      ParseOp(R"(type: "ONNXWhile" input: "trips" input: "go" input: "x" output: "last"
    output: "all" arg { name: "has_trip_count" i: 1 } arg { name: "body" n { name: "body"
      external_input: "i" external_input: "c" external_input: "v"
      external_output: "next" external_output: "v" external_output: "v"
      op { type: "Copy" input: "c" output: "next" } } })"));
  ExpectTensor<std::string>(ws, "last", {2}, {"a", "b"});
  ExpectTensor<std::string>(ws, "all", {6}, {"a", "b", "a", "b", "a", "b"});
}

// The shapes of the outputs depend on the nets, but a condition has one element.
TEST(IfShapesTest, AreUnknownAndTheConditionIsChecked) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  const OperatorDef op = ParseOp(R"(type: "If" input: "c" input: "x" output: "y"
    arg { name: "then_net" n { name: "then" op { type: "Copy" input: "x" output: "y" } } })");
  for (const int64_t elements : {0, 2}) {
    Feed<bool>(&ws, "c", {elements}, std::vector<bool>(static_cast<size_t>(elements), true));
    ExpectThrows([&] { (void)InferShapes(ws, op); }, "elements of input 0 (condition)");
  }
  Feed<bool>(&ws, "c", {}, {true});
  const std::vector<TensorShape> shapes = InferShapes(ws, op);
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_TRUE(shapes[0].unknown_shape());
}

// The device of the net inside of a Do is that of the net inside of its gradient.
TEST(DoGradientNetTest, KeepsTheDeviceAndTheNameOfItsNet) {
  for (const bool has_device : {false, true}) {
    for (const bool has_name : {false, true}) {
      const NetDef net = ParseNet(MakeString(
          R"(op { type: "CreateScope" output: "S" }
             op { type: "Do" input: "x" input: "S" output: "y" output: "S"
               arg { name: "inner_blobs" strings: "a" strings: "b" }
               arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
               arg { name: "net" n { )",
          has_name ? R"(name: "inner" )" : "",
          has_device ? "device_option { random_seed: 7 } " : "",
          R"(op { type: "Tanh" input: "a" output: "b" } } } })"));
      const std::vector<OperatorDef> ops =
          GetBackwardPass(net.op(), {{"y", {.dense_ = "y_grad"}}}).ops;
      ASSERT_EQ(ops.size(), 1u);
      int nets = 0;
      for (const Argument& arg : ops[0].arg()) {
        if (!arg.has_n()) continue;
        ++nets;
        EXPECT_EQ(arg.n().name(), has_name ? "inner_grad" : "");
        EXPECT_EQ(arg.n().has_device_option(), has_device);
        EXPECT_EQ(arg.n().device_option().random_seed(), has_device ? 7u : 0u);
      }
      EXPECT_EQ(nets, 1);
    }
  }
}

// The body of the loop adds to the value that it carries, so its gradient stays the same.
TEST(WhileGradientPassTest, PassesAGradientOnThatTheBodyKeeps) {
  const auto feed = [](Workspace* ws) {
    Feed<bool>(ws, "c", {1}, {true});
    Feed<float>(ws, "one", {1}, {1});
    Feed<float>(ws, "limit", {1}, {3});
    FeedRandom(ws, "x", {2, 3}, 0.5f, 1, 1);
  };
  for (const char* const body :
       {R"(op { type: "Sum" input: "v" output: "v" })",

        R"(op { type: "Sum" input: "v" output: "u" } op { type: "Sum" input: "u" output: "v" })"}) {
    SCOPED_TRACE(body);
    ExpectNetGradients(
        R"(op { type: "Sqr" input: "x" output: "v" }
           op { type: "Sub" input: "one" input: "one" output: "i" }
           op { type: "CreateScope" output: "S" }
           op { type: "While" input: "c" input: "v" input: "S" input: "i" input: "one" input: "limit"
             output: "v" output: "S" output: "i" output: "c"
             arg { name: "cond_net" n { name: "test" op { type: "LT" input: "i" input: "limit" output: "c" }
               op { type: "Add" input: "i" input: "one" output: "i" } } }
             arg { name: "loop_net" n { name: "loop" op { type: "Do" input: "v" input: "S" output: "v" output: "S"
               arg { name: "copy_external_blobs" i: 1 } arg { name: "inner_blobs" strings: "v" }
               arg { name: "outer_blobs_idx" ints: 0 } arg { name: "net" n { name: "body" )" +
            std::string(body) + R"( } } } } } }
           op { type: "Mul" input: "v" input: "x" output: "s" })",
        feed, {"x"});
  }
}

}  // namespace
}  // namespace caffe2rt::test::control_lists_test
