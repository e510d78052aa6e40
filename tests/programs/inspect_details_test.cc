// Details of `caffe2 inspect`, `caffe2 ops` and `caffe2 man`: operators with several outputs, nets of files without roles,
// plans of many nets, the memory of models, and how Graphviz is started.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::inspect_details_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::string_literals;

class InspectDetailsTest : public ProgramFolder {};

// --- nets ---

TEST_F(InspectDetailsTest, OperatorsWithSeveralOutputsStateTheirNumber) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Split" input: "x" output: ["a", "b", "c"] arg { name: "axis" i: 1 } }
      op { type: "TopK" input: "a" output: ["v", "i"] arg { name: "k" i: 1 } })");
  EXPECT_EQ(Out({"inspect", "DIR/net.pbtxt", "--input", "x=4,6"}),
            R"(DIR/net.pbtxt: a NetDef
net "n", 2 operators
     type   output  shape         memory
  0  Split  a +2    float [4, 2]    96 B
  1  TopK   v +1    float [4, 1]    48 B
total: 0 parameters (0 B), 0 multiply-adds, 144 B of output blobs
)");
  const std::string json = Out({"inspect", "DIR/net.pbtxt", "--input", "x=4,6", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/1/outputs"), R"(["v","i"])");
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/1/output_shapes"),
            R"([{"type":"FLOAT","dims":[4,1]},{"type":"INT64","dims":[4,1]}])");
}

std::string Fills(const std::string& name, const Words& outputs) {
  std::string net = "name: \"" + name + "\" ";
  for (const std::string& output : outputs)
    net += "op { type: \"ConstantFill\" output: \"" + output + "\" } ";
  return net;
}

TEST_F(InspectDetailsTest, WithoutARoleTheLargestNetIsDrawn) {
  const auto drawn = [&](const std::vector<std::pair<std::string, std::string>>& nets) {
    std::string text;
    for (const auto& [key, net] : nets)
      text += "nets { key: \"" + key + "\" value { " + net + " } } ";
    dir_.Write("meta.pbtxt", text);
    const std::string dot = Out({"inspect", "DIR/meta.pbtxt", "--dot", "-"});
    return dot.substr(0, dot.find(" {"));
  };
  const std::string small = Fills("small", {"a"}), large = Fills("large", {"b", "c"}),
                    other = Fills("other", {"d", "e"});
  EXPECT_EQ(drawn({{"a", small}, {"b", large}, {"c", other}}), "digraph \"large\"");
  EXPECT_EQ(drawn({{"a", other}, {"b", large}, {"c", small}}), "digraph \"other\"");
  EXPECT_EQ(drawn({{"a", large}, {"PREDICT_NET_TYPE", small}}), "digraph \"small\"");
}

// Each net copies what the net before it made. The shapes of very many nets are not followed.
TEST_F(InspectDetailsTest, SixtyFourNetsOfAPlanKnowTheShapesBeforeThem) {
  for (const int count : {64, 65}) {
    std::string plan = "name: \"p\" ", steps;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      plan += "network { name: \"n" + number + "\" op { output: \"b" + number + "\" " +
              (i == 0 ? "type: \"ConstantFill\" arg { name: \"shape\" ints: 7 }"
                      : "type: \"Copy\" input: \"b" + std::to_string(i - 1) + "\"") +
              " } } ";
      steps += "execution_step { network: \"n" + number + "\" } ";
    }
    dir_.Write("plan.pbtxt", plan + steps);
    const std::string dot = Out({"inspect", "DIR/plan.pbtxt", "--dot", "-"});
    const std::string last = "Copy\\nb" + std::to_string(count - 1);
    EXPECT_THAT(dot, HasSubstr(last));
    EXPECT_EQ(dot.find(last + "\\nfloat [7]") != std::string::npos, count == 64) << count;
  }
}

// --- memory ---

constexpr char kPredictor[] = R"(
    nets { key: "GLOBAL_INIT_NET_TYPE" value { name: "global" } }
    nets { key: "PREDICT_INIT_NET_TYPE" value { name: "init"
           op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [3, 2] } }
           op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } } } }
    nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["data", "w", "b"]
           external_output: "y" op { type: "FC" input: ["data", "w", "b"] output: "y" } } }
    blobs { key: "INPUTS_BLOB_TYPE" value: "data" } blobs { key: "OUTPUTS_BLOB_TYPE" value: "y" }
    blobs { key: "PARAMETERS_BLOB_TYPE" })";

