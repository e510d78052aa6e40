// What a predictor isolates: callers' tensors, weights, instances, and results that are still held.
#include <gtest/gtest.h>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::predictor_isolation_test {
namespace {

using namespace test;  // used throughout this file

// How the net uses x afterwards does not matter, because y is the only output.
TEST(PredictorIsolationTest, NetThatOverwritesAnInputGetsACopyOfIt) {
  for (const char* ops :
       {R"(op { type: "Relu" input: "x" output: "x" } op { type: "Relu" input: "x" output: "y" })",
        R"(op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "y" output: "x" })",
        R"(op { type: "Alias" input: "x" output: "a" } op { type: "Relu" input: "a" output: "a" }
              op { type: "Relu" input: "x" output: "y" })",
        R"(op { type: "Alias" input: "x" output: "a" } op { type: "Alias" input: "a" output: "b" }
              op { type: "Relu" input: "b" output: "b" } op { type: "Relu" input: "a" output: "y" })",
        // From the second call on, b is initially the alias that the previous call left.
        R"(op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "y" output: "b" }
              op { type: "Alias" input: "x" output: "b" })"}) {
    SCOPED_TRACE(ops);
    Predictor predictor(NetDef(), ParseNet(std::string(R"(name: "n" external_input: "x"
                                                       external_output: "y" )") +
                                           ops));
    const Tensor x = Vector({-1, 2});
    Tensor same = x;
    std::vector<Tensor> out;
    for (int call = 0; call < 3; ++call) {
      predictor({x}, &out);
      EXPECT_EQ(Values(out[0]), (std::vector<float>{0, 2}));
    }
    predictor(Predictor::TensorMap{{"x", x}}, &out);
    Predictor::TensorVector pointers;
    predictor.run({&same}, &pointers);
    predictor.run_map(Predictor::TensorMap{{"x", x}}, &pointers);
    predictor.run_map(Predictor::TensorPointerMap{{"x", &same}}, &pointers);
    EXPECT_EQ(Values(*pointers[0]), (std::vector<float>{0, 2}));
    EXPECT_EQ(Values(x), (std::vector<float>{-1, 2}));
  }
}

TEST(PredictorIsolationTest, InputsThatACallLeavesOutKeepTheirValues) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "n"
    op { type: "Add" input: "x" input: "v" output: "y" }
    external_input: "x" external_input: "v" external_output: "y")"));
  std::vector<Tensor> out;
  predictor(std::vector<Tensor>{Vector({1, 2}), Vector({10, 20})}, &out);
  predictor({Vector({3, 4})}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{13, 24}));
}

// w += x, and the only output is y = w. Each instance keeps w as its own state, which starts with
// the value from the init net.
const char kAddToWeight[] = R"(name: "n"
  op { type: "Add" input: "w" input: "x" output: "w" } op { type: "Copy" input: "w" output: "y" }
  external_input: "x" external_input: "w" external_output: "y")";

TEST(PredictorIsolationTest, NetThatWritesAWeightLeavesTheSharedWeightAlone) {
  Predictor predictor(ParseNet(kInit), ParseNet(kAddToWeight));
  std::vector<Tensor> out;
  predictor({Vector({1, 1})}, &out);
  predictor({Vector({1, 1})}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{12, 22}));
  EXPECT_EQ(Values(predictor.ws()->shared()->GetBlob("w")->Get<Tensor>()),
            (std::vector<float>{10, 20}));
  Tensor x = Vector({5, 5});
  Predictor::TensorVector other;
  predictor.run({&x}, &other);  // the overload with pointers has its own instance
  EXPECT_EQ(Values(*other[0]), (std::vector<float>{15, 25}));
}

TEST(PredictorIsolationTest, NetThatWritesAWeightLeavesTheParentsAlone) {
  for (const char* text : {kAddToWeight, R"(name: "n" op { type: "Alias" input: "w" output: "a" }
          op { type: "Add" input: "a" input: "x" output: "a" } op { type: "Copy" input: "a" output: "y" }
          external_input: "x" external_input: "w" external_output: "y")"}) {
    SCOPED_TRACE(text);
    Workspace parent;
    parent.RunNetOnce(ParseNet(kInit));
    Predictor predictor(NetDef(), ParseNet(text), &parent, PredictorOptions{.run_init = false});
    std::vector<Tensor> out;
    predictor(Predictor::TensorMap{{"x", Vector({1, 1})}}, &out);
    EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 21}));
    EXPECT_EQ(Values(parent.GetBlob("w")->Get<Tensor>()), (std::vector<float>{10, 20}));
    Predictor::TensorVector other;
    predictor.run_map(Predictor::TensorMap{{"x", Vector({5, 5})}}, &other);
    EXPECT_EQ(Values(*other[0]), (std::vector<float>{15, 25}));
  }
}

