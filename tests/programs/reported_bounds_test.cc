// What commands print next to a bound: values that still fit into a line or a document, rows that
// just are probabilities, labels, turned boxes, and the files that plan --overwrite removes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::reported_bounds_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class ReportedBoundsTest : public ::testing::Test {
 protected:
  // The standard output of a command that succeeds.
  std::string Out(const Words& words) const {
    const ProgramResult result = RunCaffe2(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  // An array of floats whose first elements are `values`, and the others 0.
  std::string Array(const std::string& name, std::vector<int64_t> dims,
                    const std::vector<float>& values) const {
    Tensor tensor(std::move(dims), CPU);
    float* const to = tensor.mutable_data<float>();
    std::fill(to, to + tensor.numel(), 0.f);
    std::copy(values.begin(), values.end(), to);
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  // What `caffe2 run` prints of an output y with these elements, up to the times.
  std::string Printed(const std::vector<int64_t>& dims, const std::vector<float>& values,
                      const Words& more = {}) const {
    Words words = {"run", "--predict-net", net_, "--input", "x=" + Array("x.npy", dims, values)};
    words.insert(words.end(), more.begin(), more.end());
    const std::string out = Out(words);
    const size_t begin = out.find("\ny  ");
    if (begin == std::string::npos) return out;
    const size_t end = out.find(" per run");
    return out.substr(begin + 1, out.rfind('\n', end) - begin);
  }
  const TempDir dir_;
  const std::string net_ = dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x"
      external_output: "y" op { type: "Copy" input: "x" output: "y" })");
};

TEST_F(ReportedBoundsTest, ALineHasTenValues) {
  const std::vector<float> ten = {10, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> eleven = ten;
  eleven.push_back(11);
  EXPECT_EQ(Printed({10}, ten), "y  float [10]\n  10 1 2 3 4 5 6 7 8 9\n");
  EXPECT_EQ(Printed({11}, eleven), "y  float [11]\n  10 1 2 3 4 5 6 7 8 9 ...\n");
}

TEST_F(ReportedBoundsTest, ADocumentHasAHundredThousandValues) {
  for (const int64_t count : {100000, 100001}) {
    const std::string json = Printed({count}, {7, 8}, {"--json"});
    EXPECT_EQ(JsonAt(json, "/outputs/0/dims"), MakeString("[", count, "]"));
    EXPECT_EQ(json.find("\"values\"") != std::string::npos, count == 100000);
    if (count == 100000) {
      EXPECT_EQ(JsonSize(json, "/outputs/0/values"), 100000u);
      EXPECT_EQ(JsonAt(json, "/outputs/0/values/1"), "8");
    }
  }
}

struct ScoreRow {
  std::vector<int64_t> dims;
  std::vector<float> values;
  bool classes;
};

TEST_F(ReportedBoundsTest, ProbabilitiesAreRowsThatAddUpTo1) {
  const std::vector<ScoreRow> rows = {{{2}, {0.25f, 0.75f}, true},
                                      {{2}, {0.25f, 0.7505f}, true},
                                      {{2}, {0.25f, 0.752f}, false},
                                      {{2}, {0.25f, 0.748f}, false},
                                      {{2}, {0, 1}, true},
                                      {{3}, {-0.25f, 1, 0.25f}, false},
                                      {{3}, {-0.25f, 0.75f, 0.5f}, false},
                                      {{1}, {1}, false},
                                      {{3, 1}, {1, 1, 1}, false},
                                      {{2, 2}, {0.5f, 0.5f, 1, 0}, true},
                                      {{2, 2}, {0.5f, 0.5f, 1, 1}, false},
                                      {{2, 1, 2}, {0.5f, 0.5f, 1, 0}, true},
                                      {{1, 2, 2}, {0.5f, 0.5f, 1, 0}, false}};
  // One net has them all.
  std::string net = "name: \"n\" ";
  for (size_t i = 0; i < rows.size(); ++i) {
    net += MakeString("external_output: \"y", i, "\" op { type: \"GivenTensorFill\" output: \"y", i,
                      "\" arg { name: \"shape\" ");
    for (const int64_t dim : rows[i].dims) net += MakeString("ints: ", dim, " ");
    net += "} arg { name: \"values\" ";
    for (const float value : rows[i].values) net += MakeString("floats: ", value, " ");
    net += "} } ";
  }
  const std::string out = Out({"run", "--predict-net", dir_.Write("rows.pbtxt", net)});
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t begin = out.find(MakeString("y", i, " "));
    const size_t end = std::min(out.find(MakeString("y", i + 1, " ")), out.find(" per run"));
    ASSERT_LT(begin, end) << out;
    const std::string part = out.substr(begin, end - begin);
    EXPECT_EQ(part.find("class ") != std::string::npos, rows[i].classes) << part;
  }
  EXPECT_EQ(Printed({2, 2}, {0.25f, 0.75f, 1, 0}),
            "y  float [2, 2]\n  row 0\n    0.750  class 1\n    0.250  class 0\n"
            "  row 1\n    1.000  class 0\n    0.000  class 1\n");
  // Five classes and ten rows are printed.
  EXPECT_EQ(Printed({6}, {0.125f, 0.25f, 0.125f, 0.25f, 0.0625f, 0.1875f}),
            "y  float [6]\n  0.250  class 1\n  0.250  class 3\n  0.188  class 5\n"
            "  0.125  class 0\n  0.125  class 2\n");
  const std::vector<float> certain(22, 0.5f);
  EXPECT_THAT(Printed({10, 2}, {certain.begin(), certain.end() - 2}), Not(HasSubstr("prints all")));
  EXPECT_THAT(Printed({11, 2}, certain), HasSubstr("  ... --top 5 prints all 11 rows\n"));
}

TEST_F(ReportedBoundsTest, TopOfScoresOfAnySize) {
  const std::vector<float> scores = {3, -1, 7, 3};
  EXPECT_EQ(Printed({4}, scores, {"--top", "3"}),
            "y  float [4]\n  7.000  class 2\n  3.000  class 0\n  3.000  class 3\n");
  EXPECT_EQ(Printed({4}, scores, {"--top", "9"}),
            "y  float [4]\n  7.000  class 2\n  3.000  class 0\n  3.000  class 3\n"
            "  -1.000  class 1\n");
  EXPECT_EQ(Printed({1}, {3}, {"--top", "3"}), "y  float [1]\n  3\n");
  EXPECT_EQ(Printed({2, 1}, {3, 4}, {"--top", "3"}), "y  float [2, 1]\n  3 4\n");
}

TEST_F(ReportedBoundsTest, LabelsAreTheLinesOfTheirFile) {
  const auto best = [&](const std::string& labels, int64_t count, int64_t index) {
    std::vector<float> scores(static_cast<size_t>(count), 0);
    scores[static_cast<size_t>(index)] = 2;
    const std::string out =
        Printed({count}, scores, {"--top", "1", "--labels", dir_.Write("labels.txt", labels)});
    const size_t at = out.find("2.000  ");
    return at == std::string::npos ? "" : out.substr(at + 7, out.find('\n', at) - at - 7);
  };
  EXPECT_EQ(best("cat\ndog\n", 2, 1), "dog");
  EXPECT_EQ(best("cat\r\ndog", 2, 0), "cat");
  EXPECT_EQ(best("cat\n\ndog\n\n\n", 3, 2), "dog") << "an empty line inside is a label";
  EXPECT_EQ(best("cat\ndog\n", 3, 1), "") << "as many labels as scores";
  EXPECT_EQ(best("cat\ndog\nfish\n", 2, 1), "");
  EXPECT_EQ(best("solo\n", 1, 0), "solo");
  // Numbers of WordNet are left out if all lines have one.
  EXPECT_EQ(best("n02123159 tiger cat\nn02123394 Persian cat\n", 2, 0), "tiger cat");
  EXPECT_EQ(best("n02123159 tiger cat\nPersian cat\n", 2, 0), "n02123159 tiger cat");
  EXPECT_EQ(best("n0212315 tiger cat\nn0212339 Persian cat\n", 2, 0), "n0212315 tiger cat");
  EXPECT_EQ(best("n02123159 a\nn021233x4 b\n", 2, 0), "n02123159 a");
  EXPECT_EQ(best("n02123159 a\nm02123394 b\n", 2, 0), "n02123159 a");
  const ProgramResult empty = RunCaffe2({"run", "--predict-net", net_, "--input", "x=[1,2]",
                                         "--labels", dir_.Write("labels.txt", "\n\n")});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("contains no labels, want one per line"));
}

