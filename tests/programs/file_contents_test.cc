// `caffe2 inspect` and `caffe2 check` on each kind of file: whole listings of tensors, blobs, databases,
// nets with roles, plans and packed models, and the memory that nets need.
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::file_contents_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class FileContentsTest : public ProgramFolder {
 protected:
  // The first output of a net whose memory is reported.
  std::string Memory(const Words& more, const std::string& net = "DIR/mem.pbtxt") const {
    Words words = {"inspect", net, "--memory"};
    words.insert(words.end(), more.begin(), more.end());
    return Out(words);
  }
};

constexpr char kTwoTensors[] = R"(protos { dims: 2 data_type: INT64 int64_data: [1, 2] name: "a" }
    protos { dims: 1 data_type: STRING string_data: "x" name: "bee" })";
constexpr char kPart[] = R"(name: "part" type: "Tensor" tensor { dims: 4 data_type: FLOAT
    float_data: [1, 2] segment { begin: 1 end: 3 } name: "inner" })";

TEST_F(FileContentsTest, TensorsAndBlobsHaveALineEach) {
  dir_.Write("one.pbtxt",
             R"(dims: [2, 3] data_type: FLOAT float_data: [1, 2, 3, 4, 5, 6] name: "w")");
  dir_.Write("two.pbtxt", kTwoTensors);
  dir_.Write("part.pbtxt", kPart);
  dir_.Write("queue.pbtxt", R"(name: "q" type: "queue" content: "abc")");
  EXPECT_EQ(Out({"inspect", "DIR/one.pbtxt"}),
            "DIR/one.pbtxt: a TensorProto, 1 entry\n  w  float [2, 3]\n");
  EXPECT_EQ(Out({"inspect", "DIR/two.pbtxt"}),
            "DIR/two.pbtxt: a TensorProtos, 2 entries\n  a    int64 [2]\n  bee  string [1]\n");
  EXPECT_EQ(
      Out({"inspect", "DIR/two.pbtxt", "--limit", "1"}),
      "DIR/two.pbtxt: a TensorProtos, 2 entries\n  a  int64 [2]\n  ... --limit 2 prints all\n");
  EXPECT_EQ(
      Out({"inspect", "DIR/two.pbtxt", "--limit", "2", "--json"}),
      "{\"file\": \"DIR/two.pbtxt\", \"kind\": \"TensorProtos\", \"entries\": 2, \"tensors\": "
      "[{\"name\": \"a\", \"type\": \"int64\", \"dims\": [2]}, {\"name\": \"bee\", \"type\": "
      "\"string\", \"dims\": [1]}]}\n");
  EXPECT_EQ(Out({"inspect", "DIR/part.pbtxt"}),
            "DIR/part.pbtxt: a BlobProto, 1 entry\n  part  float [4]   elements 1 to 3\n");
  // 3 bytes for the name, 7 for the type and 5 for the content.
  EXPECT_EQ(Out({"inspect", "DIR/queue.pbtxt"}),
            "DIR/queue.pbtxt: a BlobProto, 1 entry\n  q  queue   15 bytes\n");
  EXPECT_EQ(Out({"inspect", "DIR/queue.pbtxt", "--json"}),
            "{\"file\": \"DIR/queue.pbtxt\", \"kind\": \"BlobProto\", \"entries\": 1, \"tensors\": "
            "[{\"name\": \"q\", \"type\": \"queue\", \"detail\": \"15 bytes\"}]}\n");
}

// A record of a minidb.
std::string Record(const std::string& key, const std::string& value) {
  const auto size = [](const std::string& text) {
    return std::string{static_cast<char>(text.size()), 0, 0, 0};
  };
  return size(key) + size(value) + key + value;
}

