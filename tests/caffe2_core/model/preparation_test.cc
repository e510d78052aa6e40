#include "caffe2_core/model/preparation.h"

#include <string>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/conv/conv_tuning.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::preparation_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::Fetch;
using test::ParseNet;
using ::testing::ElementsAre;

// y = 2 * (3 * x + 1). The Mul can be folded into the Conv.
constexpr char kNet[] = R"(
    name: "n" external_input: "x" external_input: "w" external_input: "b" external_input: "m"
    external_output: "y"
    op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
    op { type: "Mul" input: "t" input: "m" output: "y" })";

// Six convolutions, which are faster on IDEEP for an image of 56 x 56 and 64 channels.
std::string DeepNet() {
  std::string net = "name: \"deep\" external_input: \"x0\" external_input: \"w\" ";
  for (int i = 0; i < 6; ++i) {
    net += MakeString("op { type: \"Conv\" input: \"x", i, "\" input: \"w\" output: \"x", i + 1,
                      "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } }");
  }
  return net;
}

bool RunsOnIdeep(const NetDef& net) {
  return std::any_of(net.op().begin(), net.op().end(), [](const OperatorDef& op) {
    return op.device_option().device_type() == IDEEP;
  });
}

class PreparationTest : public testing::Test {
 protected:
  PreparationTest() {
    Feed<float>(&ws_, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws_, "b", {1}, {1});
    Feed<float>(&ws_, "m", {1}, {2});
    Feed<float>(&ws_, "x", {1, 1, 1, 2}, {5, -1});
  }
  NetDef Prepared(const std::string& net, const PreparationOptions& options) {
    return PrepareNet(ParseNet(net), options, &ws_).net;
  }
  Workspace ws_;
};

TEST_F(PreparationTest, APreparedNetComputesTheSame) {
  const Preparation prepared = PrepareNet(ParseNet(kNet), {.inputs = {"x"}}, &ws_);
  EXPECT_THAT(prepared.passes, testing::Contains("fold_batch_norm"));
  PreparedNet net(prepared.net, {}, std::make_shared<ArenaStock>(), &ws_);
  for (int i = 0; i < 2; ++i) {
    net.Run();
    EXPECT_THAT(Fetch<float>(ws_, "y"), ElementsAre(32, -4));
  }
}

TEST_F(PreparationTest, AWorkspaceCreatesPreparedNets) {
  ASSERT_TRUE(ws_.CreateNet(ParseNet(kNet), PreparationOptions{.inputs = {"x"}}));
  EXPECT_EQ(ws_.GetNet("n")->debug_def().op_size(), 1);
  ASSERT_TRUE(ws_.RunNet("n"));
  EXPECT_THAT(Fetch<float>(ws_, "y"), ElementsAre(32, -4));
  ExpectThrows([&] { ws_.CreateNet(ParseNet(kNet), PreparationOptions{}); }, "refuse to overwrite");
  EXPECT_TRUE(ws_.CreateNet(ParseNet(kNet), PreparationOptions{.optimize = false}, true));
  EXPECT_EQ(ws_.GetNet("n")->debug_def().op_size(), 2);
}

// What each operator is told: an operator keeps what it says itself, and one without such an argument
// is told nothing.
TEST_F(PreparationTest, PassesChoicesToOperators) {
  const NetDef net =
      Prepared(R"(
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: "x" input: "w" output: "b" arg { name: "kernel" i: 1 }
           arg { name: "deterministic" i: 0 } arg { name: "winograd_filter_bytes" i: 9 } }
      op { type: "Relu" input: "x" output: "c" }
      op { type: "If" input: "t" arg { name: "then_net" n {
           op { type: "Conv" input: "x" input: "w" output: "d" arg { name: "kernel" i: 1 } } } } }
      op { type: "RecurrentNetwork" input: "x" output: "r" arg { name: "step_net"
           s: "op { type: \"Conv\" input: \"x\" input: \"w\" output: \"e\" }" } })",
               {.optimize = false, .deterministic = true, .winograd_filter_bytes = 4096});
  const auto told = [](const OperatorDef& op) {
    return std::pair(ArgumentHelper(op).GetSingleArgument<int64_t>("deterministic", -1),
                     ArgumentHelper(op).GetSingleArgument<int64_t>("winograd_filter_bytes", -1));
  };
  const std::pair<int64_t, int64_t> all{1, 4096};
  EXPECT_EQ(told(net.op(0)), all);
  EXPECT_EQ(told(net.op(1)), (std::pair<int64_t, int64_t>{0, 9}));
  EXPECT_EQ(net.op(2).arg_size(), 0);
  EXPECT_EQ(told(net.op(3).arg(0).n().op(0)), all);
  EXPECT_EQ(told(net.op(4).arg(0).n().op(0)), all);
}

