// Errors and printed texts of workspaces, nets, operators, executor overrides and checks of
// floating-point exceptions, whole.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/executor_overrides.h"
#include "caffe2_core/runtime/fp_exceptions.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::runtime_refusals_test {
namespace {

using test::ExpectRefusals;
using test::MessageOf;
using test::ParseNet;
using test::ParseOp;

// The new net would need the memory and the name of the old one.
TEST(RuntimeRefusalsTest, OfAReplacementLeaveNoNet) {
  Workspace ws;
  ws.CreateNet(ParseNet(R"(name: "n")"));
  ws.CreateNet(ParseNet(R"(name: "other")"));
  EXPECT_THROW(ws.CreateNet(ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })"),
                            /*overwrite=*/true),
               EnforceNotMet);
  EXPECT_EQ(ws.GetNet("n"), nullptr);
  EXPECT_EQ(ws.Nets(), std::vector<std::string>{"other"});
  EXPECT_FALSE(ws.RunNet("n"));
  EXPECT_NE(ws.CreateNet(ParseNet(R"(name: "n")")), nullptr);
  EXPECT_TRUE(ws.RunNet("n"));
}

// No copies are put into nets of devices that are not there.
TEST(RuntimeRefusalsTest, OfNetsOnMissingDevices) {
  const auto create = [](const std::string& fields) {
    return [fields] {
      Workspace ws;
      ws.CreateBlob("x");
      ws.CreateNet(ParseNet("name: \"n\" external_input: \"x\" " + fields));
    };
  };
  const auto relu = [](const std::string& device) {
    return R"(op { type: "Relu" input: "x" output: "y" }
              op { type: "Relu" input: "y" output: "z" device_option { device_type: )" +
           device + " } }";
  };
  const std::string asked = R"(arg { name: "inject_copies" i: 1 })";
  const auto text = [](const std::string& device) {
    return device == "19" ? "device device type 19 (type 19) is not available; available: CPU"
                          : "device type " + device + " is not known, want 0 (CPU) to 31";
  };
  for (const std::string& wish : {std::string(), asked}) {
    for (const std::string device : {"19", "32", "-1"}) {
      const std::string second = MessageOf(create(relu(device) + wish));
      EXPECT_EQ(second.find("net \"n\", operator 1 (Relu, output \"z\"): " + text(device)), 0u)
          << second;
      const std::string first = MessageOf(create(R"(op { type: "Relu" input: "x" output: "y" }
                              device_option { device_type: )" +
                                                 device + " }" + wish));
      EXPECT_EQ(first.find("net \"n\", operator 0 (Relu, output \"y\"): " + text(device)), 0u)
          << first;
    }
  }
}

TEST(RuntimeRefusalsTest, OfWorkspaces) {
  Workspace parent, ws(&parent);
  parent.CreateBlob("p");
  ws.CreateBlob("x");
  ws.CreateBlob("y");
  Workspace child(&parent, {{"forwarded", "p"}});
  Workspace orphan(&parent, {{"forwarded", "p"}});
  ws.CreateNet(ParseNet(R"(name: "n")"));
  child.CreateBlob("own");
  ExpectRefusals({
      {[&] { ws.RenameBlob("missing", "z"); },
       "cannot rename blob \"missing\": it is not in the workspace"},
      {[&] { ws.RenameBlob("p", "z"); }, "cannot rename blob \"p\": it is not in the workspace"},
      {[&] { ws.RenameBlob("x", "y"); }, "cannot rename blob \"x\" to \"y\": that name is taken"},
      {[&] { ws.RenameBlob("x", "p"); }, "cannot rename blob \"x\" to \"p\": that name is taken"},
      {[&] { ws.ShareBlob("x", nullptr); }, "argument blob of ShareBlob is null"},
      {[&] { ws.AddBlobMapping(nullptr, {}); },
       "argument parent of AddBlobMapping is null or the workspace itself, want another workspace"},
      {[&] { ws.AddBlobMapping(&ws, {}); },
       "argument parent of AddBlobMapping is null or the workspace itself, want another workspace"},
      {[&] {
         ws.AddBlobMapping(&parent, {{"a", "b"}});
       },
       "cannot forward blob \"a\": \"b\" is not in the parent workspace"},
      {[&] {
         ws.AddBlobMapping(&parent, {{"x", "p"}});
       },
       "cannot forward blob \"x\": it is defined already"},
      {[&] {
         child.AddBlobMapping(&parent, {{"forwarded", "p"}});
       },
       "cannot forward blob \"forwarded\": it is defined already"},
      {[&] { child.CopyForwardedTensors({"forwarded"}); },
       "forwarded blob \"forwarded\" is not a tensor"},
      {[&] {
         parent.RemoveBlob("p");
         orphan.CreateBlob("forwarded");
       },
       "blob \"forwarded\" is forwarded to \"p\", which no longer exists in the parent workspace"},
      {[&] { ws.CreateNet(NetDef()); }, "Net definition should have a name."},
      {[&] { ws.CreateNet(std::shared_ptr<const NetDef>()); }, "argument def of CreateNet is null"},
      {[&] { ws.CreateNet(ParseNet(R"(name: "n")")); },
       "I respectfully refuse to overwrite an existing net of the same name \"n\", unless you "
       "explicitly specify overwrite=true."},
      {[&] { ws.RunNetOnce(ParseNet(R"(name: "m" type: "no_type")")); },
       "net \"m\" has type \"no_type\", which is not known"},
  });
  EXPECT_NO_THROW(child.AddBlobMapping(&parent, {}, true));
  EXPECT_NE(ws.CreateNet(ParseNet(R"(name: "n")"), true), nullptr);
}

// A class of nets that leaves everything to its base.
class IdleNet final : public NetBase {
 public:
  using NetBase::NetBase;
  bool SupportsAsync() override { return false; }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }
};
REGISTER_NET(runtime_refusals_idle, IdleNet);