TEST_F(FileContentsTest, ADatabaseHasALineForEachRecord) {
  dir_.Write("two.pbtxt", kTwoTensors);
  dir_.Write("part.pbtxt", kPart);
  Out({"convert", "DIR/two.pbtxt", "--to", "binary", "--output", "DIR/two.pb"});
  Out({"convert", "DIR/part.pbtxt", "--to", "binary", "--output", "DIR/part.pb"});
  BlobProto queue;
  queue.set_name("q");
  queue.set_type("queue");
  queue.set_content("abc");
  // Caffe's Datum: channels, height, width, data, label; data, label, whether it is encoded.
  const std::string pixels =
                        "\x08\x01\x10\x02\x18\x03\x22\x06"
                        "abcdef\x28\x07",
                    encoded = "\x22\x03xyz\x28\x04\x38\x01";
  dir_.Write("db", Record("k1", ReadWholeFile(dir_.path("two.pb"))) +
                       Record("k2", queue.SerializeAsString()) +
                       Record("k3", ReadWholeFile(dir_.path("part.pb"))) + Record("k4", pixels) +
                       Record("k5", encoded) + Record("k6", "\xff\xfe"));
  EXPECT_EQ(
      Out({"inspect", "DIR/db"}),
      "DIR/db: a minidb database, 6 entries\n"
      "  k1: a    int64 [2]\n  k1: bee  string [1]\n  k2       queue   15 bytes\n"
      "  k3       float [4]   elements 1 to 3\n  k4       Datum of Caffe [1, 2, 3]   label 7\n"
      "  k5       Datum of Caffe   label 4, encoded image\n  k6       bytes   2 bytes\n");
  // As many records, not tensors.
  EXPECT_EQ(Out({"inspect", "DIR/db", "--limit", "1"}),
            "DIR/db: a minidb database, 6 entries\n  k1: a    int64 [2]\n  k1: bee  string [1]\n"
            "  ... --limit 6 prints all\n");
  const std::string json = Out({"inspect", "DIR/db", "--json"});
  EXPECT_EQ(JsonAt(json, "/entries"), "6");
  EXPECT_EQ(JsonAt(json, "/tensors/4"),
            R"({"name":"k4","type":"Datum of Caffe","dims":[1,2,3],"detail":"label 7"})");
  EXPECT_EQ(JsonAt(json, "/tensors/5"),
            R"({"name":"k5","type":"Datum of Caffe","detail":"label 4, encoded image"})");
  EXPECT_THAT(Out({"db", "list", "DIR/db"}),
              HasSubstr("content\n  k1      27         int64 [2], string [1]\n"
                        "  k2      15         blob of queue\n"));
  EXPECT_THAT(Out({"db", "info", "DIR/db"}),
              HasSubstr("  1 of Datum of Caffe [1, 2, 3]\n  1 of Datum of Caffe, an encoded image\n"
                        "  1 of blob of Tensor\n  1 of blob of queue\n  1 of bytes\n"
                        "  1 of int64 [2], string [1]\nlabels\n  label  records\n      4        1\n"
                        "      7        1\n"));
}

// The init net writes w, the file states that b is a parameter, too.
constexpr char kMeta[] = R"(
    nets { key: "PREDICT_INIT_NET_TYPE" value { name: "fill" op { type: "ConstantFill" output: "w"
           arg { name: "shape" ints: [3, 2] } } } }
    nets { key: "PREDICT_NET_TYPE" value { external_input: ["x", "w", "b"] external_output: "y"
           op { type: "FC" input: ["x", "w", "b"] output: "y" } } }
    blobs { key: "INPUTS_BLOB_TYPE" value: "x" }
    blobs { key: "PARAMETERS_BLOB_TYPE" value: ["w", "b"] })";

TEST_F(FileContentsTest, NetsWithRolesKnowEachOther) {
  dir_.Write("meta.pbtxt", kMeta);
  EXPECT_EQ(Out({"inspect", "DIR/meta.pbtxt", "--input", "x=4,2"}),
            R"(DIR/meta.pbtxt: a MetaNetDef
INPUTS_BLOB_TYPE: x
PARAMETERS_BLOB_TYPE: w, b
PREDICT_INIT_NET_TYPE: net "fill", 1 operator
     type          output  shape         params  memory
  0  ConstantFill  w       float [3, 2]       6    24 B
total: 6 parameters (24 B), 0 multiply-adds, 24 B of output blobs
PREDICT_NET_TYPE: net "meta", 1 operator
     type  output  shape  params
  0  FC    y       ?           6
total: 6 parameters (24 B), 0 multiply-adds, 0 B of output blobs
1 operator has unknown shapes, first FC: the shape of input "b" is not known; --init-net and --input BLOB=DIMS provide shapes
)");
  const std::string json = Out({"inspect", "DIR/meta.pbtxt", "--json"});
  EXPECT_EQ(JsonAt(json, "/kind"), R"("MetaNetDef")");
  EXPECT_EQ(JsonAt(json, "/nets/1/role"), R"("PREDICT_NET_TYPE")");
  EXPECT_EQ(JsonAt(json, "/nets/1/name"), R"("meta")");
  EXPECT_EQ(JsonAt(json, "/nets/1/operators/0/output_shapes"), R"([{"known":false}])");
  EXPECT_EQ(JsonAt(json, "/nets/1/operators/0/problem"),
            R"("the shape of input \"x\" is not known")");
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/0"),
            R"({"type":"ConstantFill","name":"","inputs":[],"outputs":["w"],)"
            R"("output_shapes":[{"type":"FLOAT","dims":[3,2]}],"parameters":6,"multiply_adds":0,)"
            R"("output_bytes":24})");
  EXPECT_EQ(Out({"check", "DIR/meta.pbtxt"}),
            "DIR/meta.pbtxt: PREDICT_INIT_NET_TYPE: net \"fill\": fine\n"
            "DIR/meta.pbtxt: PREDICT_NET_TYPE: net \"meta\": fine\n");
  // The net with the role of a prediction is drawn.
  EXPECT_THAT(Out({"inspect", "DIR/meta.pbtxt", "--dot", "-"}),
              ::testing::AllOf(HasSubstr("FC"), Not(HasSubstr("ConstantFill"))));
  // Without what the file states about its blobs, they are not given.
  std::string bare = kMeta;
  dir_.Write("bare.pbtxt", bare.substr(0, bare.find("blobs {")));
  const ProgramResult result = Run({"check", "DIR/bare.pbtxt"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("no init net fills the weights \"b\" of FC\n"));
  EXPECT_THAT(result.out, HasSubstr("input \"x\" was not given"));
}