TEST_F(PreparationTest, PredictorsPassTheChoicesOn) {
  for (const bool optimize : {true, false}) {
    Predictor predictor(NetDef(), ParseNet(kNet), &ws_,
                        {.run_init = false,
                         .optimize = optimize,
                         .deterministic = true,
                         .winograd_filter_bytes = 4096});
    const ArgumentHelper conv(predictor.ws()->GetNet("n")->debug_def().op(0));
    EXPECT_EQ(conv.GetSingleArgument<int>("deterministic", 0), 1);
    EXPECT_EQ(conv.GetSingleArgument<int64_t>("winograd_filter_bytes", 0), 4096);
  }
}

TEST_F(PreparationTest, AddsNoArgumentsByDefault) {
  const NetDef net = Prepared(kNet, {.optimize = false});
  EXPECT_EQ(net.SerializeAsString(), ParseNet(kNet).SerializeAsString());
}

// A table that wants plain layouts counts for nets and predictors.
TEST_F(PreparationTest, LayoutsFollowTheTable) {
  ws_.RemoveBlob("w");
  Tensor w(std::vector<int64_t>{64, 64, 3, 3}, CPU);
  std::fill_n(w.mutable_data<float>(), w.numel(), 0.01f);
  *BlobGetMutableTensor(ws_.CreateBlob("w"), CPU) = w;
  Feed<float>(&ws_, "x0", {1, 64, 56, 56}, std::vector<float>(64 * 56 * 56, 1));
  const auto on_ideep = [&] { return RunsOnIdeep(Prepared(DeepNet(), {.inputs = {"x0"}})); };
  if (!on_ideep()) GTEST_SKIP() << "on this processor no convolution is placed on IDEEP";
  const auto predictor_on_ideep = [&] {
    const NetDef init = ParseNet(R"(op { type: "ConstantFill" output: "w"
        arg { name: "shape" ints: 64 ints: 64 ints: 3 ints: 3 } arg { name: "value" f: 0.01 } })");
    const TensorShape shape =
        CreateTensorShape(std::vector<int64_t>{1, 64, 56, 56}, TensorProto::FLOAT);
    Predictor predictor(init, ParseNet(DeepNet()), nullptr, {.input_shapes = {{"x0", shape}}});
    return RunsOnIdeep(predictor.ws()->GetNet("deep")->debug_def());
  };
  EXPECT_TRUE(predictor_on_ideep());
  const std::shared_ptr<const ConvTuning> before = GetConvTuning();
  UseConvTuning(MakeString(kConvTuningVersionLine, "\nlayouts\tplain\n"));
  EXPECT_FALSE(on_ideep());
  EXPECT_FALSE(predictor_on_ideep());
  SetConvTuning(before);
}

// The settings of a predictor, as an operator sees them: the threads of its run.
class ReportThreadsOp final : public Operator<CPUContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CPUContext);
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    Output(0)->Resize(1);
    Output(0)->mutable_data<int32_t>()[0] = GetNumThreads();
    return true;
  }
};
OPERATOR_SCHEMA(ReportThreads).NumInputs(0).NumOutputs(1);
REGISTER_CPU_OPERATOR(ReportThreads, ReportThreadsOp);

TEST_F(PreparationTest, EachPredictorUsesItsNumberOfThreads) {
  SetNumThreads(3);
  const NetDef net =
      ParseNet(R"(name: "n" external_output: "y" op { type: "ReportThreads" output: "y" })");
  Predictor one(NetDef(), net, nullptr, {.threads = 1}),
      two(NetDef(), net, nullptr, {.threads = 2}), all(NetDef(), net);
  for (int round = 0; round < 2; ++round) {
    for (const auto& [predictor, threads] :
         {std::pair(&one, 1), std::pair(&two, 2), std::pair(&all, 3)}) {
      Predictor::TensorList out;
      EXPECT_TRUE((*predictor)(Predictor::TensorList(), &out));
      EXPECT_EQ(out[0].data<int32_t>()[0], threads);
      EXPECT_EQ(predictor->Report().threads, threads);
    }
  }
  ExpectThrows([&] { Predictor(NetDef(), net, nullptr, {.threads = 4}); },
               "option threads of the preparation of a net is 4, want 0 to 3, the threads of the "
               "process: SetNumThreads changes them");
  SetNumThreads(1);
}