// 9 floats of weights, 4 x 2 of the input and 4 x 3 of the output.
TEST_F(InspectDetailsTest, MemoryOfAModelIsThatOfTheNetThatRuns) {
  MetaNetDef meta;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kPredictor, &meta));
  Blob blob;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  {
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    transaction->Commit();
  }
  const std::string json =
      Out({"inspect", "DIR/p.minidb", "--memory", "--input", "data=4,2", "--json"});
  ASSERT_EQ(JsonSize(json, "/nets"), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string net = "/nets/" + std::to_string(i);
    const bool is_model = JsonAt(json, net + "/role") == "\"PREDICT_NET_TYPE\"";
    EXPECT_EQ(JsonAt(json, net + "/memory/prepared"), is_model ? "true" : "false");
    if (!is_model) continue;
    EXPECT_EQ(JsonAt(json, net + "/memory/weight_bytes"), "36");
    EXPECT_EQ(JsonAt(json, net + "/memory/input_bytes"), "32");
    EXPECT_EQ(JsonAt(json, net + "/memory/own_bytes"), "48");
  }
  dir_.Write("net.prototxt", R"(name: "c" input: "data" input_shape { dim: 4 dim: 2 }
      layer { name: "fc" type: "InnerProduct" bottom: "data" top: "y"
              inner_product_param { num_output: 3 } })");
  dir_.Write("w.caffemodel", R"(layer { name: "fc" type: "InnerProduct"
      blobs { shape { dim: 3 dim: 2 } data: [1, 2, 3, 4, 5, 6] }
      blobs { shape { dim: 3 } data: [1, 2, 3] } })");
  const std::string caffe = Out({"inspect", "DIR/net.prototxt", "--weights", "DIR/w.caffemodel",
                                 "--memory", "--json"});
  EXPECT_EQ(JsonAt(caffe, "/nets/0/memory/prepared"), "true");
  EXPECT_EQ(JsonAt(caffe, "/nets/0/memory/weight_bytes"), "36");
  EXPECT_EQ(JsonAt(caffe, "/nets/0/memory/input_bytes"), "32");
}

// The database has the bias itself, and the init net fills the matrix.
TEST_F(InspectDetailsTest, APredictorIsKnownToAllCommands) {
  std::string text = kPredictor;
  const std::string fill =
      R"(op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } })";
  text.replace(text.find(fill), fill.size(), "");
  text.replace(
      text.find("name: \"global\""), 14,
      "name: \"global\" op { type: \"Load\" input: \"!!PREDICTOR_DBREADER\" output: \"b\" }");
  text.replace(text.find("{ key: \"PARAMETERS_BLOB_TYPE\" }"), 31,
               "{ key: \"PARAMETERS_BLOB_TYPE\" value: [\"w\", \"b\"] }");
  MetaNetDef meta;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &meta));
  Blob blob, bias;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  Tensor* const values = bias.GetMutableTensor(CPU);
  values->Resize(3);
  std::fill_n(values->mutable_data<float>(), 3, 5.f);
  {
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    transaction->Put("b", SerializeBlob(bias, "b"));
    transaction->Commit();
  }
  EXPECT_THAT(Out({"inspect", "DIR/p.minidb", "--input", "data=4,2"}),
              HasSubstr("\n  0  FC    y       float [4, 3]       9         24    48 B\n"));
  EXPECT_THAT(Out({"check", "DIR/p.minidb"}),
              HasSubstr("DIR/p.minidb: PREDICT_NET_TYPE: net \"p\": fine\n"));
  EXPECT_THAT(Out({"run", "--predictor", "DIR/p.minidb", "--input", "data=[[1,2]]"}),
              HasSubstr("y     float [1, 3]\n  5 5 5\n"));
  const std::string compared =
      Out({"compare", "DIR/p.minidb", "DIR/p.minidb", "--input", "data=[[1,2]]", "--json"});
  EXPECT_EQ(JsonAt(compared, "/within"), "true");
  EXPECT_THAT(compared, HasSubstr("{\"name\": \"y\", \"within\": true"));
}

