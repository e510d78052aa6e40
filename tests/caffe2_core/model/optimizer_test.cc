#include "caffe2_core/model/optimizer.h"

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::optimizer_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::Fetch;
using test::ParseNet;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// y = 2 * (3 * x + 1), as Conv and Mul.
constexpr char kNet[] = R"(
    name: "n" external_input: "x" external_input: "w" external_input: "b" external_input: "m"
    external_output: "y"
    op { type: "Conv" input: "x" input: "w" input: "b" output: "t" name: "c1"
         arg { name: "kernel" i: 1 } }
    op { type: "Mul" input: "t" input: "m" output: "y" })";

class OptimizerTest : public testing::Test {
 protected:
  OptimizerTest() {
    Feed<float>(&ws_, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws_, "b", {1}, {1});
    Feed<float>(&ws_, "m", {1}, {2});
    Feed<float>(&ws_, "x", {1, 1, 1, 2}, {5, -1});
    options_.inputs = {"x"};
    // Only the passes that these tests are about.
    const std::set<std::string> wanted = {"fold_batch_norm", "fold_constants", "remove_copies",
                                          "remove_dead_operators"};
    for (const NetPassInfo& pass : NetPasses()) {
      if (!wanted.contains(pass.name)) options_.without_passes.insert(pass.name);
    }
  }
  Preparation Optimize(const std::string& text) {
    return OptimizeNet(ParseNet(text), options_, &ws_);
  }
  static std::vector<std::string> InputsOfNet(const NetDef& net) {
    return {net.external_input().begin(), net.external_input().end()};
  }
  Workspace ws_;
  PreparationOptions options_;
};

TEST_F(OptimizerTest, AddsConstantsAndRemovesUnusedOnes) {
  options_.free_constants = true;
  const Preparation optimized = Optimize(kNet);
  EXPECT_EQ(optimized.net.op_size(), 1);
  EXPECT_THAT(optimized.passes, testing::Contains("fold_batch_norm"));
  ASSERT_EQ(optimized.new_constants.size(), 2u);
  EXPECT_THAT(optimized.freed_constants, ElementsAre("b", "m", "w"));
  EXPECT_FALSE(ws_.HasBlob("w"));
  EXPECT_THAT(InputsOfNet(optimized.net),
              ElementsAre("x", optimized.new_constants[0], optimized.new_constants[1]));
  ASSERT_TRUE(ws_.RunNetOnce(optimized.net));
  EXPECT_THAT(Fetch<float>(ws_, "y"), ElementsAre(32, -4));
}

TEST_F(OptimizerTest, KeepsConstantsUnlessTheyMayBeFreed) {
  EXPECT_TRUE(Optimize(kNet).freed_constants.empty());
  EXPECT_TRUE(ws_.HasBlob("w"));
}

TEST_F(OptimizerTest, KeepsFetchedBlobs) {
  options_.kept = {"t", "w"};
  options_.free_constants = true;
  const Preparation optimized = Optimize(kNet);
  EXPECT_EQ(optimized.net.op_size(), 2);
  EXPECT_TRUE(ws_.HasBlob("w"));
}

TEST_F(OptimizerTest, ReturnsTheSameNetIfOffOrWithoutPasses) {
  const std::string text = ParseNet(kNet).DebugString();
  options_.without_passes.clear();
  for (const NetPassInfo& pass : NetPasses()) options_.without_passes.insert(pass.name);
  EXPECT_EQ(Optimize(kNet).net.DebugString(), text);
  options_.without_passes.clear();
  options_.optimize = false;
  EXPECT_EQ(Optimize(kNet).net.DebugString(), text);
}

TEST_F(OptimizerTest, RejectsUnknownPasses) {
  options_.without_passes = {"fold_bach_norm"};
  ExpectThrows([&] { Optimize(kNet); }, "close: fold_batch_norm");
}