// Two tables that name different algorithms for one shape.
TEST_F(PreparationTest, EachPredictorUsesItsTable) {
  const auto table = [](const char* algorithm) {
    return ParseConvTuning(MakeString(kConvTuningVersionLine, "\n", IsaName(CpuIsa()),
                                      "\tNCHW\t1x1x1x2\t1\t1x1\t1x1\t0x0\t0x0\t1x1\t1\t", algorithm,
                                      "\t1.0\n"));
  };
  const auto predictor = [&](const std::shared_ptr<const ConvTuning>& tuning) {
    return Predictor(NetDef(), ParseNet(kNet), &ws_,
                     {.run_init = false, .optimize = false, .tuning = tuning});
  };
  Predictor first = predictor(table("im2col")), second = predictor(table("gemm"));
  for (int round = 0; round < 2; ++round) {
    for (const auto& [used, name] : {std::pair(&first, "im2col"), std::pair(&second, "gemm")}) {
      Predictor::TensorMap out;
      EXPECT_TRUE((*used)(Predictor::TensorMap{{"x", ws_.GetBlob("x")->Get<Tensor>()}}, &out));
      EXPECT_EQ(used->Report().operators[0].kernel, name);
      EXPECT_EQ(used->Report().operators[0].reason, "table");
    }
  }
}

TEST_F(PreparationTest, LayoutsFollowTheTableOfTheNet) {
  ws_.RemoveBlob("w");
  test::FeedRandom(&ws_, "w", {64, 64, 3, 3}, -1, 1, 1);
  Feed<float>(&ws_, "x0", {1, 64, 56, 56}, std::vector<float>(64 * 56 * 56, 1));
  PreparationOptions options{.inputs = {"x0"}};
  if (!RunsOnIdeep(Prepared(DeepNet(), options)))
    GTEST_SKIP() << "on this processor no convolution is placed on IDEEP";
  options.tuning = ParseConvTuning(MakeString(kConvTuningVersionLine, "\nlayouts\tplain\n"));
  EXPECT_FALSE(RunsOnIdeep(Prepared(DeepNet(), options)));
  EXPECT_FALSE(PrefersPlainConvLayouts());
}

TEST_F(PreparationTest, AnotherInstructionSetIsAnError) {
  EXPECT_EQ(Prepared(kNet, {.isa = CpuIsa()}).op_size(), Prepared(kNet, {}).op_size());
  const Isa other = CpuIsa() == Isa::kPlain ? Isa::kAvx2 : Isa::kPlain;
  ExpectThrows([&] { Prepared(kNet, {.isa = other}); },
               MakeString("option isa of the preparation of a net is ", IsaName(other), ", want ",
                          IsaName(CpuIsa()), ", that of the process"));
}

TEST_F(PreparationTest, SettingsOfRunsNeedAPreparedNet) {
  ExpectThrows([&] { ws_.CreateNet(ParseNet(kNet), PreparationOptions{.threads = 1}); },
               "options threads and tuning are settings of the runs of a PreparedNet or Predictor");
}

