// What `caffe2` does with second files and with combinations of options: init nets and inputs, blobs that an init net
// fills with a constant, memory and threads, outputs that cannot be written, batches of other shapes, and databases
// of plans that are replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::rare_effects_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::string Fill(const std::string& output, const std::string& shape, const std::string& values) {
  return "op { type: \"GivenTensorFill\" output: \"" + output + "\" arg { name: \"shape\" ints: [" +
         shape + "] } arg { name: \"values\" floats: [" + values + "] } } ";
}

class RareEffectsTest : public ProgramFolder {
 protected:
  // The values of the only output of a net.
  std::string Values(const Words& more) const {
    return JsonAt(Run(Joined({"run", "--json"}, more)).out, "/outputs/0/values");
  }
};

// --- optimize and pack ---

// Weights of binary files are kept apart from their nets, those of each file.
TEST_F(RareEffectsTest, OptimizeWritesTheWeightsOfAllInitNets) {
  dir_.Write("1.pbtxt", Fill("w", "2", "3, 5"));
  dir_.Write("2.pbtxt", Fill("v", "2", "7, 11") + Fill("u", "2", "100, 200"));
  for (const char* name : {"1", "2"})
    Out({"convert", std::string("DIR/") + name + ".pbtxt", "--output",
         std::string("DIR/") + name + ".pb"});
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w", "v", "u"] external_output: "y"
      op { type: "Mul" input: "x" input: "w" output: "s" }
      op { type: "Add" input: "s" input: "v" output: "t" }
      op { type: "Add" input: "t" input: "u" output: "y" })");
  const Words written = {"--init-net", "DIR/o.pb", "--predict-net",
                         "DIR/p.pb",   "--input",  "x=[2.0,2.0]"};
  for (const char* end : {".pb", ".pbtxt"}) {
    Out({"optimize", "--init-net", std::string("DIR/1") + end, "--init-net",
         std::string("DIR/2") + end, "--predict-net", "DIR/net.pbtxt", "--output-init-net",
         "DIR/o.pb", "--output-predict-net", "DIR/p.pb"});
    EXPECT_EQ(Values(written), "[113,221]") << end;
  }
}

// An input is no constant, even if an init net fills it.
TEST_F(RareEffectsTest, OptimizeFoldsNoneOfTheInputs) {
  dir_.Write("init.pbtxt",
             Fill("w", "1, 1, 1, 1", "3") + Fill("b", "1", "1") + Fill("m", "1", "2"));
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w", "b", "m"] external_output: "y"
      op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
      op { type: "Mul" input: "t" input: "m" output: "y" })");
  const std::string x = "x=" + Array("x.npy", {1, 1, 1, 2}, {5, -1});
  const Words command = {"optimize",      "--init-net",           "DIR/init.pbtxt",
                         "--predict-net", "DIR/net.pbtxt",        "--output-init-net",
                         "DIR/o.pb",      "--output-predict-net", "DIR/p.pb"};
  const std::string folded = "2 operators, 1 after optimization\napplied fold_batch_norm\n",
                    same = "2 operators, 2 after optimization\n";
  EXPECT_EQ(Out(command), folded);
  EXPECT_EQ(Out(Joined(command, {"--input", x})), folded);
  EXPECT_EQ(Out(Joined(command, {"--input", x, "--input", "m=[1.0]"})), same);
  EXPECT_EQ(Out(Joined(command, {"--input", "m=[1.0]", "--input", x})), same);
}

// Exporters for mobile devices filled the input with a constant.
TEST_F(RareEffectsTest, AConstantInTheFirstInputIsNotFolded) {
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "x"
      arg { name: "shape" ints: [1, 2] } arg { name: "value" f: 1 } } )" +
                               Fill("m", "1", "2"));
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "m"] external_output: "y"
      op { type: "Mul" input: "x" input: "m" output: "t" arg { name: "broadcast" i: 1 } }
      op { type: "Exp" input: "t" output: "y" })");
  const Words nets = {"--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt"};
  EXPECT_EQ(
      Out(Joined({"optimize", "--output-init-net", "DIR/o.pb", "--output-predict-net", "DIR/p.pb"},
                 nets)),
      "2 operators, 2 after optimization\n");
  EXPECT_EQ(
      Values({"--init-net", "DIR/o.pb", "--predict-net", "DIR/p.pb", "--input", "x=[[0.0,0.0]]"}),
      "[1,1]");
}