// Fails, by its result, in the run whose number is its argument.
class FailsInOp final : public Operator<CPUContext> {
 public:
  FailsInOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), last_(GetSingleArgument<int>("run", 0)) {}
  bool RunOnDevice() override { return runs_++ != last_; }

 private:
  const int last_;
  int runs_ = 0;
};
REGISTER_CPU_OPERATOR(RuntimeRefusalsFailsIn, FailsInOp);
OPERATOR_SCHEMA(RuntimeRefusalsFailsIn);

TEST(RuntimeRefusalsTest, OfNets) {
  Workspace ws;
  const std::unique_ptr<NetBase> idle =
      CreateNet(ParseNet(R"(name: "i" type: "runtime_refusals_idle")"), &ws);
  ASSERT_NE(idle, nullptr);
  const std::unique_ptr<NetBase> empty = CreateNet(ParseNet(R"(name: "e")"), &ws);
  ExpectRefusals({
      {[&] { idle->Run(); },
       "the class of net \"i\" (type \"runtime_refusals_idle\") overrides neither DoRun nor "
       "DoRunAsync"},
      {[&] { empty->TEST_Benchmark(-1, 1, false); },
       "warmup_runs and main_runs are -1 and 1, want at least 0"},
      {[&] { empty->TEST_Benchmark(1, -1, false); },
       "warmup_runs and main_runs are 1 and -1, want at least 0"},
      {[&] { empty->AttachObserver(nullptr); }, "cannot attach a null observer"},
      {[] { AddGlobalNetObserverCreator(nullptr); },
       "argument creator of AddGlobalNetObserverCreator is null"},
      {[&] { CreateNet(NetDef(), nullptr); },
       "argument ws of CreateNet is null, want the workspace of its blobs"},
      {[&] { CreateNet(std::shared_ptr<const NetDef>(), &ws); }, "argument def of a net is null"},
      {[&] { CreateNet(ParseNet(R"(name: "p" type: "parallel" num_workers: 0)"), &ws); },
       "net \"p\" of type parallel has num_workers 0, want more than 0"},
      {[&] { CreateOperator(ParseOp(R"(type: "Relu")"), nullptr); },
       "argument ws of CreateOperator is null, want the workspace of its blobs"},
  });
  EXPECT_NO_THROW(empty->TEST_Benchmark(0, 0, true));
  EXPECT_NO_THROW(CreateNet(ParseNet(R"(type: "parallel" num_workers: 1)"), &ws));
}

// Reports a failure, without an exception, in the third of its runs.
class ThirdRunFailsNet final : public NetBase {
 public:
  using NetBase::NetBase;
  bool SupportsAsync() override { return false; }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return ++runs_ != 3; }

 private:
  int runs_ = 0;
};
REGISTER_NET(runtime_refusals_third_run_fails, ThirdRunFailsNet);

TEST(RuntimeRefusalsTest, OfBenchmarksOfNetsThatReportAFailure) {
  Workspace ws;
  const auto benchmark = [&](int warmup_runs, int main_runs) {
    const std::unique_ptr<NetBase> net =
        CreateNet(ParseNet(R"(name: "n" type: "runtime_refusals_third_run_fails")"), &ws);
    return MessageOf([&] { net->TEST_Benchmark(warmup_runs, main_runs, false); });
  };
  EXPECT_EQ(benchmark(3, 1), "net \"n\" failed in warm-up run 2");
  EXPECT_EQ(benchmark(2, 1), "net \"n\" failed in run 0");
  EXPECT_EQ(benchmark(1, 2), "net \"n\" failed in run 1");
  EXPECT_EQ(benchmark(1, 1), "(nothing was thrown)");
}

