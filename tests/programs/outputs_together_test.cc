// What commands write beside other outputs: drawings that fold, nets in the format of their name, files on standard output,
// receipts and reports beside documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::outputs_together_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::string_literals;
namespace fs = std::filesystem;

class OutputsTogetherTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
    dir_.Write("init.pbtxt", R"(name: "weights" op { type: "ConstantFill" output: "w"
        arg { name: "shape" ints: [2, 2, 1, 1] } arg { name: "value" f: 2 } })");
    Array("x.npy", {1, 2, 1, 2}, {1, -2, 3, 0.5f});
  }
  static Words Model(const Words& first, const Words& more) {
    return Joined(Joined(first, {"--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt"}),
                  more);
  }
  bool IsText(const std::string& name) const {
    return ReadWholeFile(dir_.path(name)).find("op {") != std::string::npos;
  }
};

TEST_F(OutputsTogetherTest, EachDrawingFoldsWhatRepeats) {
  std::string net = "name: \"rep\" external_input: \"x0\" external_output: \"x8\" ";
  for (int i = 0; i < 8; ++i)
    net += "op { type: \""s + (i % 2 == 0 ? "Relu" : "Sqr") + "\" input: \"x" + std::to_string(i) +
           "\" output: \"x" + std::to_string(i + 1) + "\" } ";
  dir_.Write("rep.pbtxt", net);
  for (const char* option : {"--dot", "--svg", "--html"}) {
    const Words draw = {"inspect", "DIR/rep.pbtxt", option, "-"};
    const std::string whole = Out(Joined(draw, {"--dot-seconds", "0"}));
    const std::string folded = Out(Joined(draw, {"--fold", "--dot-seconds", "0"}));
    EXPECT_EQ(whole.find("\u00d7 4"), std::string::npos) << option;
    EXPECT_NE(folded.find("\u00d7 4"), std::string::npos) << option;
    EXPECT_LT(folded.size(), whole.size()) << option;
  }
}

TEST_F(OutputsTogetherTest, EachWrittenNetHasTheFormatOfItsName) {
  const std::pair<const char*, bool> names[] = {
      {"a.pbtxt", true}, {"b.prototxt", true}, {"c.pb", false}, {"d.txt", true}, {"e", false}};
  for (size_t i = 0; i < std::size(names); ++i) {
    const auto& [init, init_is_text] = names[i];
    const auto& [predict, predict_is_text] = names[(i + 2) % std::size(names)];
    Out(Model({"optimize"},
              {"--output-init-net", "DIR/"s + init, "--output-predict-net", "DIR/"s + predict}));
    EXPECT_EQ(IsText(init), init_is_text) << init;
    EXPECT_EQ(IsText(predict), predict_is_text) << predict;
    EXPECT_EQ(LoadNet(dir_.path(init)).op(0).type(), "ConstantFill");
    EXPECT_EQ(LoadNet(dir_.path(predict)).op(0).type(), "Conv");
    Out(Model({"quantize"}, {"--input", "x=DIR/x.npy", "--output-predict-net", "DIR/"s + init}));
    EXPECT_EQ(IsText(init), init_is_text) << init;
    EXPECT_EQ(LoadNet(dir_.path(init)).op(0).type(), "Conv");
  }
}