TEST_F(InspectDetailsTest, ScratchMemoryIsThatOfAllThreads) {
  dir_.Write("net.pbtxt", R"(name: "c" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 3 } })");
  const auto scratch = [&](const std::string& threads) {
    return JsonAt(Out({"inspect", "DIR/net.pbtxt", "--memory", "--input", "x=1,64,58,58", "--input",
                       "w=64,64,3,3", "--threads", threads, "--json"}),
                  "/nets/0/memory/scratch_bytes");
  };
  // Each thread has columns of its own.
  dir_.Write("transposed.pbtxt", R"(name: "t" external_input: ["x", "w"] external_output: "y"
      op { type: "ConvTranspose" input: ["x", "w"] output: "y" arg { name: "kernel" i: 3 } })");
  const auto columns = [&](const std::string& threads) {
    return std::stoll(
        JsonAt(Out({"inspect", "DIR/transposed.pbtxt", "--memory", "--input", "x=1,64,58,58",
                    "--input", "w=64,64,3,3", "--threads", threads, "--json"}),
               "/nets/0/memory/scratch_bytes"));
  };
  ASSERT_GT(columns("1"), 0);
  EXPECT_EQ(columns("3"), 3 * columns("1"));
  if (scratch("1") == "0") GTEST_SKIP() << "this processor needs no scratch memory for it";
  EXPECT_NE(scratch("1"), scratch("4"));
}

// Such a net has shapes, but cannot be created.
TEST_F(InspectDetailsTest, WeightsOfANetThatCannotBeCreatedAreEstimated) {
  dir_.Write("net.pbtxt", R"(name: "s" type: "simpel" external_input: ["x", "w", "b"]
      external_output: "y" op { type: "FC" input: ["x", "w", "b"] output: "y" })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [3, 2] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } })");
  const ProgramResult result = Run({"inspect", "DIR/net.pbtxt", "--memory", "--init-net",
                                    "DIR/init.pbtxt", "--input", "x=4,2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  weights              36 B\n"));
  EXPECT_THAT(result.out, HasSubstr("\nprepared weights are estimated, because the net cannot be "
                                    "created: net \"s\" has type \"simpel\", which is not known"));
}

// --- kinds of files ---

TEST_F(InspectDetailsTest, ADatabaseIsKnownByAWordOfItsOwn) {
  dir_.Write("two.pbtxt", "protos { dims: 1 data_type: FLOAT float_data: 2 name: \"t\" }");
  Array("x.npy", {1, 2}, {1, 2});
  Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/a.lmdb"});
  Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/a.minidb"});
  for (const char* word : {"db", "DB", "lmdb"})
    EXPECT_THAT(Out({"inspect", "DIR/a.lmdb", "--as", word}),
                StartsWith("DIR/a.lmdb: an LMDB database, 1 entry\n"));
  EXPECT_THAT(Out({"inspect", "DIR/a.minidb", "--as", "db"}),
              StartsWith("DIR/a.minidb: a minidb database, 1 entry\n"));
  for (const char* word : {"protodb", "ProtoDB", "TensorProtos"})
    EXPECT_EQ(Out({"inspect", "DIR/two.pbtxt", "--as", word}),
              "DIR/two.pbtxt: a TensorProtos, 1 entry\n  t  float [1]\n");
  // What is no database is read as the simplest one.
  dir_.Write("net.pbtxt", Fills("n", {"a"}));
  const ProgramResult other = Run({"inspect", "DIR/net.pbtxt", "--as", "db"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, StartsWith("caffe2: minidb \"DIR/net.pbtxt\" is truncated or damaged: "));
}

// --- Graphviz ---

// Waits until the limits are set. Ends with 20 if all is as it should be.
constexpr char kDot[] = R"sh(#!/bin/sh
test "$LC_ALL" = C || exit 21
test "$1" = -Tplain || exit 22
for i in 1 2 3 4 5 6 7 8 9; do test "$(ulimit -v)" = 4194304 && break; sleep 0.01; done
test "$(ulimit -v)" = 4194304 || exit 23
test "$(ulimit -St)" = 8 || exit 24
test "$(ulimit -Ht)" = 9 || exit 25
test "$KEPT" = yes || exit 26
grep -q digraph || exit 27
echo noise >&2
exit 20
)sh";