// What a net states: 35 dB with filters of 8 bits, 25 with those for machines without VNNI, 40 with bf16.
TEST_F(PreparationTest, AutoIsTheLowestPrecisionThatSuffices) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  NetDef net = ParseNet(kNet);
  EXPECT_EQ(ChosenPrecision(net, {.precision = Precision::kAuto}), Precision::kFloat32);
  *net.mutable_op(0)->add_arg() = MakeArgument("input_min", 0.0f);
  *net.mutable_op(0)->add_arg() = MakeArgument("input_max", 5.0f);
  *net.add_arg() = MakeArgument(kInt8SnrArgument, 35.0f);
  *net.add_arg() = MakeArgument(kPairLimitedSnrArgument, 25.0f);
  *net.add_arg() = MakeArgument(kBf16SnrArgument, 40.0f);
  const double whole = MultipliesWholeBytes() ? 35 : 25;
  const Precision bf16 = WhyNoBf16Convs().empty() ? Precision::kBfloat16 : Precision::kFloat32;
  const struct {
    double min_snr_db;
    bool deterministic;
    Precision want;
  } rows[] = {{25, true, Precision::kInt8},
              {25.5, true, Precision::kFloat32},
              {whole, false, Precision::kInt8},
              {whole + 0.5, false, bf16},
              {40, false, bf16},
              {40.5, false, Precision::kFloat32}};
  for (const auto& row : rows) {
    const PreparationOptions options{.deterministic = row.deterministic,
                                     .precision = Precision::kAuto,
                                     .min_snr_db = row.min_snr_db};
    EXPECT_EQ(ChosenPrecision(net, options), row.want) << row.min_snr_db << row.deterministic;
    EXPECT_EQ(WhyFloat32(net, options).empty(), row.want != Precision::kFloat32);
  }
  EXPECT_EQ(ChosenPrecision(net, {.precision = Precision::kInt8, .min_snr_db = 99}),
            Precision::kInt8);
}

// Why a precision is not used, as far as that does not depend on the machine.
TEST_F(PreparationTest, ReasonsForOtherPrecisions) {
  const NetDef conv = ParseNet(kNet);
  const std::string pass =
      "the graph pass onednn_regions, which places bf16 convolutions, is not applied";
  for (const Precision precision : {Precision::kBfloat16, Precision::kInt8}) {
    EXPECT_EQ(WhyConvsFloat32(conv, {.optimize = false, .precision = precision}), pass);
    EXPECT_EQ(WhyConvsFloat32(conv, {.without_passes = {"onednn_regions"}, .precision = precision}),
              pass);
    EXPECT_EQ(WhyFloat32(conv, {.optimize = false, .precision = precision}), pass);
  }
  EXPECT_EQ(WhyConvsFloat32(conv, {.optimize = false}), "");
  EXPECT_EQ(WhyFloat32(conv, {.optimize = false}), "");
  EXPECT_EQ(OtherConvPrecision(conv, {.optimize = false}), "");
  EXPECT_EQ(WhyConvsFloat32(conv, {.precision = Precision::kBfloat16}), WhyNoBf16Convs());
  // Ranges of inputs, which int8 needs.
  NetDef ranged = conv;
  *ranged.mutable_op(0)->add_arg() = MakeArgument("input_max", 5.0f);
  const std::string no_int8 = WhyNoInt8Convs();
  EXPECT_EQ(WhyConvsFloat32(ranged, {.precision = Precision::kInt8}), no_int8);
  EXPECT_EQ(WhyConvsFloat32(conv, {.precision = Precision::kInt8}),
            no_int8.empty() ? "the net states no ranges of inputs; caffe2 quantize measures them"
                            : no_int8);
  // Auto, by what the net states.
  const auto why = [&](const std::string& args, bool deterministic) {
    return WhyFloat32(
        ParseNet(args + kNet),
        {.deterministic = deterministic, .precision = Precision::kAuto, .min_snr_db = 30});
  };
  EXPECT_EQ(why("", true),
            "the net does not state what lower precisions cost; caffe2 quantize measures it");
  // The bytes of bf16 depend on the machine.
  EXPECT_EQ(why("arg { name: 'snr_bf16' f: 30 } ", true),
            "the machine does not have the precision that the net states to suffice");
  EXPECT_EQ(why("arg { name: 'snr_bf16' f: 29.5 } ", true),
            "of the wanted 30 dB of signal to noise, int8 has no and bf16 29.5");
  EXPECT_EQ(
      why("arg { name: 'snr_int8_pair_limited' f: 25 } arg { name: 'snr_int8' f: 35 } ", true),
      "of the wanted 30 dB of signal to noise, int8 has 25 and bf16 no");
  EXPECT_EQ(why("arg { name: 'snr_int8' f: 35 } ", true),
            "the net does not state what lower precisions cost; caffe2 quantize measures it");
}