TEST_F(OptimizerTest, DoesNotTreatInputsOrBlobsOfAParentAsConstants) {
  options_.inputs = {"x", "m"};
  EXPECT_EQ(Optimize(kNet).net.op_size(), 2);
  Workspace child(&ws_);
  options_.inputs = {"x"};
  EXPECT_EQ(OptimizeNet(ParseNet(kNet), options_, &child).net.op_size(), 2);
}

TEST_F(OptimizerTest, LeavesANetAloneWhoseBlobsHaveTwoNames) {
  Workspace other;
  other.AddBlobMapping(&ws_, {{"x", "x"}, {"also_x", "x"}});
  Feed<float>(&other, "m", {1}, {2});
  const NetDef net = ParseNet(R"(op { type: "Copy" input: "x" output: "t" }
                                 op { type: "Relu" input: "t" output: "also_x" })");
  EXPECT_EQ(OptimizeNet(net, {}, &other).net.op_size(), 2);
  // Among other blobs, in whichever order: each pair of names in turn denotes one blob.
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  for (const std::string& first : names) {
    for (const std::string& second : names) {
      Workspace blobs, shares;
      for (const std::string& name : names) Feed<float>(&blobs, name, {1}, {1});
      for (const std::string& name : names) {
        shares.AddBlobMapping(&blobs, {{name, name == second ? first : name}});
      }
      const NetDef sums = ParseNet(R"(external_output: "d"
          op { type: "Sum" input: "a" input: "b" input: "c" output: "t" }
          op { type: "Copy" input: "t" output: "d" })");
      EXPECT_EQ(OptimizeNet(sums, {}, &shares).net.op_size(), first == second ? 1 : 2)
          << first << second;
    }
  }
}

// What an operator may read or write besides what it lists is not known to passes, wherever it is.
TEST_F(OptimizerTest, LeavesANetAloneThatUsesUnlistedBlobs) {
  const auto load = [](const std::string& all) {
    return "op { type: 'Load' output: 'z' arg { name: 'load_all' " + all + " } }";
  };
  const auto nested = [](const std::string& nets) {
    return "op { type: 'If' input: 'c' arg { name: 'then_net' " + nets + " } }";
  };
  for (const char* all : {"i: 1", "i: 0", "s: 'text'"}) {
    const std::string op = load(all);
    for (const std::string& last :
         {op, nested("n { " + op + " }"), nested("nets { name: 'first' } nets { " + op + " }"),
          nested("n { " + nested("n { op { type: 'Relu' input: 'q' output: 'q' } " + op + " }") +
                 " }")}) {
      SCOPED_TRACE(last);
      const NetDef net = ParseNet(std::string(kNet) + last);
      const Preparation prepared = OptimizeNet(net, options_, &ws_);
      const bool lists_all = std::string(all) == "i: 0";
      EXPECT_EQ(prepared.passes.empty(), !lists_all);
      EXPECT_EQ(prepared.new_constants.empty(), !lists_all);
      EXPECT_EQ(prepared.net.SerializeAsString() == net.SerializeAsString(), !lists_all);
    }
  }
}

// Nets may be as deep as others can be: deeper ones are left alone, and creating them reports their depth.
TEST_F(OptimizerTest, LeavesANetAloneThatIsTooDeep) {
  for (const int levels : {1, kMaxNetDepth - 1, kMaxNetDepth}) {
    NetDef inner = ParseNet("op { type: 'Relu' input: 'q' output: 'q' }");
    for (int i = 0; i < levels; ++i) {
      NetDef outer;
      outer.add_op()->set_type("If");
      outer.mutable_op(0)->add_input("c");
      *outer.mutable_op(0)->add_arg() = MakeArgument("then_net", inner);
      inner = outer;
    }
    NetDef net = ParseNet(kNet);
    *net.add_op() = inner.op(0);
    EXPECT_EQ(OptimizeNet(net, options_, &ws_).passes.empty(), levels == kMaxNetDepth) << levels;
  }
}