TEST_F(InspectDetailsTest, GraphvizHasLimitsAndTheLanguageOfFormats) {
  dir_.Write("net.pbtxt", Fills("n", {"a"}));
  chmod(dir_.Write("bin/dot", kDot).c_str(), 0700);
  Environment environment;
  environment.Set("PATH", dir_.path("bin") + ":/usr/bin:/bin");
  environment.Set("LC_ALL", "C.UTF-8");
  environment.Set("KEPT", "yes");
  const ProgramResult result =
      Run({"inspect", "DIR/net.pbtxt", "--svg", "-", "--dot-seconds", "7"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "caffe2: warning: dot failed with exit code 20; the drawing has a plain layout, in "
            "rows\n");
  EXPECT_THAT(result.out, StartsWith("<svg "));
  const ProgramResult without =
      Run({"inspect", "DIR/net.pbtxt", "--svg", "-", "--dot-seconds", "0"});
  EXPECT_EQ(without.err, "");
  EXPECT_EQ(without.out, result.out);
  const ProgramResult wrong =
      Run({"inspect", "DIR/net.pbtxt", "--svg", "-", "--dot-seconds", "86401"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "caffe2: option --dot-seconds is \"86401\", want a number from 0 to 86400\n");
}

TEST_F(InspectDetailsTest, ALayoutThatIsInvalidIsExplained) {
  dir_.Write("net.pbtxt", Fills("n", {"a"}));
  chmod(dir_.Write("bin/dot", "#!/bin/sh\necho graph 1 1 1; echo stop\n").c_str(), 0700);
  Environment environment;
  environment.Set("PATH", dir_.path("bin") + ":/usr/bin:/bin");
  const ProgramResult result = Run({"inspect", "DIR/net.pbtxt", "--svg", "-"});
  EXPECT_THAT(result.err, StartsWith("caffe2: warning: dot printed an invalid layout: "));
  EXPECT_THAT(result.err, Not(HasSubstr("enforce")));
  EXPECT_THAT(result.err, Not(HasSubstr(".cc:")));
}

// --- devices ---

TEST_F(InspectDetailsTest, TheCpuHasTheCoresOfTheProcess) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  const std::string cores = std::to_string(CPU_COUNT(&set)), isa = IsaName(CpuIsa());
  const std::string json = Out({"devices", "--json"});
  EXPECT_EQ(JsonAt(json, "/0/type"), "0");
  EXPECT_EQ(JsonAt(json, "/0/available"), "true");
  EXPECT_EQ(JsonAt(json, "/0/cores"), cores);
  EXPECT_EQ(JsonAt(json, "/0/instruction_set"), "\"" + isa + "\"");
  EXPECT_THAT(Out({"devices", "--memory-limit", "3G"}),
              ContainsRegex("^CPU \\(device type 0\\): " + cores +
                            (cores == "1" ? " core, " : " cores, ") + isa +
                            ", [0-9.]+ [GT]iB of memory, of which nets may use 3 GiB "
                            "\\(--memory-limit\\)\n"));
}

// --- ops and man ---

TEST_F(InspectDetailsTest, RequiredArgumentsAndRangesOfInputsAreStated) {
  EXPECT_THAT(Out({"ops", "Checkpoint"}),
              HasSubstr("  db: path of the database, e.g. model_%06d.minidb (required)\n"));
  EXPECT_EQ(JsonAt(Out({"ops", "Checkpoint", "--json"}), "/0/arguments/1/required"), "true");
  EXPECT_EQ(JsonAt(Out({"ops", "Scale", "--json"}), "/0/arguments/0/required"), "false");
  EXPECT_EQ(JsonAt(Out({"ops", "Checkpoint", "--json"}), "/0/arguments/1/type"), "\"string\"");
  EXPECT_THAT(Out({"ops", "MatMul"}), HasSubstr("\ninputs: 2 to 3\n  0  A: left operand\n     "
                                                "float; rank 2 and more\n  1  B: "));
  EXPECT_THAT(Out({"ops", "Concat"}), HasSubstr("\noutputs: 2\n  0  concat_result: "));
}

TEST_F(InspectDetailsTest, PagesOfUnknownCommandsAreNone) {
  for (const auto& [name, hint] : {std::pair("rum", "; did you mean run?"), {"foo", ""}}) {
    const ProgramResult result = Run({"man", name});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "caffe2: command \""s + name + "\" is not known" + hint + "\n");
  }
}

}  // namespace
}  // namespace caffe2rt::test::inspect_details_test