// Fully connected layers may have a precision that the convolutions beside them have not.
TEST_F(PreparationTest, ConvolutionsBesideFullyConnectedLayers) {
  const NetDef net = ParseNet(R"(name: "n"
      op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 1 } }
      op { type: "FC" input: "t" input: "v" input: "c" output: "y" })");
  const NetDef fc =
      ParseNet(R"(name: "n" op { type: "FC" input: "t" input: "v" input: "c" output: "y" })");
  const std::string pass =
      "the graph pass onednn_regions, which places bf16 convolutions, is not applied";
  for (const Precision precision : {Precision::kBfloat16, Precision::kInt8}) {
    const PreparationOptions without{.without_passes = {"onednn_regions"}, .precision = precision};
    const bool has_products = WhyNoProductsIn(precision).empty();
    EXPECT_EQ(WhyFloat32(net, without), has_products ? "" : pass);
    EXPECT_EQ(OtherConvPrecision(net, without),
              has_products ? "convolutions are computed in f32, because " + pass : "");
    EXPECT_EQ(OtherConvPrecision(fc, without), "");
    EXPECT_EQ(WhyFloat32(net, {.without_passes = {"onednn_regions", "matmul_precisions"},
                               .precision = precision}),
              pass);
  }
}

TEST_F(PreparationTest, ErrorsNameTheirSubject) {
  ExpectThrows([&] { PrepareNet(ParseNet(kNet), {.without_passes = {"fold_batchnorm"}}, &ws_); },
               "no graph pass is named \"fold_batchnorm\"");
  ExpectThrows([&] { PrepareNet(ParseNet(kNet), {}, nullptr); },
               "argument ws of PrepareNet is null");
  NetDef unknown = ParseNet(kNet);
  unknown.set_type("fast");
  ExpectThrows([&] { PreparedNet(unknown, {}, nullptr, &ws_); },
               "net \"n\" has type \"fast\", which is not known");
}

// Notes the settings of the thread where it is made, plans and runs.
class ReportSettingsOp final : public Operator<CPUContext>, public PlansAhead {
 public:
  static inline std::vector<std::string> seen;
  ReportSettingsOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    Note("made");
  }
  bool RunOnDevice() override {
    Note("runs");
    Output(0, Input(0).sizes(), Input(0).dtype());
    return true;
  }
  void PlanAhead(const AheadInputs&) override {
    Note("plans");
    Output(0, Input(0).sizes(), Input(0).dtype());
  }

 private:
  static void Note(const char* what) {
    seen.push_back(MakeString(what, " ", GetNumThreads(), WorksForAnyMachine() ? " any" : "",
                              t_thread_state.conv_tuning != nullptr ? " tuned" : ""));
  }
};
OPERATOR_SCHEMA(ReportSettings).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(ReportSettings, ReportSettingsOp);

TEST_F(PreparationTest, SettingsHoldWhereANetIsMadePlansAndRuns) {
  SetNumThreads(3);
  const auto tuning = ParseConvTuning(MakeString(kConvTuningVersionLine, "\nlayouts\tplain\n"));
  const struct {
    PreparationOptions options;
    const char* want;
  } rows[] = {
      {{}, "3"},
      {{.threads = 2}, "2"},
      {{.tuning = tuning}, "3 tuned"},
      {{.deterministic = true, .precision = Precision::kInt8}, "3 any"},
      {{.deterministic = true, .precision = Precision::kInt8, .threads = 1, .tuning = tuning},
       "1 any tuned"},
      {{.deterministic = true, .precision = Precision::kBfloat16}, "3"},
      {{.precision = Precision::kInt8}, "3"},
  };
  for (const auto& row : rows) {
    Workspace ws;
    Feed<float>(&ws, "x", {2}, {1, 2});
    Preparation preparation;
    preparation.options.inputs = {"x"};
    const auto def = std::make_shared<const NetDef>(
        ParseNet(R"(name: "n" external_input: "x" external_output: "y"
                    op { type: "ReportSettings" input: "x" output: "y" })"));
    ReportSettingsOp::seen.clear();
    PreparedNet net(def, {}, std::make_shared<ArenaStock>(), &ws, "simple", row.options);
    net.PlanAhead(preparation);
    net.Run();
    const std::string want = row.want;
    EXPECT_THAT(ReportSettingsOp::seen,
                ElementsAre("made " + want, "plans " + want, "runs " + want));
    EXPECT_EQ(GetNumThreads(), 3);
    EXPECT_FALSE(WorksForAnyMachine());
  }
  SetNumThreads(1);
}

}  // namespace
}  // namespace caffe2rt::preparation_test