TEST_F(OptimizerTest, TreatsAnEngineThatDoesNotExistAsTheDefault) {
  std::string text = kNet;
  text.insert(text.find("name: \"c1\""), "engine: \"CUDNN\" ");
  EXPECT_EQ(Optimize(text).net.op_size(), 1);
}

TEST_F(OptimizerTest, DoesNotGiveAConstantANameThatIsInUse) {
  Feed<float>(&ws_, "w_2", {1}, {1});
  options_.kept = {"w_3"};
  const Preparation optimized = Optimize(kNet);
  EXPECT_THAT(optimized.new_constants, Not(testing::Contains("w_2")));
  EXPECT_THAT(optimized.new_constants, Not(testing::Contains("w_3")));
}

TEST_F(OptimizerTest, IsIdempotent) {
  const NetDef once = Optimize(kNet).net;
  const NetDef twice = OptimizeNet(once, options_, &ws_).net;
  EXPECT_EQ(twice.DebugString(), once.DebugString());
}

// --- errors ---

std::string ErrorOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const EnforceNotMet& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(OptimizerTest, LetsErrorsNameTheUsersOperators) {
  const Preparation optimized = Optimize(kNet);
  Feed<float>(&ws_, "x", {1, 3, 1, 1}, {1, 2, 3});
  const std::string error = ErrorOf([&] { ws_.RunNetOnce(optimized.net); });
  EXPECT_THAT(error,
              HasSubstr("net \"n\", operators 0 Conv \"c1\", 1 Mul (run as Conv \"c1\", inputs "));
  EXPECT_EQ(ws_.last_failed_op_net_position, 0);
}

TEST_F(OptimizerTest, LetsErrorsNameThePositionsInTheUsersNet) {
  const std::string text = R"(name: "n" external_output: "y"
      op { type: "Relu" input: "x" output: "dead" }
      op { type: "Reshape" input: "x" output: "y" output: "old" arg { name: "shape" ints: 7 } })";
  const Preparation optimized = Optimize(text);
  ASSERT_EQ(optimized.net.op_size(), 1);
  const std::string plain = ErrorOf([&] { ws_.RunNetOnce(ParseNet(text)); });
  EXPECT_THAT(plain, HasSubstr("net \"n\", operator 1 (Reshape, inputs"));
  EXPECT_EQ(ErrorOf([&] { ws_.RunNetOnce(optimized.net); }), plain);
  EXPECT_EQ(ws_.last_failed_op_net_position, 1);
}

TEST_F(OptimizerTest, LetsErrorsOfConstructionNameThePositionsInTheUsersNet) {
  const std::string text = R"(name: "n" external_output: "y"
      op { type: "Relu" input: "x" output: "dead" }
      op { type: "NoSuchType" input: "x" output: "y" })";
  const Preparation optimized = Optimize(text);
  ASSERT_EQ(optimized.net.op_size(), 1);
  EXPECT_THAT(ErrorOf([&] { ws_.CreateNet(optimized.net); }),
              HasSubstr("net \"n\", operator 1 (NoSuchType, output \"y\")"));
  EXPECT_EQ(ws_.last_failed_op_net_position, 1);
}

// --- Predictor ---

NetDef InitNet() {
  return ParseNet(R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
           arg { name: "values" floats: 3 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 1 } }
      op { type: "GivenTensorFill" output: "m" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } })");
}

Tensor TensorOf(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Workspace ws;
  return *Feed<float>(&ws, "x", dims, values);
}