TEST_F(OutputsTogetherTest, AFileOnStandardOutputIsAlone) {
  const ProgramResult net =
      Run(Model({"quantize"}, {"--input", "x=DIR/x.npy", "--output-predict-net", "-"}));
  EXPECT_EQ(net.code, 0);
  EXPECT_THAT(net.err, HasSubstr("operator has ranges, measured on 1 example\n"));
  dir_.Write("q.pb", net.out);
  EXPECT_EQ(LoadNet(dir_.path("q.pb")).op(0).type(), "Conv");
  for (const Words& output : {Words{"-"}, Words{"--output", "-"}, Words{"-o", "-"}}) {
    const ProgramResult packed = Run(Model({"pack"}, output));
    EXPECT_EQ(packed.code, 0);
    EXPECT_EQ(packed.err, "-: 1 tensor\n");
    EXPECT_EQ(packed.out.substr(1, 4), "C2PK");
  }
  const ProgramResult archive =
      Run(Model({"run"}, {"--input", "x=DIR/x.npy", "--json", "--output", "-"}));
  EXPECT_EQ(archive.code, 0);
  EXPECT_EQ(JsonAt(archive.err, "/outputs/0/name"), "\"y\"");
  dir_.Write("y.npz", archive.out);
  EXPECT_EQ(ReadNpz(dir_.path("y.npz")).size(), 1u);
  for (const Words& words : {Words{"man", "run"}, Words{"completion", "bash"}}) {
    const std::string text = Out(words);
    EXPECT_EQ(Out(Joined(words, {"--output", "-"})), text);
    EXPECT_EQ(Out(Joined(words, {"-o", "DIR/text"})), "");
    EXPECT_EQ(ReadWholeFile(dir_.path("text")), text);
  }
}

TEST_F(OutputsTogetherTest, FilesBesideADocumentAreThoseBesideText) {
  std::vector<std::string> receipts, reports, saved, hashes;
  for (const Words& more : {Words{}, Words{"--json"}}) {
    Out(Model({"run"},
              Joined(more, {"--input", "x=DIR/x.npy", "--receipt", "DIR/receipt", "--receipt-all",
                            "--report", "DIR/report", "--output", "DIR/out", "--seed", "5"})));
    receipts.push_back(ReadWholeFile(dir_.path("receipt")));
    reports.push_back(ReadWholeFile(dir_.path("report")));
    saved.push_back(ReadWholeFile(dir_.path("out/y.npy")));
    for (const char* name : {"receipt", "report", "out"}) fs::remove_all(dir_.path(name));
  }
  EXPECT_EQ(receipts[0], receipts[1]);
  EXPECT_EQ(JsonAt(receipts[0], "/operators/0/blob"), "\"y\"");
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_EQ(saved[0], saved[1]);
  // y is 2 times the sum of both channels.
  dir_.Write("y.npy", saved[0]);
  const Tensor y = ReadNpy(dir_.path("y.npy"));
  ASSERT_EQ(y.dims(), (std::vector<int64_t>{1, 2, 1, 2}));
  for (const auto& [i, value] : {std::pair(0, 8.f), {1, -3.f}, {2, 8.f}, {3, -3.f}})
    EXPECT_EQ(y.data<float>()[i], value) << i;
}

TEST_F(OutputsTogetherTest, APlanSavesWhatItsDocumentShows) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "m" external_input: "x"
      op { type: "Copy" input: "x" output: "y" } } execution_step { network: "m" })");
  const Words plan = {"plan", "DIR/plan.pbtxt", "--input", "x=[[3,9,5]]", "--fetch",
                      "y",    "--fetch",        "x"};
  for (const Words& more : {Words{}, Words{"--json"}, Words{"--json", "--top", "2"}}) {
    fs::remove_all(dir_.path("out"));
    const std::string text = Out(Joined(Joined(plan, {"--output", "DIR/out"}), more));
    for (const char* name : {"x", "y"}) {
      const Tensor tensor = ReadNpy(dir_.path("out/"s + name + ".npy"));
      ASSERT_EQ(tensor.numel(), 3);
      EXPECT_EQ(tensor.data<float>()[1], 9);
    }
    if (more.empty()) {
      EXPECT_THAT(text, StartsWith("y  float [1, 3]\n  3 9 5\nx  float [1, 3]\n  3 9 5\nplan"));
      continue;
    }
    EXPECT_EQ(JsonAt(text, "/plan"), "\"p\"");
    EXPECT_EQ(JsonAt(text, "/outputs/0/name"), "\"y\"");
    EXPECT_EQ(JsonAt(text, "/outputs/1/name"), "\"x\"");
    EXPECT_EQ(JsonAt(text, more.size() == 1 ? "/outputs/1/values" : "/outputs/1/top/0/0/index"),
              more.size() == 1 ? "[3,9,5]" : "1");
  }
}

}  // namespace
}  // namespace caffe2rt::test::outputs_together_test
