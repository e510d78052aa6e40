#include <cstdio>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/prepared_forms.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_ahead_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::Fetch;
using test::ParseNet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kTaps[] = R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })";

// Convolutions with Relu, pools, and a sum: with graph passes ConvFusion on IDEEP or on the CPU.
std::string Images() {
  std::string net = "name: \"images\" external_output: \"y\" ";
  std::string from = "x";
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string w = from == "x" ? "w3" : "w64";
    net += MakeString("op { type: \"Conv\" input: \"", from, "\" input: \"", w, "\" output: \"",
                      name, "\" ", kTaps, " } op { type: \"Relu\" input: \"", name, "\" output: \"",
                      name, "\" } ");
    from = name;
  }
  return net + R"(op { type: "Sum" input: "d" input: "b" output: "s" }
                  op { type: "MaxPool" input: "s" output: "y" arg { name: "kernel" i: 2 }
                       arg { name: "stride" i: 2 } })";
}

// FCFusion after graph passes, which packs W for 8 rows.
constexpr char kMatrix[] = R"(name: "matrix" external_output: "z"
    op { type: "FC" input: "v" input: "m" input: "n" output: "t" }
    op { type: "Relu" input: "t" output: "z" })";

constexpr char kQuantized[] = R"(name: "quantized" external_output: "z"
    op { type: "Int8Quantize" input: "v" output: "q" arg { name: "Y_scale" f: 0.02 } }
    op { type: "Int8FC" input: "q" input: "qw" input: "qb" output: "r"
         arg { name: "Y_scale" f: 0.5 } arg { name: "Y_zero_point" i: 128 } }
    op { type: "Int8Dequantize" input: "r" output: "z" })";

class PlanAheadTest : public testing::Test {
 protected:
  static void FeedWeights(Workspace* ws) {
    for (const char* input : {"x", "v"}) ws->CreateBlob(input);
    FeedRandom(ws, "w3", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
    FeedRandom(ws, "w64", {64, 64, 3, 3}, -0.04f, 0.04f, 2);
    FeedRandom(ws, "m", {16, 32}, -1, 1, 3);
    FeedRandom(ws, "n", {16}, -1, 1, 4);
    auto* const filter = ws->CreateBlob("qw")->GetMutable<Int8TensorCPU>();
    filter->zero_point = 100;
    filter->t.Resize(16, 32);
    for (int i = 0; i < 512; ++i) filter->t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i);
    auto* const bias = ws->CreateBlob("qb")->GetMutable<Int8TensorCPU>();
    bias->t.Resize(16);
    std::fill_n(bias->t.mutable_data<int32_t>(), 16, 7);
  }
  static PreparationOptions Options() {
    const auto shape = [](const std::vector<int64_t>& dims) {
      return CreateTensorShape(dims, TensorProto::FLOAT);
    };
    return {.inputs = {"x", "v"},
            .input_shapes = {{"x", shape({1, 3, 56, 56})}, {"v", shape({8, 32})}}};
  }
  static void FeedInputs(Workspace* ws) {
    FeedRandom(ws, "x", {1, 3, 56, 56}, -1, 1, 5);
    FeedRandom(ws, "v", {8, 32}, 0, 1, 6);
  }
  static int64_t Made() { return PreparedForms::Count().made; }
};

struct Planned {
  Planned(const std::string& text, const PreparationOptions& options, Workspace* ws)
      : preparation(PrepareNet(ParseNet(text), options, ws)),
        net(preparation.net, {}, std::make_shared<ArenaStock>(), ws, "simple", options) {}
  Preparation preparation;
  PreparedNet net;
};

