// Errors of single operators, of copies between devices, of stops and of flags, whole; and the values
// just inside the bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/debug_options.h"
#include "caffe2_core/runtime/init.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_engines.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/shared_operator_def.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::operator_refusals_test {
namespace {

using test::ExpectRefusals;
using test::MessageOf;
using test::ParseNet;
using test::ParseOp;

class ProbeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(OperatorRefusalsProbe, ProbeOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(OperatorRefusalsProbe, QUICK, ProbeOp);
OPERATOR_SCHEMA(OperatorRefusalsProbe).NumInputs(0, 3).NumOutputs(0, 3);

TEST(OperatorRefusalsTest, OfBlobsThatDoNotExist) {
  Workspace ws;
  test::Feed<float>(&ws, "x", {2}, {1, 2});
  const auto op = CreateOperator(
      ParseOp(R"(type: "OperatorRefusalsProbe" input: "x" input: "x" output: "y")"), &ws);
  const std::string has =
      " of operator OperatorRefusalsProbe does not exist: it has 2 inputs and 1 output";
  ExpectRefusals({
      {[&] { (void)op->InputBlob(2); }, "input 2" + has},
      {[&] { (void)op->InputBlob(-1); }, "input -1" + has},
      {[&] { (void)op->OutputBlob(1); }, "output 1" + has},
      {[&] { (void)op->OutputBlob(-1); }, "output -1" + has},
      {[&] { (void)op->Input<std::string>(1); }, "input 1 (\"x\") holds Tensor, want string"},
      {[&] { ProbeOp(ParseOp(R"(type: "P")"), nullptr); }, "an operator needs a workspace"},
      {[] { SharedOperatorDef scope(nullptr); }, "argument def of SharedOperatorDef is null"},
  });
  EXPECT_NO_THROW((void)op->InputBlob(1));
  EXPECT_NO_THROW((void)op->OutputBlob(0));
  op->DisableEvent();
  EXPECT_EQ(MessageOf([&] { (void)op->event(); }),
            "the event of operator OperatorRefusalsProbe is disabled");
  EXPECT_TRUE(op->RunAsync());  // needs none
}

TEST(OperatorRefusalsTest, OfWishesForCopies) {
  Workspace ws;
  const auto create = [&](const std::string& value) {
    return MessageOf([&] {
      (void)CreateNet(ParseNet("name: \"n\" arg { name: \"inject_copies\" " + value + " }"), &ws);
    });
  };
  const std::string begin = "net \"n\": argument inject_copies is name: \"inject_copies\"";
  EXPECT_EQ(create("i: 2"), begin + " i: 2, want i: 0 or 1");
  EXPECT_EQ(create("i: -1"), begin + " i: -1, want i: 0 or 1");
  EXPECT_EQ(create("f: 1"), begin + " f: 1, want i: 0 or 1");
  EXPECT_EQ(create("i: 0"), "(nothing was thrown)");
  EXPECT_EQ(create("i: 1"), "(nothing was thrown)");
}

TEST(OperatorRefusalsTest, OfEngines) {
  const auto message = [](int device) {
    return MakeString("device type ", device, " is not known, want 0 (CPU) to 31");
  };
  ExpectRefusals({
      {[] {
         SetGlobalEnginePref({{32, {"QUICK"}}});
       },
       message(32)},
      {[] {
         SetPerOpEnginePref({{-1, {}}});
       },
       message(-1)},
      {[] {
         SetOpEnginePref("OperatorRefusalsProbe", {{CPU, {"QUICK"}}, {32, {}}});
       },
       message(32)},
      {[] {
         SetEnginePref({{CPU, {{"OperatorRefusalsProbe", {"QUICK"}}}}}, {{32, {}}});
       },
       message(32)},
  });
  SetPerOpEnginePref({});
  // The engine that runs is named by the net, or chosen by a rule.
  Workspace ws;
  const auto reason = [&](const std::string& engine) {
    OperatorDef def = ParseOp(R"(type: "OperatorRefusalsProbe")");
    def.set_engine(engine);
    const std::optional<KernelChoice> choice = KernelOf(*CreateOperator(def, &ws));
    if (!choice.has_value()) return std::string("none");
    return MakeString(choice->taken().algorithm, " ", choice->taken().implementation, ", ",
                      choice->taken().reason);
  };
  EXPECT_EQ(reason(""), "none");
  EXPECT_EQ(reason("OTHER"), "none");
  EXPECT_EQ(reason("QUICK"), "QUICK engine, engine named by the net");
  SetOpEnginePref("OperatorRefusalsProbe", {{CPU, {"QUICK"}}});
  EXPECT_EQ(reason(""), "QUICK engine, rule");
  SetPerOpEnginePref({});
  EXPECT_EQ(reason(""), "none");
}

TEST(OperatorRefusalsTest, OfRunsThatWereStopped) {
  const std::string waited = "the run was stopped while the operator waited or looped";
  const std::string between = "the run was stopped before the operator started";
  const std::string nothing = "(nothing was thrown)";
  const auto waits = [] { return MessageOf([] { ThrowIfStopped(); }); };
  const auto starts = [] { return MessageOf([] { ThrowIfStoppedBetweenOperators(); }); };
  EXPECT_EQ(waits(), nothing);
  EXPECT_EQ(starts(), nothing);
  std::atomic<bool> stopped = false;
  const StopScope outer(stopped);
  EXPECT_FALSE(outer.has_outer());
  EXPECT_EQ(StopScope::Innermost(), &outer);
  EXPECT_EQ(waits(), nothing);
  {
    const StopScope inner([] { return false; });
    EXPECT_TRUE(inner.has_outer());
    EXPECT_EQ(StopScope::Innermost(), &inner);
    stopped = true;
    EXPECT_EQ(waits(), waited);
    EXPECT_EQ(starts(), between);
    // A reporter ends its waits, but not between operators.
    const StopScope reporter([] { return true; }, &inner, StopScope::Ends::kWaits);
    EXPECT_EQ(waits(), waited);
    EXPECT_EQ(starts(), nothing);
    const StopScope alone([] { return false; }, nullptr);
    EXPECT_FALSE(alone.has_outer());
    EXPECT_EQ(waits(), nothing);
    EXPECT_EQ(starts(), nothing);
  }
  EXPECT_EQ(StopScope::Innermost(), &outer);
  EXPECT_EQ(starts(), between);
  stopped = false;
  EXPECT_EQ(starts(), nothing);
  EXPECT_EQ(waits(), nothing);
}

// A thread gives back only the innermost turn, and takes it again.
TEST(OperatorRefusalsTest, WaitingGivesTheInnermostTurnBack) {
  class CountedTurn final : public Turn {
   public:
    void GiveBack() override { text += "<"; }
    void TakeAgain() override { text += ">"; }
    std::string text;
  };
  { const WaitingThread waiting; }  // without a turn
  CountedTurn outer;
  {
    CountedTurn inner;
    {
      const WaitingThread waiting;
      EXPECT_EQ(inner.text, "<");
    }
    EXPECT_EQ(inner.text, "<>");
    EXPECT_EQ(outer.text, "");
  }
  { const WaitingThread waiting; }
  EXPECT_EQ(outer.text, "<>");
}

std::string InitError(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  char** pointer = argv.data();
  return MessageOf([&] { GlobalInit(&argc, &pointer); });
}

TEST(OperatorRefusalsTest, OfFlags) {
  const std::string nothing = "(nothing was thrown)";
  const int threads = GetNumThreads();
  for (const std::string flag : {"--caffe2_omp_num_threads=", "--caffe2_mkl_num_threads="}) {
    EXPECT_NE(InitError({flag + "1025"}).find("1025 threads, want 0 (no change) to 1024"),
              std::string::npos);
    EXPECT_NE(InitError({flag + "-1"}).find("-1 threads, want 0 (no change) to 1024"),
              std::string::npos);
    EXPECT_EQ(GetNumThreads(), threads);
    EXPECT_EQ(InitError({flag + "2"}), nothing);
    EXPECT_EQ(GetNumThreads(), 2);
    EXPECT_EQ(InitError({flag + "0"}), nothing);
    EXPECT_EQ(GetNumThreads(), 2);
    EXPECT_EQ(InitError({flag + "1"}), nothing);
    EXPECT_EQ(GetNumThreads(), 1);
  }
  if (!test::kHasThreadSanitizer) {
    EXPECT_EQ(InitError({"--caffe2_omp_num_threads=1024"}), nothing);
    EXPECT_EQ(GetNumThreads(), 1024);
  }
  SetNumThreads(threads);
  int argc = 1;
  char** argv = nullptr;
  const std::string null = "argument argc or argv of GlobalInit is null";
  EXPECT_EQ(MessageOf([&] { GlobalInit(nullptr, &argv); }), null);
  EXPECT_EQ(MessageOf([&] { GlobalInit(&argc, nullptr); }), null);
  EXPECT_EQ(MessageOf([&] { GlobalInit(&argc, &argv); }), null);
  argc = 0;
  EXPECT_EQ(MessageOf([&] { GlobalInit(&argc, &argv); }), nothing);
}

// Each flag sets the option of its name alone.
TEST(OperatorRefusalsTest, FlagsSetTheirOwnOption) {
  DebugOptions& debug = GlobalDebugOptions();
  auto& shrink = GlobalTensorShrinkOptions();
  auto& files = GlobalSerializationSettings();
  const auto state = [&] {
    return MakeString(debug.print_blob_sizes_at_exit, debug.collect_dag_statistics,
                      debug.throw_if_fp_exceptions, shrink.keep_on_shrink, files.fp16_as_bytes, " ",
                      shrink.max_keep_on_shrink_bytes, " ", files.tensor_chunk_size);
  };
  EXPECT_EQ(InitError({}), "(nothing was thrown)");
  const std::string before = state();
  struct Row {
    const char* flag;
    size_t digit;  // of the state
    bool value;
  };
  for (const Row& row :
       {Row{"caffe2_print_blob_sizes_at_exit", 0, true},
        Row{"caffe2_dag_net_collect_stats", 1, true},
        Row{"caffe2_operator_throw_if_fp_exceptions", 2, true},
        Row{"caffe2_keep_on_shrink", 3, false}, Row{"caffe2_serialize_fp16_as_bytes", 4, true}}) {
    const bool was = before[row.digit] == '1';
    std::string changed = before;
    changed[row.digit] = was ? '0' : '1';
    EXPECT_EQ(was, !row.value) << row.flag;
    EXPECT_EQ(InitError({MakeString("--", row.flag, "=", was ? "false" : "true")}),
              "(nothing was thrown)");
    EXPECT_EQ(state(), changed) << row.flag;
    InitError({MakeString("--", row.flag, "=", was ? "true" : "false")});
    EXPECT_EQ(state(), before);
  }
  EXPECT_EQ(InitError({"--caffe2_max_keep_on_shrink_memory=12345"}), "(nothing was thrown)");
  EXPECT_EQ(state().substr(5, 7), " 12345 ");
  InitError(
      {MakeString("--caffe2_max_keep_on_shrink_memory=", before.substr(6, before.rfind(' ') - 6))});
  EXPECT_EQ(state(), before);
}

constexpr auto kOtherDevice = static_cast<DeviceType>(27);
REGISTER_DEVICE_OPERATOR(27, OperatorRefusalsElsewhere, ProbeOp);
OPERATOR_SCHEMA(OperatorRefusalsElsewhere);
REGISTER_CUDA_OPERATOR(OperatorRefusalsOnCuda, ProbeOp);
REGISTER_CUDA_OPERATOR_STR("OperatorRefusalsCudaText", ProbeOp);
REGISTER_CUDNN_OPERATOR(OperatorRefusalsOnCuda, ProbeOp);
OPERATOR_SCHEMA(OperatorRefusalsOnCuda);
OPERATOR_SCHEMA(OperatorRefusalsCudaText);
REGISTER_CPU_OPERATOR_STR("OperatorRefusalsCpuText", ProbeOp);
OPERATOR_SCHEMA(OperatorRefusalsCpuText);

TEST(OperatorRefusalsTest, EachMacroRegistersForItsDeviceAlone) {
  const struct {
    const char* key;
    DeviceType device;
  } rows[] = {{"OperatorRefusalsElsewhere", kOtherDevice},
              {"OperatorRefusalsOnCuda", CUDA},
              {"OperatorRefusalsCudaText", CUDA},
              {"OperatorRefusalsOnCuda_ENGINE_CUDNN", CUDA},
              {"OperatorRefusalsCpuText", CPU},
              {"OperatorRefusalsProbe", CPU},
              {"OperatorRefusalsProbe_ENGINE_QUICK", CPU}};
  for (const auto& row : rows) {
    for (const DeviceType device : {CPU, CUDA, kOtherDevice}) {
      EXPECT_EQ(OperatorRegistryOf(device)->Has(row.key), device == row.device)
          << row.key << " " << device;
    }
  }
  EXPECT_TRUE(HasOperator(kOtherDevice, "OperatorRefusalsElsewhere"));
  EXPECT_FALSE(HasOperator(CPU, "OperatorRefusalsElsewhere"));
  const std::vector<std::string> types = RegisteredOperatorTypes(kOtherDevice);
  EXPECT_EQ(types, std::vector<std::string>{"OperatorRefusalsElsewhere"});
  EXPECT_EQ(OpRegistryKey("Relu", "CUDNN"), "Relu_ENGINE_CUDNN");
  EXPECT_EQ(OpRegistryKey("Relu", ""), "Relu");
  EXPECT_EQ(OpRegistryKey("Relu", "DEFAULT"), "Relu");
}

TEST(OperatorRefusalsTest, MissingOperatorsAreExplainedByTheirDevice) {
  // The CPU has it, the other device has not.
  const std::string elsewhere = ExplainMissingOperator("OperatorRefusalsProbe", kOtherDevice);
  EXPECT_THAT(elsewhere, testing::HasSubstr("Cannot create operator of type "
                                            "'OperatorRefusalsProbe' on the device"));
  EXPECT_THAT(elsewhere, testing::Not(testing::HasSubstr("none of its engines")));
  EXPECT_THAT(elsewhere, testing::HasSubstr("this type is not known"));
  EXPECT_THAT(ExplainMissingOperator("OperatorRefusalsProbe", CPU),
              testing::HasSubstr("none of its engines supports this def"));
  EXPECT_THAT(ExplainMissingOperator("OperatorRefusalsElsewere", kOtherDevice),
              testing::HasSubstr("; close: OperatorRefusalsElsewhere"));
  EXPECT_THAT(ExplainMissingOperator("OperatorRefusalsElsewere", CPU),
              testing::Not(testing::HasSubstr("close: OperatorRefusalsElsewhere")));
}

}  // namespace
}  // namespace caffe2rt::operator_refusals_test
