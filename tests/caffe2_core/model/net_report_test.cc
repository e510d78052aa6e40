#include "caffe2_core/model/net_report.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_report_test {
namespace {

// Chooses the second of three kernels in its first run.
class NetReportTestOp final : public Operator<CPUContext>, public ChoosesKernel {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    has_run_ = true;
    Output(0)->Resize(1);
    return true;
  }
  std::optional<KernelChoice> Kernel() const override {
    if (!has_run_) return std::nullopt;
    const auto candidate = [](const std::string& number) {
      return KernelCandidate{.algorithm = "a" + number,
                             .implementation = "i" + number,
                             .x_layout = "x" + number,
                             .y_layout = "y" + number,
                             .reason = "r" + number};
    };
    return KernelChoice{.candidates = {candidate("0"), candidate("1"), candidate("2")},
                        .position = 1};
  }

 private:
  bool has_run_ = false;
};
REGISTER_CPU_OPERATOR(NetReportTest, NetReportTestOp);
OPERATOR_SCHEMA(NetReportTest).NumInputs(0).NumOutputs(1, 2);

TEST(NetReportTest, StatesTheKernelThatEachOperatorHasTaken) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "NetReportTest" output: "y" output: "z" device_option { device_id: 1 } }
      op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 1 } })"));
  for (const bool has_run : {false, true}) {
    if (has_run) ASSERT_TRUE(net->Run());
    const NetReport report = ReportNet({}, net);
    ASSERT_EQ(report.operators.size(), 2u);
    const OperatorReport& op = report.operators[0];
    EXPECT_EQ(op.type, "NetReportTest");
    EXPECT_EQ(op.output, "y") << "the first one";
    EXPECT_EQ(op.device, "CPU:1");
    EXPECT_EQ(op.kernel, has_run ? "a1" : "");
    EXPECT_EQ(op.implementation, has_run ? "i1" : "");
    EXPECT_EQ(op.x_layout, has_run ? "x1" : "");
    EXPECT_EQ(op.y_layout, has_run ? "y1" : "");
    EXPECT_EQ(op.reason, has_run ? "r1" : "");
    EXPECT_EQ(report.operators[1].kernel, "");
    EXPECT_EQ(report.operators[1].device, "CPU");
  }
}

TEST(NetReportTest, StatesTheThreadsThatARunUses) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n")"));
  SetNumThreads(3);
  Preparation preparation;
  EXPECT_EQ(ReportNet(preparation, net).threads, 3) << "those of the process";
  preparation.options.threads = 2;
  EXPECT_EQ(ReportNet(preparation, net).threads, 2);
  SetNumThreads(1);
  preparation.new_constants = {"a"};
  preparation.freed_constants = {"b", "c"};
  const NetReport report = ReportNet(preparation, net);
  EXPECT_EQ(report.new_constants, preparation.new_constants);
  EXPECT_EQ(report.freed_constants, preparation.freed_constants);
  EXPECT_EQ(report.instruction_set, IsaName(CpuIsa()));
  EXPECT_FALSE(report.deterministic);
  EXPECT_TRUE(report.operators.empty());
  EXPECT_EQ(PreparedBytesOf(*net), 0);
}

TEST(NetReportTest, CountsEachPreparedFormOfAnInputOnce) {
  Workspace ws;
  for (const char* name : {"a", "b", "unused"}) Feed<float>(&ws, name, {2}, {1, 2});
  ws.CreateBlob("same")->Reset(new Tensor(ws.GetBlob("a")->Get<Tensor>()));  // shares the memory
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "Add" input: "a" input: "b" output: "y" }
      op { type: "Add" input: "same" input: "a" output: "z" })"));
  EXPECT_EQ(PreparedBytesOf(*net), 0);
  const auto prepare = [&](const char* blob, const char* key, size_t nbytes) {
    ws.GetBlob(blob)->Get<Tensor>().storage()->forms().Get(key, nbytes, [](void*) {});
  };
  prepare("a", "k", 16);
  EXPECT_EQ(PreparedBytesOf(*net), 16);
  prepare("a", "l", 32);
  prepare("b", "k", 64);
  prepare("unused", "k", 128);
  EXPECT_EQ(PreparedBytesOf(*net), 16 + 32 + 64);
  ws.GetBlob("b")->Get<Tensor>().storage()->forms().Clear();
  EXPECT_EQ(PreparedBytesOf(*net), 16 + 32);
}

}  // namespace
}  // namespace caffe2rt::test::net_report_test