TEST_F(RareEffectsTest, PackPreparesTheNetForOtherImages) {
  // Without placeholders, because no operator has x as its first input.
  dir_.Write("init.pbtxt", Fill("x", "1, 2", "8, 9") + Fill("m", "2", "2, 3"));
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["m", "x"] external_output: "y"
      op { type: "Add" input: "m" input: "x" output: "y" })");
  Array("a.npy", {1, 2}, {1, 1});
  Array("b.npy", {1, 2}, {10, 20});
  EXPECT_THAT(Out({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
                   "--prepare", "--image", "x=DIR/a.npy", "DIR/n.c2pack"}),
              HasSubstr(" prepared forms"));
  EXPECT_EQ(Values({"--predict-net", "DIR/n.c2pack", "--input", "x=DIR/b.npy"}), "[12,23]");
  // A file that is no image is an error.
  const ProgramResult missing =
      Run({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt", "--prepare",
           "--image", "x=DIR/none.npy", "DIR/n.c2pack"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.npy"));
}

// --- run ---

TEST_F(RareEffectsTest, ThreadsDoNotLiftTheLimitOfMemory) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=1000,1000"};
  for (const Words& more : {Words{}, {"--threads", "2"}, {"--threads", "1"}}) {
    EXPECT_EQ(Run(Joined(run, more)).code, 0);
    const ProgramResult limited = Run(Joined(Joined(run, more), {"--memory-limit", "1M"}));
    EXPECT_EQ(limited.code, 1);
    EXPECT_THAT(limited.err, HasSubstr("limit 1 MiB"));
  }
}

// Before the net runs, and before anything is printed.
TEST_F(RareEffectsTest, AnOutputThatIsAFolderIsFoundBeforeTheRun) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  fs::create_directories(dir_.path("out/y.npy"));
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=2", "--output", "DIR/out"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "caffe2: cannot write \"DIR/out/y.npy\": it is a directory\n");
}

// An input of R rows has an output of [R, R, 6 / R]: of as many elements, in another shape.
TEST_F(RareEffectsTest, ABatchWhoseRowsHaveAnotherShapeIsNotUsed) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Shape" input: "x" output: "rows" arg { name: "axes" ints: 0 } }
      op { type: "GivenTensorInt64Fill" output: "zero" arg { name: "shape" ints: 1 }
           arg { name: "values" ints: 0 } }
      op { type: "GivenTensorInt64Fill" output: "rest" arg { name: "shape" ints: 1 }
           arg { name: "values" ints: -1 } }
      op { type: "Concat" input: "zero" input: "rows" input: "rest" output: "shape" output: "info"
           arg { name: "axis" i: 0 } }
      op { type: "Reshape" input: "x" input: "shape" output: "y" output: "old" })");
  for (const char* name : {"1", "2", "3", "4"})
    Array(std::string("in/") + name + ".npy", {1, 6}, {0, 1, 2, 3, 4, 5});
  const ProgramResult result = Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in",
                                    "--batch", "2", "--json-lines"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(
      result.err,
      HasSubstr("output \"y\" for \"DIR/in/1.npy\" differs between a batch and a run alone"));
  EXPECT_THAT(result.out, Not(HasSubstr("[1, 3, 2]")));
  EXPECT_THAT(result.out, HasSubstr("[1, 1, 6]"));
}

// --- plan ---

TEST_F(RareEffectsTest, OverwriteReplacesTheDatabaseOfAPlan) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" external_input: "x"
      op { type: "Save" input: "x" arg { name: "db" s: "saved" }
           arg { name: "db_type" s: "lmdb" } } } execution_step { network: "n" })");
  const Words plan = {"plan", "DIR/plan.pbtxt", "--root", "DIR/", "--input", "x=[1.0,2.0]"};
  EXPECT_EQ(Run(plan).code, 0);
  for (const Words& more : {Words{}, {"--json"}, {"--json", "--fetch", "x"}}) {
    EXPECT_EQ(Run(Joined(plan, more)).code, 1);
    const ProgramResult result = Run(Joined(Joined(plan, more), {"--overwrite"}));
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

// A path that the operator calls absolute is not below the root, even if it has no slash in front.
TEST_F(RareEffectsTest, OverwriteRemovesWhereTheOperatorWrites) {
  dir_.Write("work/plan.pbtxt", R"(name: "p" network { name: "n" external_input: "x"
      op { type: "Save" input: "x" arg { name: "db" s: "saved" } arg { name: "absolute_path" i: 1 }
           arg { name: "db_type" s: "lmdb" } } } execution_step { network: "n" })");
  fs::create_directory(dir_.path("work/root"));
  const auto plan = [&](const std::string& more) {
    return RunProgram("/bin/sh",
                      {"-c", "cd '" + dir_.path("work") + "' && '" + BuildPath(CAFFE2_PROGRAM) +
                                 "' plan plan.pbtxt --input x=[1.0] --root root" + more});
  };
  const ProgramResult first = plan("");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(fs::exists(dir_.path("work/saved")));
  EXPECT_TRUE(fs::is_empty(dir_.path("work/root")));
  EXPECT_EQ(plan("").code, 1) << "it exists";
  const ProgramResult replaced = plan(" --overwrite");
  EXPECT_EQ(replaced.code, 0) << replaced.err;
}

}  // namespace
}  // namespace caffe2rt::test::rare_effects_test