std::vector<float> Floats(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

size_t OperatorsOf(Predictor* predictor) {
  return predictor->ws()->GetNet("n")->GetOperators().size();
}

TEST(OptimizedPredictorTest, RunsThePreparation) {
  Predictor predictor(InitNet(), ParseNet(kNet));
  Predictor plain(InitNet(), ParseNet(kNet), nullptr, true, 0);
  Predictor without(InitNet(), ParseNet(kNet), nullptr,
                    PredictorOptions{.without_passes = {"fold_batch_norm"}});
  EXPECT_EQ(OperatorsOf(&predictor), 1u);
  EXPECT_EQ(OperatorsOf(&plain), 2u);
  EXPECT_EQ(OperatorsOf(&without), 2u);
  EXPECT_EQ(predictor.def().op_size(), 2);
  for (Predictor* each : {&predictor, &plain, &without}) {
    Predictor::TensorList outputs;
    ASSERT_TRUE((*each)({TensorOf({1, 1, 1, 2}, {5, -1})}, &outputs));
    EXPECT_THAT(Floats(outputs[0]), ElementsAre(32, -4));
  }
}

TEST(OptimizedPredictorTest, AcceptsWeightsAsInputs) {
  Predictor predictor(InitNet(), ParseNet(kNet));
  Predictor::TensorList outputs;
  ASSERT_TRUE(predictor({TensorOf({1, 1, 1, 2}, {5, -1})}, &outputs));
  EXPECT_THAT(Floats(outputs[0]), ElementsAre(32, -4));
  Predictor::TensorMap inputs;
  inputs.emplace("m", TensorOf({1}, {10}));
  ASSERT_TRUE(predictor(inputs, &outputs));  // x keeps its value
  EXPECT_THAT(Floats(outputs[0]), ElementsAre(160, -20));
  ASSERT_TRUE(predictor({TensorOf({1, 1, 1, 1}, {0})}, &outputs));  // and so does m
  EXPECT_THAT(Floats(outputs[0]), ElementsAre(10));
}

TEST(OptimizedPredictorTest, KeepsBlobsOnRequest) {
  Predictor predictor(InitNet(), ParseNet(kNet), nullptr, PredictorOptions{.kept_blobs = {"t"}});
  Tensor x = TensorOf({1, 1, 1, 1}, {5});
  Predictor::TensorVector outputs;
  ASSERT_TRUE(predictor.run({&x}, &outputs));
  EXPECT_THAT(Fetch<float>(*predictor.ws(), "t"), ElementsAre(16));
}

TEST(OptimizedPredictorTest, DoesNotTreatAPlaceholderAsAConstant) {
  NetDef init = InitNet();
  *init.add_op() = ParseNet(R"(op { type: "ConstantFill" output: "x"
      arg { name: "shape" ints: [1, 1, 1, 1] } })")
                       .op(0);
  Predictor predictor(init, ParseNet(kNet));
  Predictor::TensorList outputs;
  for (const float x : {1.0f, 2.0f}) {
    ASSERT_TRUE(predictor({TensorOf({1, 1, 1, 1}, {x})}, &outputs));
    EXPECT_THAT(Floats(outputs[0]), ElementsAre(6 * x + 2));
  }
  EXPECT_EQ(OperatorsOf(&predictor), 1u);
}

// The net writes the memory of m under another name.
TEST_F(OptimizerTest, DoesNotTreatWrittenMemoryAsConstant) {
  ws_.RunOperatorOnce(test::ParseOp(R"(type: "Alias" input: "m" output: "alias")"));
  const std::string net = std::string(kNet) + R"(
      op { type: "Scale" input: "alias" output: "alias" arg { name: "scale" f: 10 } })";
  EXPECT_EQ(Optimize(net).net.op_size(), 3);
}

