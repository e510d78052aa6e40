// Drawings of `caffe2 inspect`: layouts by Graphviz and without it, plans, and hostile nets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/svg_boxes.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::drawing_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

bool HasGraphviz() { return RunProgram("/bin/sh", {"-c", "command -v dot"}).code == 0; }

#define SKIP_WITHOUT_GRAPHVIZ() \
  if (!HasGraphviz()) GTEST_SKIP() << "needs dot, of the package graphviz"

// Replaces PATH until the end of the scope.
class PathOnly {
 public:
  explicit PathOnly(const std::string& path) : old_(std::getenv("PATH")) {
    setenv("PATH", path.c_str(), 1);
  }
  ~PathOnly() { setenv("PATH", old_.c_str(), 1); }
  PathOnly(const PathOnly&) = delete;
  PathOnly& operator=(const PathOnly&) = delete;

 private:
  const std::string old_;
};

// Runs inspect with --svg -. Expects no warning.
std::string SvgOf(std::vector<std::string> args) {
  args.insert(args.begin(), "inspect");
  args.insert(args.end(), {"--svg", "-"});
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  return result.out;
}

// An unrolled recurrent net of two layers: 16 operators for each step.
std::string RecurrentNet(int steps) {
  std::string net = "name: \"steps\"\n";
  const auto add = [&net](const std::string& type, const std::vector<std::string>& in,
                          const std::string& out) {
    net += "op { type: \"" + type + "\" output: \"" + out + "\"";
    for (const std::string& name : in) net += " input: \"" + name + "\"";
    net += " }\n";
  };
  for (int t = 0; t < steps; ++t) {
    for (int layer = 0; layer < 2; ++layer) {
      const std::string in = layer == 0 ? MakeString("x_", t) : MakeString("h0_", t);
      const std::string h = MakeString("h", layer, "_", t - 1), k = MakeString(layer, "_", t);
      add("FC", {in, "w", "b"}, "a" + k);
      add("FC", {h, "u", "c"}, "r" + k);
      add("Add", {"a" + k, "r" + k}, "s" + k);
      add("Sigmoid", {"s" + k}, "g" + k);
      add("Tanh", {"s" + k}, "v" + k);
      add("Mul", {"g" + k, "v" + k}, "m" + k);
      add("Mul", {"g" + k, h}, "n" + k);
      add("Add", {"m" + k, "n" + k}, "h" + k);
    }
  }
  return net;
}

TEST(DrawingTest, LaysOutByGraphviz) {
  SKIP_WITHOUT_GRAPHVIZ();
  const std::string svg = SvgOf({DemoFile("predict_net.pb"), "--init-net", DemoFile("init_net.pb"),
                                 "--input", "data=1,3,64,64"});
  EXPECT_THAT(svg, AllOf(StartsWith("<svg "), HasSubstr(">responses</text>"),
                         HasSubstr(">float [1, 16, 28, 28]</text>"), HasSubstr("marker-end=")));
  ExpectReadable(svg);
}

// Sum is three layers below Sigmoid, which Graphviz puts into the row above it.
TEST(DrawingTest, DrawsEdgesBetweenNeighbouringRowsPlain) {
  SKIP_WITHOUT_GRAPHVIZ();
  const TempDir dir;
  const std::string net = R"(external_input: "x" external_input: "u"
      op { type: "Relu" input: "x" output: "a" } op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "b" output: "c" }
      op { type: "Sigmoid" input: "u" output: "d" }
      op { type: "Sum" input: "c" input: "d" )";
  EXPECT_THAT(SvgOf({dir.Write("short.pbtxt", net + R"(output: "z" })")}),
              Not(HasSubstr("class=\"edge skip")));
  EXPECT_THAT(SvgOf({dir.Write("skip.pbtxt", net + R"(input: "a" output: "z" })")}),
              HasSubstr("class=\"edge skip0"));
}