TEST_F(FileContentsTest, StepsOfAPlanStateHowOftenAndHowLongTheyRun) {
  dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "n" op { type: "ConstantFill" output: "s" } }
      network { name: "m" type: "dag" op { type: "Copy" input: "s" output: "t" } }
      execution_step { name: "outer" num_iter: 2 concurrent_substeps: true
        substep { name: "in" network: "n" should_stop_blob: "s" }
        substep { name: "par" network: ["n", "m"] num_concurrent_instances: 2 } }
      execution_step { num_iter: 1 should_stop_blob: "t" network: "n"
        substep { substep { name: "deep" num_concurrent_instances: 1 } } }
      execution_step { name: "end" })");
  EXPECT_EQ(Out({"inspect", "DIR/plan.pbtxt"}),
            R"(DIR/plan.pbtxt: a PlanDef
plan "p"
  step "outer", 2 times, substeps concurrently
    step "in", until "s": n
    step "par", 2 instances: n, m
  step "", 1 time, until "t": n
    step ""
      step "deep"
  step "end"
  blob  written by  read by
  s     n           step in
  s     n           m
  t     m           step without name
net "n", 1 operator
     type          output  shape     params  memory
  0  ConstantFill  s       float []       1     4 B
total: 1 parameter (4 B), 0 multiply-adds, 4 B of output blobs
net "m", type dag, 1 operator
     type  output  shape
  0  Copy  t       ?
total: 0 parameters (0 B), 0 multiply-adds, 0 B of output blobs
1 operator has unknown shapes, first Copy: the shape of input "s" is not known; --init-net and --input BLOB=DIMS provide shapes
)");
  EXPECT_EQ(JsonAt(Out({"inspect", "DIR/plan.pbtxt", "--json"}), "/blobs"),
            R"([{"blob":"s","written_by":"n","stops_step":"in"},)"
            R"({"blob":"s","written_by":"n","read_by":"m"},)"
            R"({"blob":"t","written_by":"m","stops_step":""}])");
}

constexpr char kMemoryNet[] = R"(name: "mem" external_input: ["x", "w"] external_output: "z"
    op { type: "Add" input: ["x", "w"] output: "y" }
    op { type: "Exp" input: "y" output: "t" } op { type: "Sqr" input: "t" output: "z" })";
constexpr char kMemoryInit[] =
    R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 100 } })";