// Regression: the net of Do writes m under an inner name, and a view was taken for other memory.
TEST_F(OptimizerTest, DoesNotTreatWhatANestedNetWritesAsConstant) {
  const std::string inner = R"( arg { name: "net" n { name: "inner"
      op { type: "Sqr" input: "i" output: "i" } } }
      arg { name: "inner_blobs" strings: "i" } arg { name: "outer_blobs_idx" ints: 0 } } )";
  EXPECT_EQ(Optimize(std::string(kNet) + R"( op { type: "CreateScope" output: "S" }
      op { type: "Do" input: "m" input: "S" output: "S" )" +
                     inner)
                .net.op_size(),
            4);
  Feed<int32_t>(&ws_, "t", {1}, {0});
  ws_.RunOperatorOnce(test::ParseOp(
      R"(type: "rnn_internal_apply_link" input: "t" input: "m" output: "view" output: "m"
         arg { name: "offset" i: 0 } arg { name: "window" i: 1 })"));
  EXPECT_EQ(Optimize(std::string(kNet) + R"( op { type: "Sqr" input: "view" output: "view" })")
                .net.op_size(),
            3);
}

// The scope holds an alias of m, which only its own workspace names.
TEST_F(OptimizerTest, DoesNotTreatWhatAScopeHoldsAsConstant) {
  ws_.RunNetOnce(ParseNet(R"(op { type: "CreateScope" output: "S" }
    op { type: "Do" input: "m" input: "S" output: "S"
         arg { name: "inner_blobs" strings: "i" } arg { name: "outer_blobs_idx" ints: 0 }
         arg { name: "net" n { name: "take" op { type: "Alias" input: "i" output: "a" } } } })"));
  EXPECT_EQ(Optimize(std::string(kNet) + R"( op { type: "Do" input: "S" output: "S"
      arg { name: "reuse_workspace" i: 1 }
      arg { name: "net" n { name: "change" op { type: "Sqr" input: "a" output: "a" } } } })")
                .net.op_size(),
            3);
}

// Regression: a derived form of a tensor went stale when a view of the tensor was written.
TEST_F(OptimizerTest, AViewExposesTheMemoryOfItsTensor) {
  ws_.RunNetOnce(ParseNet(R"(op { type: "ConstantFill" output: "X" arg { name: "shape" ints: 4 } }
    op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 2 } }
    op { type: "rnn_internal_apply_link" input: "t" input: "X" output: "v" output: "X"
         arg { name: "offset" i: 1 } arg { name: "window" i: 2 } })"));
  Storage& storage = *ws_.GetBlob("X")->Get<Tensor>().storage();
  const uint64_t before = storage.VerifiedVersion(16);
  EXPECT_EQ(storage.VerifiedVersion(16), before);
  ws_.RunNetOnce(ParseNet(R"(op { type: "ConstantFill" output: "v" arg { name: "shape" ints: 2 }
    arg { name: "value" f: 1 } })"));
  EXPECT_GT(storage.VerifiedVersion(16), before);
}

// The device of a net on the CPU may have any number.
TEST_F(OptimizerTest, PlacesNetsWithADeviceIdOnOnednn) {
  options_.without_passes.clear();
  test::FeedRandom(&ws_, "f", {32, 32, 3, 3}, -0.1f, 0.1f);
  test::FeedRandom(&ws_, "x", {1, 32, 14, 14}, -1, 1);
  options_.input_shapes = {
      {"x", CreateTensorShape(std::vector<int64_t>{1, 32, 14, 14}, TensorProto::FLOAT)}};
  const std::string conv = R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 }
                              device_option { device_type: 0 device_id: 3 } })";
  const std::string text = R"(name: "n" device_option { device_id: 2 }
      external_input: "x" external_input: "f" external_output: "y"
      op { type: "Conv" input: "x" input: "f" output: "t" )" +
                           conv + R"(op { type: "Conv" input: "t" input: "f" output: "y" )" + conv;
  ws_.RunNetOnce(ParseNet(text));
  const std::vector<float> want = Fetch<float>(ws_, "y");
  Preparation optimized = Optimize(text);
  optimized.net.set_name("optimized");
  ASSERT_TRUE(ws_.RunNetOnce(optimized.net));
  test::ExpectTensor<float>(ws_, "y", {1, 32, 14, 14}, want, 1e-4);
}

}  // namespace
}  // namespace caffe2rt::optimizer_test