TEST_F(ReportedBoundsTest, TurnedBoxesHaveFiveNumbers) {
  const std::string net = dir_.Write("boxes.pbtxt", R"(name: "boxes" external_input: "s"
      external_input: "b" external_input: "c" external_output: "c2"
      op { type: "Copy" input: "s" output: "s2" } op { type: "Copy" input: "b" output: "b2" }
      op { type: "Copy" input: "c" output: "c2" })");
  const auto run = [&](const std::string& s, const std::string& b, const std::string& c,
                       const Words& more = {}) {
    Words words = {"run",     "--predict-net", net,       "--boxes", "--box-blobs", "s2,b2,c2",
                   "--input", "s=" + s,        "--input", "b=" + b,  "--input",     "c=" + c};
    words.insert(words.end(), more.begin(), more.end());
    return Out(words);
  };
  const std::string boxes = "[[1,2,3,4,90],[5,6,7,8,-45.5]]";
  EXPECT_THAT(run("[0.25,0.5]", boxes, "[1,0]"),
              HasSubstr("  box  score  class      x    y  width  height  degrees\n"
                        "    0  0.500  class 0  5.0  6.0    7.0     8.0    -45.5\n"
                        "    1  0.250  class 1  1.0  2.0    3.0     4.0     90.0\n"));
  const std::string json = run("[0.25,0.5]", boxes, "[1,-1]", {"--json"});
  EXPECT_EQ(JsonAt(json, "/boxes/1/box"), "[1,2,3,4,90]");
  EXPECT_EQ(JsonAt(json, "/boxes/0/class"), "-1");
  // Equal scores keep their order, and --top limits the boxes.
  const std::string equal =
      run("[0.5,0.5,0.75]", "[[1,0,0,0],[2,0,0,0],[3,0,0,0]]", "[0,0,0]", {"--json", "--top", "2"});
  EXPECT_EQ(JsonSize(equal, "/boxes"), 2u);
  EXPECT_EQ(JsonAt(equal, "/boxes/0/box"), "[3,0,0,0]");
  EXPECT_EQ(JsonAt(equal, "/boxes/1/box"), "[1,0,0,0]");
  const std::string none = Array("none.npy", {0}, {}), no_boxes = Array("no.npy", {0, 4}, {});
  EXPECT_THAT(run(none, no_boxes, none), HasSubstr("no boxes\n"));
  EXPECT_EQ(JsonAt(run(none, no_boxes, none, {"--json"}), "/boxes"), "[]");
}