// Warm-up runs, main runs and runs of single operators are counted from 0.
TEST(RuntimeRefusalsTest, OfBenchmarks) {
  Workspace ws;
  const auto benchmark = [&](int fails_in) {
    const std::unique_ptr<NetBase> net =
        CreateNet(ParseNet(MakeString(
                      R"(name: "n" op { type: "RuntimeRefusalsFailsIn" arg { name: "run" i: )",
                      fails_in, " } }")),
                  &ws);
    return MessageOf([&] { net->TEST_Benchmark(2, 3, true); });
  };
  const std::string failed =
      "net \"n\", operator 0 (RuntimeRefusalsFailsIn): the operator reports a failure "
      "(RunOnDevice returned false)";
  EXPECT_EQ(benchmark(1), failed);
  EXPECT_EQ(benchmark(4), failed);
  EXPECT_EQ(benchmark(7), "operator 0 (RuntimeRefusalsFailsIn) failed");
  EXPECT_EQ(benchmark(8), "(nothing was thrown)");
}

// 2 + 3 runs of the net and 3 of each operator.
TEST(RuntimeRefusalsTest, BenchmarksPrintTheirTimes) {
  Workspace ws;
  const std::unique_ptr<NetBase> net = CreateNet(
      ParseNet(R"(op { type: "ConstantFill" output: "x" } op { type: "Copy" input: "x" output: "y" }
                  op { type: "Copy" input: "x" output: "z" })"),
      &ws);
  testing::internal::CaptureStdout();
  const std::vector<float> times = net->TEST_Benchmark(2, 3, true);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(times.size(), 4u);
  EXPECT_THAT(text,
              testing::MatchesRegex(
                  "Main runs finished. Milliseconds per iter: [^ ]*. Iters per second: [^ ]*\n"
                  "Operator #0 .ConstantFill. [^ ]* ms/iter\n"
                  "Operator #1 .Copy. [^ ]* ms/iter\n"
                  "Operator #2 .Copy. [^ ]* ms/iter\n"
                  "Time per operator type:\n"
                  " *[^ ]* ms. ConstantFill\n"
                  " *[^ ]* ms. Copy\n"));
  // Numbers are flush right in 15 columns.
  const size_t table = text.find("type:\n") + 6;
  EXPECT_EQ(text.find(" ms. ConstantFill") - table, 15u);
  testing::internal::CaptureStdout();
  EXPECT_EQ(net->TEST_Benchmark(0, 1, false).size(), 1u);
  const std::string alone = testing::internal::GetCapturedStdout();
  EXPECT_EQ(alone.find('\n'), alone.size() - 1);
}

TEST(RuntimeRefusalsTest, OfOperators) {
  Workspace ws;
  ws.CreateBlob("x");
  test::Feed<float>(&ws, "f", {2}, {1, 2});
  ws.CreateBlob("s")->GetMutable<std::string>();
  ws.CreateBlob("unshaped")->GetMutableTensor(CPU);
  const auto run = [&](const std::string& text) {
    return MessageOf([&] { ws.RunOperatorOnce(ParseOp(text)); });
  };
  EXPECT_EQ(run(R"(type: "Relu" input: "none" output: "y")"),
            "op Relu: Encountered a non-existing input blob: none");
  EXPECT_EQ(run(R"(type: "Split" input: "f" output: "y" output: "y")"),
            "output \"y\" is listed twice, want different blobs");
  EXPECT_EQ(run(R"(type: "Relu" name: "r" input: "s" output: "y")"),
            "operator Relu \"r\", inputs \"s\" string, output \"y\": input 0 (\"s\") holds string, "
            "want Tensor");
  EXPECT_EQ(
      run(R"(type: "Relu" input: "x" output: "y")"),
      "operator Relu, inputs \"x\" (nothing), output \"y\": input 0 (\"x\") holds nothing, want "
      "Tensor");
  EXPECT_EQ(
      run(R"(type: "Relu" input: "unshaped" output: "y")"),
      "operator Relu, inputs \"unshaped\" (no shape), output \"y\": Unsupported type of tensor: "
      "input 0 (X) has elements of type nullptr (uninitialized), want float");
}