// What is prepared ahead is what a run prepares: the same number of forms and bytes, and no form is
// made in the run.
TEST_F(PlanAheadTest, PreparesTheWeightsThatARunPrepares) {
  for (const std::string& text : {Images(), std::string(kMatrix), std::string(kQuantized)}) {
    for (const bool optimize : {true, false}) {
      SCOPED_TRACE(MakeString(text.substr(0, 20), optimize ? " optimized" : ""));
      PreparationOptions options = Options();
      options.optimize = optimize;
      Workspace plain_ws, ahead_ws;
      FeedWeights(&plain_ws);
      FeedWeights(&ahead_ws);
      Planned plain(text, options, &plain_ws), ahead(text, options, &ahead_ws);

      int64_t before = Made();
      FeedInputs(&plain_ws);
      plain.net.Run();
      const int64_t by_run = Made() - before;

      before = Made();
      EXPECT_THAT(ahead.net.PlanAhead(ahead.preparation), IsEmpty());
      EXPECT_EQ(Made() - before, by_run);
      EXPECT_EQ(PreparedBytesOf(ahead.net.net()), PreparedBytesOf(plain.net.net()));
      if (text != kMatrix || optimize) EXPECT_GT(PreparedBytesOf(ahead.net.net()), 0);

      before = Made();
      FeedInputs(&ahead_ws);
      ahead.net.Run();
      EXPECT_EQ(Made() - before, 0);
      const std::string output = ahead.preparation.net.external_output(0);
      EXPECT_EQ(Fetch<float>(ahead_ws, output), Fetch<float>(plain_ws, output));
    }
  }
}

// Operators between two convolutions that keep the layouts of oneDNN: the second convolution is planned,
// too, because the layout of its input is known.
TEST_F(PlanAheadTest, PlansBehindOperatorsInTheLayoutsOfOneDnn) {
  struct Case {
    const char* type;
    const char* rest;    // of the definition
    const char* filter;  // of the second convolution
  };
  for (const Case& c :
       {Case{"PRelu", R"(input: "p")", "w64"},
        Case{"LRN", R"(arg { name: "size" i: 5 } arg { name: "alpha" f: 0.1 })", "w64"},
        Case{"ChannelShuffle", R"(arg { name: "group" i: 4 } arg { name: "kernel" i: 1 })", "w64"},
        Case{"ResizeNearest",
             R"(arg { name: "width_scale" f: 2 } arg { name: "height_scale" f: 2 })", "w64"},
        Case{"UpsampleNearest", R"(arg { name: "scale" i: 2 })", "w64"},
        Case{"Add", R"(input: "p" arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })",
             "w64"},
        Case{"Mul", R"(input: "a")", "w64"},
        Case{"Split", R"(output: "b2" arg { name: "axis" i: 1 })", "w32"}}) {
    SCOPED_TRACE(c.type);
    Workspace plain_ws, ahead_ws;
    for (Workspace* const ws : {&plain_ws, &ahead_ws}) {
      FeedWeights(ws);
      FeedRandom(ws, "p", {64}, 0.1f, 0.9f, 7);
      FeedRandom(ws, "w32", {64, 32, 3, 3}, -0.04f, 0.04f, 8);
    }
    const std::string text = MakeString(
        R"(name: "layouts" external_output: "y" op { type: "Conv" input: "x" input: "w3" output: "a" )",
        kTaps, " } op { type: \"", c.type, "\" input: \"a\" output: \"b\" ", c.rest,
        " } op { type: \"Conv\" input: \"b\" input: \"", c.filter, "\" output: \"y\" ", kTaps,
        " }");
    Planned plain(text, Options(), &plain_ws), ahead(text, Options(), &ahead_ws);
    EXPECT_THAT(ahead.net.PlanAhead(ahead.preparation), IsEmpty());
    const int64_t before = Made();
    FeedInputs(&plain_ws);
    FeedInputs(&ahead_ws);
    ahead.net.Run();
    EXPECT_EQ(Made(), before);
    plain.net.Run();
    EXPECT_EQ(Fetch<float>(ahead_ws, "y"), Fetch<float>(plain_ws, "y"));
  }
}

// Blobs in planned memory belong to the net alone.
TEST_F(PlanAheadTest, ChangesNoBlobOutsideThePlannedMemory) {
  Workspace ws;
  FeedWeights(&ws);
  Planned planned(Images(), Options(), &ws);
  const auto is_unwritten = [&](const std::string& name) {
    const Blob& blob = *ws.GetBlob(name);
    return blob.IsEmpty() || !blob.Get<Tensor>().IsShaped();
  };
  planned.net.PlanAhead(planned.preparation);
  planned.net.memory().Release();
  for (const OperatorDef& op : planned.preparation.net.op()) {
    for (const std::string& name : op.output()) {
      const Tensor* const tensor = FindTensor(*ws.GetBlob(name));
      EXPECT_TRUE(is_unwritten(name) || tensor->storage() == nullptr ||
                  tensor->storage()->data() == nullptr)
          << name;
    }
  }
  EXPECT_TRUE(is_unwritten("x"));
  EXPECT_TRUE(is_unwritten("y"));
}