TEST(DrawingTest, DrawsEightHundredOperatorsReadably) {
  SKIP_WITHOUT_GRAPHVIZ();
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", RecurrentNet(50));
  const std::string all = SvgOf({net});
  EXPECT_THAT(all, HasSubstr("800 operators"));
  // 800 operators, 50 inputs x, 2 initial states, 1 output.
  EXPECT_EQ(BoxesOfSvg(all).size(), 853u);
  ExpectReadable(all);
  const std::string folded = SvgOf({net, "--fold"});
  ExpectReadable(folded);
  EXPECT_THAT(folded, HasSubstr("\xC3\x97 50</text>"));
  EXPECT_LT(BoxesOfSvg(folded).size(), 60u);
}

TEST(DrawingTest, DrawsRealNetsReadably) {
  SKIP_WITHOUT_GRAPHVIZ();
  SKIP_WITHOUT_SHARED("models/c2_netdefs_only");
  SKIP_WITHOUT_SHARED("models/c2_squeezenet");
  for (const char* file :
       {"models/c2_squeezenet/predict_net.pb", "models/c2_netdefs_only/resnet50_predict_net.pb",
        "models/c2_netdefs_only/densenet121_predict_net.pbtxt",
        "models/c2_netdefs_only/bvlc_googlenet_predict_net.pb",
        "models/c2_netdefs_only/lenet_train_plan.pbtxt"}) {
    SCOPED_TRACE(file);
    ExpectReadable(SvgOf({SharedPath(file)}));
    ExpectReadable(SvgOf({SharedPath(file), "--fold"}));
  }
}

TEST(DrawingTest, FoldsTheBottlenecksOfResNet50) {
  SKIP_WITHOUT_GRAPHVIZ();
  SKIP_WITHOUT_SHARED("models/c2_netdefs_only");
  const std::string svg =
      SvgOf({SharedPath("models/c2_netdefs_only/resnet50_predict_net.pb"), "--fold"});
  // Each stage begins with a block of its own, which has a projection.
  for (const int count : {2, 3, 5})
    EXPECT_THAT(svg, HasSubstr(MakeString("\xC3\x97 ", count, "</text>")));
  EXPECT_THAT(svg, AllOf(HasSubstr("res4b_branch2a"), Not(HasSubstr(">res4c_branch2a<"))));
  EXPECT_THAT(svg, AllOf(HasSubstr("res2a_branch2a"), HasSubstr("res2b_branch2a"),
                         HasSubstr("res3a_branch2a"), Not(HasSubstr(">res2c_branch2a<"))));
}

TEST(DrawingTest, DrawsAllNetsOfAPlanInTheOrderOfItsSteps) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(
      name: "p"
      network { name: "report" op { type: "Print" input: "y" } }
      network { name: "train" op { type: "Relu" input: "x" output: "y" } }
      network { name: "init" op { type: "ConstantFill" output: "x" } }
      network { name: "unused" op { type: "Relu" input: "a" output: "c" } }
      execution_step { name: "i" network: "init" }
      execution_step { name: "t" network: "train" num_iter: 100 report_net: "report" })");
  for (const char* seconds : {"0", "30"}) {
    const ProgramResult result =
        RunCaffe2({"inspect", plan, "--svg", "-", "--dot-seconds", seconds});
    EXPECT_EQ(result.code, 0) << result.err;
    ExpectReadable(result.out);
    size_t last = 0;
    for (const char* title :
         {"net &quot;init&quot;, in step &quot;i&quot;</title>",
          "net &quot;train&quot;, in step &quot;t&quot;, 100 times</title>",
          "net &quot;report&quot;, in step &quot;t&quot;, 100 times, for reports</title>",
          "net &quot;unused&quot;, in no step</title>"}) {
      const size_t at = result.out.find(title);
      ASSERT_NE(at, std::string::npos) << title;
      EXPECT_GT(at, last);
      last = at;
    }
    // ConstantFill, Relu and Print, from top to bottom; blobs connect them, so that only the unused
    // net has an input and an output.
    const std::vector<SvgBox> boxes = BoxesOfSvg(result.out);
    ASSERT_EQ(boxes.size(), 6u);
    EXPECT_LT(boxes[0].y, boxes[1].y);
    EXPECT_LT(boxes[1].y, boxes[2].y);
  }
}

