// What `caffe2` does with second files and with combinations of options: init nets and inputs, blobs that an init net
// fills with a constant, memory and threads, outputs that cannot be written, batches of other shapes, and databases
// of plans that are replaced.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2rt/metanet.pb.h"
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
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["m", "x"] external_output: "y"
      op { type: "Add" input: "x" input: "m" output: "t" }
      op { type: "Negative" input: "t" output: "y" })");
  Array("a.npy", {1, 2}, {1, 1});
  Array("b.npy", {1, 2}, {10, 20});
  const auto pack = [&](const char* image) {
    return Run({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
                "--prepare", "--image", image, "DIR/n.c2pack"});
  };
  // Also where an init net fills the input.
  for (const std::string& init :
       {Fill("m", "2", "2, 3"), Fill("x", "1, 2", "8, 9") + Fill("m", "2", "2, 3")}) {
    dir_.Write("init.pbtxt", init);
    const ProgramResult packed = pack("x=DIR/a.npy");
    EXPECT_EQ(packed.code, 0) << packed.err;
    EXPECT_THAT(packed.out, HasSubstr(" prepared form"));
    EXPECT_THAT(Out({"inspect", "DIR/n.c2pack"}), HasSubstr("with a prepared net of 2 operators"));
    EXPECT_EQ(Values({"--predict-net", "DIR/n.c2pack", "--input", "x=DIR/b.npy"}), "[-12,-23]");
    EXPECT_EQ(Values({"--predict-net", "DIR/n.c2pack", "--image", "x=DIR/b.npy"}), "[-12,-23]");
  }
  const ProgramResult missing = pack("x=DIR/none.npy");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.npy"));
}

// A predictor database states its outputs apart from its net. Each is there, even if it is read.
TEST_F(RareEffectsTest, AllOutputsOfAPredictorAreKept) {
  MetaNetDef meta;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "nets { key: \"PREDICT_INIT_NET_TYPE\" value { name: \"init\" " +
          Fill("w", "1, 1, 1, 1", "3") + Fill("b", "1", "1") + Fill("m", "1", "2") + "} } " +
          R"(nets { key: "PREDICT_NET_TYPE" value { name: "n" external_input: ["x", "w", "b", "m"]
             op { type: "Conv" input: "x" input: "w" input: "b" output: "t"
                  arg { name: "kernel" i: 1 } }
             op { type: "Mul" input: "t" input: "m" output: "y" } } }
             blobs { key: "INPUTS_BLOB_TYPE" value: "x" }
             blobs { key: "OUTPUTS_BLOB_TYPE" value: ["y", "t"] }
             blobs { key: "PARAMETERS_BLOB_TYPE" value: ["w", "b", "m"] })",
      &meta));
  Blob blob;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  {
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    transaction->Commit();
  }
  const std::string x = "x=" + Array("x.npy", {1, 1, 1, 2}, {5, -1});
  const std::string json = Out({"run", "--json", "--predictor", "DIR/p.minidb", "--input", x});
  EXPECT_EQ(JsonAt(json, "/outputs/0/values"), "[32,-4]");
  EXPECT_EQ(JsonAt(json, "/outputs/1/name"), "\"t\"");
  EXPECT_EQ(JsonAt(json, "/outputs/1/values"), "[16,-2]");
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

// The files of a folder do not depend on each other.
TEST_F(RareEffectsTest, AFolderRunsOnAllProcessors) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  for (const char* name : {"in/1.npy", "in/2.npy"}) Array(name, {1, 1}, {1});
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--json"};
  const unsigned all = std::clamp(std::thread::hardware_concurrency(), 1u, 1024u);
  EXPECT_EQ(JsonAt(Out(run), "/threads"), std::to_string(all));
  EXPECT_EQ(JsonAt(Out(Joined(run, {"--threads", "1"})), "/threads"), "1");
  EXPECT_EQ(JsonAt(Out(Joined(run, {"--threads", "3"})), "/threads"), "3");
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

// --- quantize ---

// --alone without a goal lists the noise of each operator. It puts none back, however much that is.
TEST_F(RareEffectsTest, AloneKeepsNoisyOperatorsInt8) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  // The first channel takes the whole range and has no weight.
  dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w0" arg { name: "shape" ints: [64, 1, 3, 3] } }
      op { type: "UniformFill" output: "w1" arg { name: "shape" ints: [64, 63, 3, 3] }
           arg { name: "min" f: -1 } arg { name: "max" f: 1 } }
      op { type: "Concat" input: "w0" input: "w1" output: "w" output: "info"
           arg { name: "axis" i: 1 } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 3 } }
      op { type: "Conv" input: "t" input: "w" output: "y" arg { name: "kernel" i: 3 } })");
  std::vector<float> values(64 * 14 * 14);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < 14 * 14 ? 100.f : static_cast<float>(i % 997) / 1000;
  const auto quantize = [&](const Words& more) {
    return Out(Joined({"quantize", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt",
                       "--output-predict-net", "DIR/q.pbtxt", "--json", "--input",
                       "x=" + Array("x.npy", {1, 64, 14, 14}, values)},
                      more));
  };
  for (const Words& more : {Words{}, {"--alone"}}) {
    const std::string json = quantize(more);
    EXPECT_EQ(JsonAt(json, "/operators/0/least_precision"), "\"int8\"");
    EXPECT_EQ(JsonAt(json, "/operators/1/least_precision"), "\"int8\"");
    EXPECT_LT(std::stod(JsonAt(json, "/snr")), 20);
  }
  const std::string goal = quantize({"--alone", "--min-snr", "20"});
  EXPECT_EQ(JsonAt(goal, "/put_back"), "1");
  EXPECT_NE(JsonAt(goal, "/operators/0/least_precision"), "\"int8\"");
  EXPECT_EQ(JsonAt(goal, "/operators/1/least_precision"), "\"int8\"");
}

}  // namespace
}  // namespace caffe2rt::test::rare_effects_test