// Of the files in the folder of a pattern, those whose name a run can have made, if they are
// databases of that type.
TEST_F(ReportedBoundsTest, OverwriteRemovesWhatThePatternNames) {
  const auto plan_of = [&](const std::string& type) {
    return dir_.Write("plan.pbtxt", MakeString(R"(name: "p" network { name: "n"
        op { type: "ConstantFill" output: "i" arg { name: "shape" ints: 1 }
             arg { name: "dtype" i: 10 } arg { name: "value" i: 500 } }
        op { type: "Checkpoint" input: "i" arg { name: "db" s: "out/c_%03d.db" }
             arg { name: "db_type" s: ")",
                                               type, R"(" } } } execution_step { network: "n" })"));
  };
  const auto names = [&] {
    Words found;
    for (const auto& entry : fs::directory_iterator(dir_.path("out")))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  fs::create_directory(dir_.path("out"));
  Out({"plan", plan_of("minidb"), "--root", dir_.path()});
  ASSERT_EQ(names(), Words{"c_500.db"});
  for (const char* name : {"c_001.db", "c_7.db", "c_.db", "c_1x.db", "d_001.db", "c_001.db2",
                           "c_001xdb", "xc_001.db", "c_-1.db"})
    fs::copy_file(dir_.path("out/c_500.db"), dir_.path(std::string("out/") + name));
  dir_.Write("out/c_002.db", "some notes");
  Out({"plan", plan_of("minidb"), "--root", dir_.path()});
  EXPECT_EQ(names().size(), 11u) << "nothing is removed without the option";
  // Another type removes none of them.
  RunCaffe2({"plan", plan_of("lmdb"), "--root", dir_.path(), "--overwrite"});
  EXPECT_TRUE(fs::exists(dir_.path("out/c_001.db")));
  fs::remove_all(dir_.path("out/c_500.db"));
  Out({"plan", plan_of("MiniDB"), "--root", dir_.path(), "--overwrite"});
  EXPECT_EQ(names(), (Words{"c_-1.db", "c_.db", "c_001.db2", "c_001xdb", "c_002.db", "c_1x.db",
                            "c_500.db", "d_001.db", "xc_001.db"}));
}

TEST_F(ReportedBoundsTest, PlansCountTheirNetsAndStepsAndNameThem) {
  const std::string op =
      R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } )";
  const auto end = [&](const std::string& plan) {
    const std::string out = Out({"plan", dir_.Write("the.plan.pbtxt", plan), "--as", "PlanDef"});
    return out.substr(0, out.rfind(", "));
  };
  EXPECT_EQ(end("name: \"p\" network { name: \"n\" " + op + "} execution_step { network: \"n\" }"),
            "plan \"p\" done: 1 net, 1 step");
  EXPECT_EQ(end("network { name: \"a\" " + op + "} network { name: \"b\" " + op +
                "} execution_step { network: \"a\" } execution_step { network: \"b\" } "
                "execution_step { substep { network: \"a\" } }"),
            "plan \"\" done: 2 nets, 3 steps");
  // A net without a name has that of the file, in the steps as well.
  EXPECT_EQ(end("network { " + op +
                "} execution_step { network: \"\" } execution_step { substep "
                "{ network: \"\" } }"),
            "plan \"\" done: 1 net, 2 steps");
}

}  // namespace
}  // namespace caffe2rt::test::reported_bounds_test