TEST(RuntimeRefusalsTest, OfExecutorOverrides) {
  ExpectRefusals({
      {[] { SetExecutorOverrides("dag,simple,dag"); },
       "executor overrides are \"dag,simple,dag\", want pairs of net types, such as dag,simple"},
      {[] { SetExecutorOverrides("dag,none"); },
       "executor overrides name the net type \"none\", which is not known"},
      {[] { SetExecutorOverrides("none,dag"); },
       "executor overrides name the net type \"none\", which is not known"},
  });
  const auto type = [](const std::string& of) {
    const auto def = std::make_shared<const NetDef>(ParseNet("type: \"" + of + "\""));
    return WithOverriddenType(def)->type();
  };
  EXPECT_EQ(type("dag"), "dag");  // nothing was set
  SetExecutorOverrides("dag,async_scheduling,,simple,dag");
  EXPECT_EQ(type("dag"), "async_scheduling");
  EXPECT_EQ(type("simple"), "dag");
  EXPECT_EQ(type(""), "dag");  // as simple
  EXPECT_EQ(type("async_scheduling"), "async_scheduling");
  // Of two pairs for one type the last one counts, and a new list replaces the old one.
  SetExecutorOverrides("dag,simple,dag,async_scheduling");
  EXPECT_EQ(type("dag"), "async_scheduling");
  EXPECT_EQ(type("simple"), "simple");
  SetExecutorOverrides("dag,dag");
  EXPECT_EQ(type("dag"), "dag");
  EXPECT_EQ(type(""), "");
  SetExecutorOverrides("");
  EXPECT_EQ(type("simple"), "simple");
}

// Computes what its argument names from the input, without optimization at compile time.
class ArithmeticOp final : public Operator<CPUContext> {
 public:
  ArithmeticOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), what_(GetSingleArgument<std::string>("what", "")) {}
  bool RunOnDevice() override {
    const volatile float x = Input(0).data<float>()[0];
    Output(0)->Resize(1);
    float* const y = Output(0)->mutable_data<float>();
    y[0] = 0;
    if (what_ == "division") y[0] = 1 / (x - x);
    if (what_ == "invalid") y[0] = std::isnan((x - x) / (x - x)) ? 1.0f : 0.0f;
    if (what_ == "overflow") y[0] = std::numeric_limits<float>::max() * (x + 1);
    if (what_ == "all") {
      const volatile float a = 1 / (x - x), b = (x - x) / (x - x);
      y[0] = std::isinf(a) && std::isnan(b) ? std::numeric_limits<float>::max() * (x + 1) : 0;
    }
    if (what_ == "nan") y[0] = std::numeric_limits<float>::quiet_NaN();
    if (what_ == "underflow") y[0] = std::numeric_limits<float>::min() / (x + 2);
    return what_ != "false";
  }

 private:
  const std::string what_;
};
REGISTER_CPU_OPERATOR(RuntimeRefusalsArithmetic, ArithmeticOp);
OPERATOR_SCHEMA(RuntimeRefusalsArithmetic);

TEST(RuntimeRefusalsTest, OfFloatingPointExceptions) {
  Workspace ws;
  const auto run = [&](const std::string& what, float x) {
    test::Feed<float>(&ws, "x", {1}, {x});
    const auto op = CreateOperator(
        ParseOp(MakeString(R"(type: "RuntimeRefusalsArithmetic" input: "x" output: "y"
                              arg { name: "what" s: ")",
                           what, "\" }")),
        &ws);
    bool success = false;
    const std::string error = MessageOf([&] { success = RunCheckingFpExceptions(op.get(), 0); });
    return error == "(nothing was thrown)" ? (success ? "true" : "false") : error;
  };
  const std::string off = "; --caffe2_operator_throw_if_fp_exceptions=false turns this check off";
  const std::string raised = "floating-point exception in the operator: ";
  EXPECT_EQ(run("", 1), "true");
  EXPECT_EQ(run("false", 1), "false");
  EXPECT_EQ(run("underflow", 1), "true");
  EXPECT_EQ(run("division", 1), raised + "division by zero (FE_DIVBYZERO)" + off);
  EXPECT_EQ(run("invalid", 1), raised + "invalid operation (FE_INVALID)" + off);
  EXPECT_EQ(run("overflow", 1), raised + "overflow (FE_OVERFLOW)" + off);
  EXPECT_EQ(run("all", 1), raised +
                               "division by zero (FE_DIVBYZERO), invalid operation "
                               "(FE_INVALID), overflow (FE_OVERFLOW)" +
                               off);
  EXPECT_EQ(run("nan", 1), "the operator computes NaN from inputs without NaN" + off);
  EXPECT_EQ(run("nan", std::numeric_limits<float>::quiet_NaN()), "true");
}

}  // namespace
}  // namespace caffe2rt::runtime_refusals_test