// Also where the operators do not run ahead: a file is written by the run alone.
TEST_F(PlanAheadTest, HasTheMemoryOfOutputsReadyForTheFirstRun) {
  const std::string path = testing::TempDir() + "plan_ahead_outputs.minidb";
  const std::string save = MakeString(R"(op { type: "Save" input: "y" arg { name: "db" s: ")", path,
                                      R"(" } arg { name: "db_type" s: "minidb" }
                                      arg { name: "absolute_path" i: 1 } })");
  for (const std::string& last : {std::string(), save}) {
    std::remove(path.c_str());
    Workspace ws;
    ws.CreateBlob("v");
    Planned planned(R"(name: "outputs" external_output: "y"
        op { type: "Relu" input: "v" output: "y" } )" + last,
                    Options(), &ws);
    planned.net.PlanAhead(planned.preparation);
    EXPECT_TRUE(ws.GetBlob("y")->IsEmpty());
    FeedRandom(&ws, "v", {8, 32}, -1, 1, 6);
    const size_t before = GetCPUMemoryUsage().in_use_bytes;
    planned.net.Run();
    EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before) << last;
    EXPECT_EQ(Fetch<float>(ws, "y").size(), 8u * 32) << last;
  }
  std::remove(path.c_str());
}

// Inputs of another shape than those that were planned for, and an output that others have filled.
TEST_F(PlanAheadTest, OutputsMayComeOutDifferently) {
  for (const int64_t rows : {1, 9}) {
    for (const bool fed : {false, true}) {
      Workspace ws;
      ws.CreateBlob("v");
      Planned planned(R"(name: "outputs" external_output: "y"
          op { type: "Relu" input: "v" output: "y" })",
                      Options(), &ws);
      planned.net.PlanAhead(planned.preparation);
      Feed<float>(&ws, "v", {rows, 1}, std::vector<float>(static_cast<size_t>(rows), 3));
      if (fed) Feed<float>(&ws, "y", {3}, {7, 8, 9});
      planned.net.Run();
      EXPECT_EQ(Fetch<float>(ws, "y"), std::vector<float>(static_cast<size_t>(rows), 3));
    }
  }
}

// The first run fails before the operator that would write the output.
TEST_F(PlanAheadTest, FilledOutputsStayIfTheRunFails) {
  Workspace ws;
  ws.CreateBlob("v");
  Planned planned(R"(name: "outputs" external_output: "y"
      op { type: "Relu" input: "v" output: "y" })",
                  Options(), &ws);
  planned.net.PlanAhead(planned.preparation);
  Feed<int32_t>(&ws, "v", {2}, {1, 2});
  Feed<float>(&ws, "y", {3}, {7, 8, 9});
  EXPECT_THROW(planned.net.Run(), EnforceNotMet);
  EXPECT_THAT(Fetch<float>(ws, "y"), ElementsAre(7, 8, 9));
}

// A value that the net carries from run to run stays.
TEST_F(PlanAheadTest, LeavesStateAlone) {
  Workspace ws;
  FeedWeights(&ws);
  Feed<float>(&ws, "state", {1, 1, 1, 2}, {5, -1});
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
  Planned planned(R"(name: "state" external_output: "state"
      op { type: "Conv" input: "state" input: "w" output: "t" arg { name: "kernel" i: 1 } }
      op { type: "Copy" input: "t" output: "state" })",
                  {.optimize = false}, &ws);
  planned.net.PlanAhead(planned.preparation);
  EXPECT_THAT(Fetch<float>(ws, "state"), ElementsAre(5, -1));
  planned.net.Run();
  EXPECT_THAT(Fetch<float>(ws, "state"), ElementsAre(15, -3));
}