// The value of y after one call with x = {1, 2} on the nets, and without a predictor.
std::pair<std::vector<float>, std::vector<float>> OneCall(const std::string& init,
                                                          const std::string& net) {
  Workspace ws;
  EXPECT_TRUE(ws.RunNetOnce(ParseNet(init)));
  Feed<float>(&ws, "x", {2}, {1, 2});
  EXPECT_TRUE(ws.RunNetOnce(ParseNet(net)));
  Predictor predictor(ParseNet(init), ParseNet(net));
  std::vector<Tensor> out;
  EXPECT_TRUE(predictor({Vector({1, 2})}, &out));
  return {Values(out.at(0)), Fetch<float>(ws, "y")};
}

// Regression: the weight was read-only, so that a write through another name did not change it.
TEST(PredictorIsolationTest, AWriteThroughAnotherNameChangesTheWeight) {
  const std::string names = R"(external_input: "x" external_input: "w" external_output: "y")";
  const std::string add = R"( op { type: "Add" input: "w" input: "x" output: "y" } )";
  const std::string alias = R"(op { type: "Alias" input: "w" output: "a" }
    op { type: "Sqr" input: "a" output: "a" })";
  const std::string scope = R"(op { type: "CreateScope" output: "S" }
    op { type: "Do" input: "w" input: "S" output: "S" arg { name: "net" n { name: "inner"
      op { type: "Alias" input: "i" output: "a" } op { type: "Sqr" input: "a" output: "a" } } }
      arg { name: "inner_blobs" strings: "i" } arg { name: "outer_blobs_idx" ints: 0 } })";
  const std::string link = R"(
    op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 2 } }
    op { type: "rnn_internal_apply_link" input: "t" input: "w" output: "v" output: "w"
         arg { name: "offset" i: 1 } arg { name: "window" i: 1 } }
    op { type: "Sqr" input: "v" output: "v" })";
  for (const std::string& change : {alias, scope, link}) {
    SCOPED_TRACE(change);
    const auto [got, want] = OneCall(kInit, names + change + add);
    EXPECT_EQ(got, want);
    EXPECT_EQ(want[1], 402);
  }
  // The init net gives the memory two names.
  const auto [got, want] =
      OneCall(std::string(kInit) + R"(op { type: "Alias" input: "w" output: "b" })",
              names + R"( external_input: "b" op { type: "Sqr" input: "b" output: "b" })" + add);
  EXPECT_EQ(got, want);
  EXPECT_EQ(want[1], 402);
}

TEST(PredictorIsolationTest, WarnsOfWeightsThatTheNetChanges) {
  const int threshold = LogThreshold();
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  const Predictor changing(ParseNet(kInit), ParseNet(kAddToWeight));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("net \"n\" changes its weights w: each instance of the "));
  testing::internal::CaptureStderr();
  const Predictor three(ParseNet(R"(
      op { type: "GivenTensorFill" output: "a" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } }
      op { type: "GivenTensorFill" output: "c" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } }
      op { type: "GivenTensorFill" output: "d" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } })"),
                        ParseNet(R"(name: "n" external_input: "x" external_input: "d"
      external_input: "a" external_input: "b" external_input: "c" external_output: "y"
      op { type: "Sqr" input: "c" output: "c" } op { type: "Sqr" input: "a" output: "a" }
      op { type: "Add" input: "b" input: "d" output: "b" }
      op { type: "Sum" input: "a" input: "b" input: "c" input: "x" output: "y" })"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("net \"n\" changes its weights c, a, b: each instance of the "));
  testing::internal::CaptureStderr();
  const Predictor constant(ParseNet(kInit), ParseNet(kPredict));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::Not(testing::HasSubstr("changes its weights")));
  SetLogThreshold(threshold);
}