TEST(DrawingTest, ReportsThatGraphvizIsMissing) {
  const TempDir dir;
  const PathOnly path(dir.path());
  const ProgramResult result = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--svg", "-"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "caffe2: warning: dot of Graphviz is not installed; the drawing has a plain layout, in "
            "rows\n");
  ExpectReadable(result.out);
}

// Writes a program `dot` that runs a script.
void WriteDot(const TempDir& dir, const std::string& script) {
  const std::string path = dir.Write("dot", "#!/bin/sh\n" + script + "\n");
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
}

TEST(DrawingTest, FallsBackIfGraphvizFails) {
  for (const auto& [script, problem] : std::vector<std::pair<std::string, std::string>>{
           {"exec sleep 600", "dot took longer than 1 s"},
           {"exit 3", "dot failed with exit code 3"},
           {"echo graph 1 1 1; exit 1", "dot failed with exit code 1"},
           {"kill -11 $$", "dot ended by signal 11"},
           {"echo graph 1 1 1; echo stop", "dot printed an invalid layout"},
           {"exec /bin/cat", "dot printed an invalid layout"}}) {
    SCOPED_TRACE(script);
    const TempDir dir;
    WriteDot(dir, script);
    const PathOnly path(dir.path() + ":/usr/bin:/bin");
    const ProgramResult result = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--svg",
                                            dir.path("net.svg"), "--dot-seconds", "1"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.err, AllOf(StartsWith("caffe2: warning: " + problem),
                                  HasSubstr("; the drawing has a plain layout, in rows\n")));
    ExpectReadable(ReadWholeFile(dir.path("net.svg")));
  }
}

TEST(DrawingTest, GivesGraphvizNoTextOfTheNet) {
  const TempDir dir;
  WriteDot(dir, "/bin/cat > '" + dir.path("request") + "'; exit 1");
  const std::string net = dir.Write("net.pbtxt", R"pb(name: "$(touch x)"
                                                      op {
                                                        type: "\"];hostile["
                                                        name: "hostile"
                                                        input: "hostile\"; rm"
                                                        output: "\\\"hostile\n}"
                                                      })pb");
  const PathOnly path(dir.path() + ":/usr/bin:/bin");
  EXPECT_EQ(RunCaffe2({"inspect", net, "--svg", "-"}).code, 0);
  const std::string request = ReadWholeFile(dir.path("request"));
  EXPECT_THAT(request, AllOf(StartsWith("digraph {"), HasSubstr("n1 -> n0"),
                             Not(HasSubstr("hostile")), Not(HasSubstr("touch"))));
}

TEST(DrawingTest, WritesAllFormatsAtOnce) {
  const TempDir dir;
  const ProgramResult result =
      RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--svg", dir.path("a.svg"), "--html",
                 dir.path("a.html"), "--dot", dir.path("a.dot"), "--dot-seconds", "0"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(ReadWholeFile(dir.path("a.svg")), StartsWith("<svg "));
  EXPECT_THAT(ReadWholeFile(dir.path("a.html")), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(ReadWholeFile(dir.path("a.dot")), StartsWith("digraph \"stripes\""));
}

TEST(DrawingTest, NeedsADrawingForItsOptions) {
  const ProgramResult result = RunCaffe2({"inspect", DemoFile("predict_net.pb"), "--fold"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("option --fold needs --svg, --html or --dot"));
}

}  // namespace
}  // namespace caffe2rt::test::drawing_test