// Each blob has 400 bytes, which are 448 in the plan. The weights stay in the workspace.
TEST_F(FileContentsTest, MemoryIsTheSumOfItsParts) {
  dir_.Write("mem.pbtxt", kMemoryNet);
  dir_.Write("init.pbtxt", kMemoryInit);
  const std::string blobs =
      "  blob  shape        memory  offset  operators\n"
      "  y     float [100]   400 B       0  0 to 1\n"
      "  t     float [100]   400 B       0  1 to 2\n"
      "  z     float [100]   400 B     own  2 to 2\n";
  const std::string parts =
      "  activations           448 B  planned; at least 448 B are in use at once\n"
      "  outputs and others    400 B  activations with memory of their own\n"
      "  scratch memory          0 B\n"
      "  peak                1.6 KiB  the activations need 1.2 KiB without a plan\n";
  const std::string title = "DIR/mem.pbtxt: a NetDef\nnet \"mem\", memory before a run\n";
  EXPECT_EQ(Memory({"--input", "x=100", "--input", "w=100"}),
            title +
                "of the net as it is written\n  weights                 0 B\n"
                "  prepared weights        0 B  in the layouts of the operators\n"
                "  inputs                800 B\n" +
                parts + blobs);
  EXPECT_EQ(Memory({"--input", "x=100", "--init-net", "DIR/init.pbtxt"}),
            title +
                "of the net as it runs; no graph pass changes it\n"
                "  weights               400 B\n"
                "  prepared weights        0 B  in the layouts of the operators\n"
                "  inputs                400 B\n" +
                parts + blobs);
  const std::string kept =
      Memory({"--input", "x=100", "--input", "w=100", "--fetch", "y", "--limit", "1"});
  EXPECT_THAT(kept, HasSubstr("  outputs and others    800 B  activations"));
  EXPECT_TRUE(
      kept.ends_with("  y     float [100]   400 B     own  0 to 1\n"
                     "  and 2 more, see --limit\n"))
      << kept;
  EXPECT_EQ(
      JsonAt(Memory({"--input", "x=100", "--input", "w=100", "--json"}), "/nets/0/memory"),
      R"({"prepared":false,"passes":[],"weight_bytes":0,"prepared_bytes":0,)"
      R"("unknown_prepared":[],"input_bytes":800,"arena_bytes":448,"own_bytes":400,)"
      R"("scratch_bytes":0,"peak_bytes":1648,"live_bytes":448,"activation_bytes":1200,)"
      R"("blobs":[{"name":"y","shape":"float [100]","bytes":400,"planned":true,"first_op":0,)"
      R"("last_op":1,"offset":0},{"name":"t","shape":"float [100]","bytes":400,"planned":true,)"
      R"("first_op":1,"last_op":2,"offset":0},{"name":"z","shape":"float [100]","bytes":400,)"
      R"("planned":false,"first_op":2,"last_op":2}],"unknown":[]})");
}

TEST_F(FileContentsTest, MemoryOfUnknownShapesIsNotCounted) {
  dir_.Write("mem.pbtxt", kMemoryNet);
  dir_.Write("init.pbtxt", kMemoryInit);
  const std::string one = Memory({"--init-net", "DIR/init.pbtxt"});
  EXPECT_TRUE(one.ends_with(
      "  peak                400 B  the activations need 0 B without a plan\n"
      "not counted: 1 input without a shape (--input or --init-net): \"x\"\n"
      "not counted: 3 blobs of unknown size, first \"y\": operator 0 (Add): the shape of input "
      "\"x\" is not known\n"))
      << one;
  EXPECT_THAT(Memory({}), HasSubstr("\nnot counted: 2 inputs without a shape (--input or "
                                    "--init-net): \"x\", \"w\"\n"));
  const std::string json = Memory({"--init-net", "DIR/init.pbtxt", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/memory/prepared"), "true");
  EXPECT_EQ(JsonSize(json, "/nets/0/memory/unknown"), 4u);
  EXPECT_THAT(JsonAt(json, "/nets/0/memory/unknown"), HasSubstr(R"({"name":"x","problem":")"));
}

// All passes and all operators are named.
TEST_F(FileContentsTest, MemoryOfSeveralConvolutionsListsThem) {
  dir_.Write("two.pbtxt", R"(name: "two" external_input: ["x", "w", "b", "v"] external_output: "y"
      op { type: "Conv" input: ["x", "w", "b"] output: "t" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: ["t", "v", "b"] output: "u" arg { name: "kernel" i: 1 } }
      op { type: "Copy" input: "u" output: "c" } op { type: "Relu" input: "c" output: "y" })");
  dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] } }
      op { type: "ConstantFill" output: "v" arg { name: "shape" ints: [1, 1, 1, 1] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } })");
  const Words init = {"--init-net", "DIR/init.pbtxt"};
  const Words given = Joined(init, {"--input", "x=1,1,2,2"});
  const std::string out = Memory(given, "DIR/two.pbtxt");
  const std::string begin = "of the net as it runs, after ";
  const size_t at = out.find(begin) + begin.size();
  const std::string passes = out.substr(at, out.find('\n', at) - at);
  EXPECT_THAT(passes, HasSubstr("remove_copies, "));
  EXPECT_THAT(passes, HasSubstr("fuse_activation"));
  EXPECT_EQ("[\"" + absl::StrReplaceAll(passes, {{", ", "\",\""}}) + "\"]",
            JsonAt(Memory(Joined(given, {"--json"}), "DIR/two.pbtxt"), "/nets/0/memory/passes"));
  const std::string none = Memory(Joined(given, {"--limit", "0"}), "DIR/two.pbtxt");
  EXPECT_TRUE(none.ends_with("  and 2 more, see --limit\n")) << none;
  EXPECT_EQ(none.find("0 to 1"), std::string::npos) << none;
  EXPECT_THAT(Memory(init, "DIR/two.pbtxt"),
              HasSubstr("(--init-net, --input): operator 0, 1\nnot counted: 2 blobs of unknown"));
}