TEST(PredictorIsolationTest, RejectsAViewOfAWeightThatTheNetChanges) {
  // The second element, and both.
  for (const char* const part : {R"(arg { name: "offset" i: 1 } arg { name: "window" i: 1 } })",
                                 R"(arg { name: "offset" i: 0 } arg { name: "window" i: 2 } })"}) {
    const std::string init = std::string(kInit) + R"(
    op { type: "ConstantFill" output: "t" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 2 } }
    op { type: "rnn_internal_apply_link" input: "t" input: "w" output: "v" output: "w" )" +
                             part;
    ExpectThrows(
        [&] {
          const Predictor predictor(ParseNet(init), ParseNet(R"(name: "n" external_input: "x"
          external_input: "w" external_input: "v" external_output: "y"
          op { type: "Sqr" input: "v" output: "v" } op { type: "Add" input: "w" input: "x" output: "y" })"));
        },
        "is a view of a part of a weight that the net changes");
  }
}

TEST(PredictorIsolationTest, ResultThatIsAnAliasSurvivesLaterCalls) {
  for (const char* outputs :
       {R"(external_output: "y")", R"(external_output: "y" external_output: "a")"}) {
    SCOPED_TRACE(outputs);
    Predictor predictor(NetDef(), ParseNet(std::string(R"(name: "n" external_input: "x"
      op { type: "Relu" input: "x" output: "a" } op { type: "Alias" input: "a" output: "y" })") +
                                           outputs));
    std::vector<Tensor> out;
    predictor({Vector({1, 2})}, &out);
    const std::vector<Tensor> held = out;
    predictor({Vector({3, 4})}, &out);
    predictor({Vector({5, 6})}, &out);
    for (const Tensor& tensor : held) EXPECT_EQ(Values(tensor), (std::vector<float>{1, 2}));
    for (const Tensor& tensor : out) EXPECT_EQ(Values(tensor), (std::vector<float>{5, 6}));
  }
}

// Y is a view of X, created as users' operators do it.
class PredictorTestViewOp final : public Operator<CPUContext> {
 public:
  PredictorTestViewOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}
  bool RunOnDevice() override {
    *Output(0) = Input(0);
    return true;
  }
};
REGISTER_CPU_OPERATOR(PredictorTestView, PredictorTestViewOp);
OPERATOR_SCHEMA(PredictorTestView).NumInputs(1).NumOutputs(1);

TEST(PredictorIsolationTest, WeightsCannotBeWrittenThroughViewsOfThem) {
  Predictor predictor(ParseNet(kInit), ParseNet(R"(name: "n"
    op { type: "PredictorTestView" input: "w" output: "v" }
    op { type: "Add" input: "v" input: "x" output: "v" } op { type: "Copy" input: "v" output: "y" }
    external_input: "x" external_input: "w" external_output: "y")"));
  EXPECT_TRUE(predictor.ws()->shared()->GetBlob("w")->Get<Tensor>().storage()->read_only());
  std::vector<Tensor> out;
  for (int call = 0; call < 3; ++call) {
    predictor({Vector({1, 1})}, &out);
    EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 21}));
  }
}

// All instances read the same memory, without a copy and without a checksum before each use.
TEST(PredictorIsolationTest, WeightsAreSharedByInstancesAndNeedNoComparison) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  const Tensor& weight = predictor.ws()->shared()->GetBlob("w")->Get<Tensor>();
  EXPECT_FALSE(weight.storage()->exposed());
  EXPECT_EQ(predictor.ws()->GetBlob("w")->Get<Tensor>().raw_data(), weight.raw_data());
}