// Blobs that hold no tensor have no shape, and are as they were.
TEST_F(PlanAheadTest, LeavesOtherObjectsAlone) {
  Workspace ws;
  FeedWeights(&ws);
  test::RunOp(&ws, R"(type: "CreateCounter" output: "count" arg { name: "init_count" i: 5 })");
  test::RunOp(&ws, R"(type: "CreateMutex" output: "mutex")");
  Planned planned(std::string(kMatrix) + R"( external_input: "v" external_input: "m"
      external_input: "n" external_input: "count" external_input: "mutex" external_output: "u"
      op { type: "CountUp" input: "count" output: "u" })",
                  Options(), &ws);
  planned.net.PlanAhead(planned.preparation);
  FeedInputs(&ws);
  planned.net.Run();
  EXPECT_EQ(test::Fetch<int64_t>(ws, "u"), std::vector<int64_t>{5});
  planned.net.Run();
  EXPECT_EQ(test::Fetch<int64_t>(ws, "u"), std::vector<int64_t>{6});
  EXPECT_FALSE(ws.GetBlob("mutex")->IsEmpty());
}

TEST_F(PlanAheadTest, ReportsOperatorsWithInputsOfUnknownShape) {
  Workspace ws;
  FeedWeights(&ws);
  PreparationOptions options = Options();
  options.input_shapes.clear();
  options.optimize = false;
  Planned planned(Images(), options, &ws);
  const int64_t before = Made();
  EXPECT_THAT(planned.net.PlanAhead(planned.preparation), ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(Made(), before);
  EXPECT_EQ(PreparedBytesOf(planned.net.net()), 0);
}

// The rehearsal prepares the weight that it has computed, and the run its own.
TEST_F(PlanAheadTest, KeepsNoPreparedFormOfAWeightThatTheNetWrites) {
  Workspace ws;
  FeedWeights(&ws);
  FeedInputs(&ws);
  Planned planned(MakeString(R"(name: "n" external_output: "y"
      op { type: "Relu" input: "w3" output: "w" }
      op { type: "Conv" input: "x" input: "w" output: "y" )",
                             kTaps, "}"),
                  {.optimize = false, .inputs = {"x"}}, &ws);
  EXPECT_THAT(planned.net.PlanAhead(planned.preparation), IsEmpty());
  const int64_t before = Made();
  planned.net.Run();
  EXPECT_EQ(Made(), before + 1);
}

// An operator that cannot run on its inputs reports that in the run.
TEST_F(PlanAheadTest, LeavesErrorsToTheRun) {
  Workspace ws;
  FeedWeights(&ws);
  Feed<float>(&ws, "x", {1, 2, 4, 4}, std::vector<float>(32, 1));
  Planned planned(Images(), {.optimize = false, .inputs = {"x"}}, &ws);
  EXPECT_THAT(planned.net.PlanAhead(planned.preparation), ElementsAre(0, 2, 4, 6));
  ExpectThrows([&] { planned.net.Run(); }, "channels");
}

TEST_F(PlanAheadTest, PredictorsPlanAheadForKnownShapes) {
  const NetDef init = ParseNet(R"(
      op { type: "ConstantFill" output: "m" arg { name: "shape" ints: 16 ints: 32 } }
      op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 16 } })");
  NetDef net = ParseNet(kMatrix);
  for (const char* name : {"v", "m", "n"}) net.add_external_input(name);
  for (const bool ahead : {true, false}) {
    for (const bool known : {true, false}) {
      ShapeMap shapes;
      if (known) shapes["v"] = Options().input_shapes.at("v");
      const int64_t before = Made();
      Predictor predictor(init, net, nullptr, {.plan_ahead = ahead, .input_shapes = shapes});
      EXPECT_EQ(Made() - before, ahead && known ? 1 : 0) << ahead << known;
      FeedInputs(predictor.ws());
      Predictor::TensorMap out;
      EXPECT_TRUE(predictor(
          Predictor::TensorMap{{"v", predictor.ws()->GetBlob("v")->Get<Tensor>()}}, &out));
      EXPECT_EQ(Made() - before, 1);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::plan_ahead_test