constexpr char kConvNet[] = R"(name: "cv" external_input: ["x", "w", "b"] external_output: "y"
    op { type: "Conv" input: ["x", "w", "b"] output: "y" arg { name: "kernel" i: 3 } }
    op { type: "Relu" input: "y" output: "y" })";
constexpr char kConvInit[] = R"(
    op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [8, 8, 3, 3] } }
    op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 8 } })";

TEST_F(FileContentsTest, MemoryOfANetAfterPassesNamesThem) {
  dir_.Write("cv.pbtxt", kConvNet);
  dir_.Write("init.pbtxt", kConvInit);
  const auto how = [&](Words more) {
    more.insert(more.end(), {"--init-net", "DIR/init.pbtxt"});
    const std::string out = Memory(more, "DIR/cv.pbtxt");
    return out.substr(0, out.find("  inputs"));
  };
  const std::string title = "DIR/cv.pbtxt: a NetDef\nnet \"cv\", memory before a run\n";
  // 8 * 8 * 9 + 8 floats.
  const std::string weights = "  weights              2.3 KiB\n  prepared weights     ";
  EXPECT_THAT(how({"--input", "x=1,8,20,20"}),
              ContainsRegex("of the net as it runs, after [a-z_, ]*fuse_activation.*\n" + weights));
  EXPECT_THAT(how({"--input", "x=1,8,20,20", "--no-optimize"}),
              HasSubstr(title + "of the net as it runs; no graph pass changes it\n" + weights));
  // The prepared weights depend on the shape of the input.
  EXPECT_THAT(Memory({"--init-net", "DIR/init.pbtxt", "--no-optimize"}, "DIR/cv.pbtxt"),
              HasSubstr("not counted: prepared weights of 1 operator, which are known when it has "
                        "its weights and the shapes of its inputs (--init-net, --input): operator "
                        "0\nnot counted: 1 blob of unknown size, first \"y\": operator 0 (Conv): "
                        "the shape of input \"x\" is not known\n"));
}

TEST_F(FileContentsTest, APackedModelStatesWhatItStores) {
  dir_.Write("cv.pbtxt", kConvNet);
  dir_.Write("init.pbtxt", kConvInit);
  const Words nets = {"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/cv.pbtxt"};
  Words words = nets;
  words.push_back("DIR/plain.c2");
  EXPECT_EQ(Out(words), "DIR/plain.c2: 2 tensors\n");
  const std::string plain = Out({"inspect", "DIR/plain.c2", "--input", "x=1,8,5,6"});
  EXPECT_TRUE(plain.starts_with(R"(DIR/plain.c2: a packed model
2 tensors, 2.3 KiB
net "cv", 2 operators
     type  output  shape               params  mult-adds  memory
  0  Conv  y       float [1, 8, 3, 4]     584       6912   384 B
)")) << plain;
  words = nets;
  words.insert(words.end(), {"--prepare", "--input", "x=1,8,20,20", "DIR/ready.c2"});
  EXPECT_THAT(Out(words), ContainsRegex("^DIR/ready.c2: 2 tensors, [0-9]+ prepared forms?\n$"));
  EXPECT_THAT(Out({"inspect", "DIR/ready.c2"}),
              ContainsRegex("2 tensors, 2\\.3 KiB(; prepared for [a-z0-9]+: [1-9][0-9]* forms?, "
                            "[0-9.]+ [KM]?i?B)?; with a prepared net of [12] operators? "
                            "\\(caffe2rt .*, threads 1\\)\n"));
  // The packed weights are those of the model.
  EXPECT_THAT(Memory({"--input", "x=1,8,20,20"}, "DIR/plain.c2"),
              HasSubstr("\n  weights              2.3 KiB\n"));
}

}  // namespace
}  // namespace caffe2rt::test::file_contents_test