TEST(PredictorIsolationTest, ResultThatIsAnAliasOfAnInputOrAWeightIsTheCallersOwn) {
  for (const char* name : {"x", "w"}) {
    Predictor predictor(ParseNet(kInit), ParseNet(std::string(R"(name: "n"
      op { type: "Alias" output: "y" input: ")") + name +
                                                  R"(" } external_input: "x"
      external_input: "w" external_output: "y")"));
    const Tensor x = Vector({10, 20});
    std::vector<Tensor> out;
    predictor({x}, &out);
    out[0].mutable_data<float>()[0] = 99;
    const Tensor held = out[0];
    EXPECT_EQ(Values(x), (std::vector<float>{10, 20}));
    predictor({x}, &out);
    EXPECT_EQ(Values(out[0]), (std::vector<float>{10, 20}));
    EXPECT_EQ(Values(held), (std::vector<float>{99, 20}));
  }
}

// w += x is both state and an output.
TEST(PredictorIsolationTest, StateGoesOnWhileItsResultIsHeld) {
  Predictor predictor(ParseNet(kInit), ParseNet(R"(name: "n"
    op { type: "Add" input: "w" input: "x" output: "w" }
    external_input: "x" external_input: "w" external_output: "w")"));
  std::vector<Tensor> out;
  predictor({Vector({1, 1})}, &out);
  const Tensor held = out[0];
  predictor({Vector({1, 1})}, &out);
  EXPECT_EQ(Values(held), (std::vector<float>{11, 21}));
  EXPECT_EQ(Values(out[0]), (std::vector<float>{12, 22}));
}

TEST(PredictorIsolationTest, MemoryOfAReleasedResultIsReusedByTheNextCall) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  predictor({Vector({1, 1})}, &out);
  const void* const memory = out[0].raw_data();
  predictor({Vector({2, 2})}, &out);
  EXPECT_EQ(out[0].raw_data(), memory);
}

// Of twelve weights, with two names each, the net changes those with an even number through their first name. The
// order of the names is not that of the memory.
TEST(PredictorIsolationTest, EachOfManyChangedWeightsKeepsItsSecondName) {
  std::string init, change, sum, names;
  std::vector<float> want(2);
  for (int i = 0; i < 12; ++i) {
    const int place = i * 7 % 12;
    const std::string w = MakeString("w", place), b = MakeString("b", place);
    init += MakeString(R"(op { type: "GivenTensorFill" output: ")", w,
                       R"(" arg { name: "shape" ints: 2 } arg { name: "values" floats: )", i + 2,
                       " floats: ", -i, R"( } } op { type: "Alias" input: ")", w, "\" output: \"",
                       b, "\" } ");
    names += MakeString("external_input: \"", w, "\" external_input: \"", b, "\" ");
    sum += "input: \"" + b + "\" ";
    const bool changed = place % 2 == 0;
    if (changed) change += "op { type: \"Sqr\" input: \"" + w + "\" output: \"" + w + "\" } ";
    want[0] += static_cast<float>(changed ? (i + 2) * (i + 2) : i + 2);
    want[1] += static_cast<float>(changed ? i * i : -i);
  }
  const NetDef net = ParseNet("name: \"n\" external_output: \"y\" " + names + change +
                              "op { type: \"Sum\" " + sum + "output: \"y\" }");
  Predictor predictor(ParseNet(init), net);
  std::vector<Tensor> out;
  predictor(Predictor::TensorList(), &out);
  EXPECT_EQ(Values(out.at(0)), want);
}

// Y is another name for the memory of X.
class PredictorTestInt8ViewOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OperatorBase::Output<Int8TensorCPU>(0) = OperatorBase::Input<Int8TensorCPU>(0);
    return true;
  }
};
REGISTER_CPU_OPERATOR(PredictorTestInt8View, PredictorTestInt8ViewOp);
OPERATOR_SCHEMA(PredictorTestInt8View).NumInputs(1).NumOutputs(1);

// The init net gives the memory two names. The net doubles the numbers of one of them, which are 32.5 and 33.
TEST(PredictorIsolationTest, QuantizedWeightsInOneMemoryChangeTogether) {
  const NetDef init = ParseNet(R"(
      op { type: "Int8GivenTensorFill" output: "w" arg { name: "shape" ints: 2 }
           arg { name: "values" s: "AB" } arg { name: "Y_scale" f: 0.5 } }
      op { type: "PredictorTestInt8View" input: "w" output: "v" })");
  const NetDef net = ParseNet(R"(name: "n" external_input: "w" external_input: "v"
      external_output: "y"
      op { type: "Int8Sum" input: "w" input: "w" output: "w" arg { name: "Y_scale" f: 0.5 } }
      op { type: "Int8Dequantize" input: "v" output: "y" })");
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(init) && ws.RunNetOnce(net));
  EXPECT_EQ(Fetch<float>(ws, "y"), (std::vector<float>{65, 66}));
  Predictor predictor(init, net);
  std::vector<Tensor> out;
  for (const std::vector<float>& want : {std::vector<float>{65, 66}, {127.5f, 127.5f}}) {
    predictor(Predictor::TensorList(), &out);
    EXPECT_EQ(Values(out.at(0)), want);
  }
  Predictor::TensorVector pointers;
  predictor.run({}, &pointers);  // another instance
  EXPECT_EQ(Values(*pointers.at(0)), (std::vector<float>{65, 66}));
}

// The caller gives a weight, so that the instance runs the net as it was written. That net writes
// its input, also where the optimized one does not.
TEST(PredictorIsolationTest, ANetWithAWeightOfTheCallerLeavesTheInputAlone) {
  const struct {
    const char* ops;
    std::vector<float> want, with_weight;  // of x = {-1, 2} and w = {10, 20}, or {100, 200}
  } rows[] = {
      {R"(op { type: "Add" input: "x" input: "w" output: "x" }
          op { type: "Add" input: "x" input: "w" output: "y" })",
       {19, 42},
       {199, 402}},
      {R"(op { type: "Sum" input: "x" input: "w" output: "x" }
          op { type: "Sum" input: "x" input: "w" output: "y" })",
       {19, 42},
       {199, 402}},
      {R"(op { type: "Relu" input: "x" output: "x" }
          op { type: "Add" input: "x" input: "w" output: "y" })",
       {10, 22},
       {100, 202}},
      {R"(op { type: "Relu" input: "x" output: "x" } op { type: "Relu" input: "x" output: "x" }
          op { type: "Add" input: "x" input: "w" output: "y" })",
       {10, 22},
       {100, 202}},
      {R"(op { type: "Add" input: "x" input: "w" output: "y" }
          op { type: "Relu" input: "w" output: "x" })",
       {9, 22},
       {99, 202}},
      {R"(op { type: "Add" input: "x" input: "w" output: "x" }
          op { type: "Relu" input: "x" output: "y" })",
       {9, 22},
       {99, 202}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ops);
    Predictor predictor(ParseNet(kInit),
                        ParseNet(std::string(R"(name: "n" external_input: "x" external_input: "w"
                                external_output: "y" )") +
                                 row.ops));
    const Tensor x = Vector({-1, 2}), w = Vector({100, 200});
    std::vector<Tensor> out;
    for (int call = 0; call < 2; ++call) {
      predictor(Predictor::TensorMap{{"x", x}}, &out);
      EXPECT_EQ(Values(out[0]), row.want);
    }
    for (int call = 0; call < 3; ++call) {
      predictor(Predictor::TensorMap{{"x", x}, {"w", w}}, &out);
      EXPECT_EQ(Values(out[0]), row.with_weight);
      EXPECT_EQ(Values(x), (std::vector<float>{-1, 2}));
      EXPECT_EQ(Values(w), (std::vector<float>{100, 200}));
    }
  }
}

// The optimized net does not write t, the one that was written does: into a blob of its instance, not into that
// of the parent. The report then names no passes.
TEST(PredictorIsolationTest, ANetWithAWeightOfTheCallerLeavesBlobsOfTheParentAlone) {
  Workspace parent;
  Feed<float>(&parent, "t", {1, 1, 1, 2}, {7, 7});
  Predictor predictor(
      ParseNet(R"(
      op { type: "GivenTensorFill" output: "f" arg { name: "shape" ints: [1, 1, 1, 1] }
           arg { name: "values" floats: 3 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 1 } }
      op { type: "GivenTensorFill" output: "m" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 2 } })"),
      ParseNet(R"(name: "n" external_input: "x" external_input: "f" external_input: "b"
      external_input: "m" external_output: "y"
      op { type: "Conv" input: "x" input: "f" input: "b" output: "t" arg { name: "kernel" i: 1 } }
      op { type: "Mul" input: "t" input: "m" output: "y" })"),
      &parent);
  Tensor x(std::vector<int64_t>{1, 1, 1, 2}, CPU);
  x.mutable_data<float>()[0] = 1;
  x.mutable_data<float>()[1] = 5;
  std::vector<Tensor> out;
  predictor(Predictor::TensorMap{{"x", x}}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{8, 32}));  // 2 (3 x + 1)
  EXPECT_FALSE(predictor.Report().passes.empty());
  for (int call = 0; call < 2; ++call) {
    predictor(Predictor::TensorMap{{"x", x}, {"m", Vector({10})}}, &out);
    EXPECT_EQ(Values(out[0]), (std::vector<float>{40, 160}));
    EXPECT_EQ(Values(parent.GetBlob("t")->Get<Tensor>()), (std::vector<float>{7, 7}));
    EXPECT_TRUE(predictor.Report().passes.empty());
  }
}

}  // namespace
}  // namespace caffe2rt::predictor_isolation_test
