// One model in every kind of file that the commands accept: options and reports apply to each of them.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::kinds_of_models_test {
namespace {

using ::testing::HasSubstr;

// A convolution with the matrix [[2, 1], [0, -1]] of two pixels, (1, 3) and (-2, 0.5).
constexpr char kFill[] = R"(op { type: "GivenTensorFill" output: "w"
    arg { name: "shape" ints: [2, 2, 1, 1] } arg { name: "values" floats: [2, 1, 0, -1] } })";
constexpr char kConv[] = R"(name: "k" external_input: ["x", "w"] external_output: "y"
    op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })";
constexpr char kValues[] = "[5,-3.5,-3,-0.5]";

struct KindOfModel {
  const char* name;
  Words run;         // names the model for `run`
  Words inspect;     // ... and for `inspect`
  bool is_net_file;  // optimize and quantize write its nets
};

class KindsOfModelsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    Array("x.npy", {1, 2, 1, 2}, {1, -2, 3, 0.5f});
    dir_.Write("net.pbtxt", kConv);
    dir_.Write("init.pbtxt", kFill);
    dir_.Write("net.prototxt", R"(name: "k" input: "x"
        input_shape { dim: 1 dim: 2 dim: 1 dim: 2 } layer { name: "c" type: "Convolution"
        bottom: "x" top: "y" convolution_param { num_output: 2 kernel_size: 1 bias_term: false } })");
    dir_.Write("w.caffemodel", R"(layer { name: "c" type: "Convolution"
        blobs { shape { dim: 2 dim: 2 dim: 1 dim: 1 } data: [2, 1, 0, -1] } })");
    Out({"convert", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--to", "onnx",
         "--input-shape", "x=1,2,1,2", "--output", "DIR/k.onnx"});
    Out({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt", "DIR/k.c2pack"});
    WritePredictor("k.minidb", kFill, kConv);
  }
  void WritePredictor(const std::string& name, const std::string& fill,
                      const std::string& net) const {
    MetaNetDef meta;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        std::string("nets { key: \"GLOBAL_INIT_NET_TYPE\" value { name: \"global\" } } ") +
            "nets { key: \"PREDICT_INIT_NET_TYPE\" value { name: \"init\" " + fill + " } } " +
            "nets { key: \"PREDICT_NET_TYPE\" value { " + net + " } } " +
            R"(blobs { key: "INPUTS_BLOB_TYPE" value: "x" }
               blobs { key: "OUTPUTS_BLOB_TYPE" value: "y" }
               blobs { key: "PARAMETERS_BLOB_TYPE" value: "w" })",
        &meta));
    Blob blob;
    *blob.GetMutable<std::string>() = meta.SerializeAsString();
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path(name), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    transaction->Commit();
  }
  const std::vector<KindOfModel> kinds_ = {
      {"nets",
       {"--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt"},
       {"DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--input", "x=1,2,1,2"},
       true},
      {"Caffe",
       {"DIR/net.prototxt", "--weights", "DIR/w.caffemodel"},
       {"DIR/net.prototxt", "--weights", "DIR/w.caffemodel"},
       true},
      {"ONNX", {"DIR/k.onnx"}, {"DIR/k.onnx"}, true},
      {"packed",
       {"--predict-net", "DIR/k.c2pack"},
       {"DIR/k.c2pack", "--input", "x=1,2,1,2"},
       false},
      {"predictor",
       {"--predictor", "DIR/k.minidb"},
       {"DIR/k.minidb", "--input", "x=1,2,1,2"},
       false}};
};

TEST_F(KindsOfModelsTest, OptionsOfRunsApplyToEach) {
  std::string hash;
  for (const KindOfModel& kind : kinds_) {
    SCOPED_TRACE(kind.name);
    const Words run = Joined(Joined({"run"}, kind.run), {"--input", "x=DIR/x.npy", "--json"});
    const std::string all =
        Out(Joined(run, {"--threads", "2", "--executor", "dag", "--deterministic", "--iterations",
                         "2", "--no-optimize", "--no-memory-plan", "--seed", "4", "--receipt",
                         "DIR/r", "--receipt-all", "--report", "DIR/p", "--output", "DIR/y.npz"}));
    EXPECT_EQ(JsonAt(all, "/outputs/0/values"), kValues);
    EXPECT_EQ(JsonAt(all, "/threads"), "2");
    EXPECT_EQ(JsonAt(all, "/includes_preparation"), "false");
    const std::string receipt = ReadWholeFile(dir_.path("r"));
    EXPECT_EQ(JsonAt(receipt, "/executor") + JsonAt(receipt, "/runs") +
                  JsonAt(receipt, "/deterministic") + JsonAt(receipt, "/threads"),
              "\"dag\"2true2");
    EXPECT_EQ(JsonAt(receipt, "/seed"), "4");
    const std::string sum = JsonAt(receipt, "/outputs/0/hash");
    if (hash.empty()) hash = sum;
    EXPECT_EQ(sum, hash);
    EXPECT_EQ(JsonAt(receipt, "/operators/0/hash"), hash);
    const std::string report = ReadWholeFile(dir_.path("p"));
    EXPECT_EQ(JsonAt(report, "/deterministic"), "true");
    EXPECT_EQ(JsonAt(report, "/operators/0/type"), "\"Conv\"");
    EXPECT_EQ(ReadNpz(dir_.path("y.npz")).at(0).second.data<float>()[1], -3.5f);
    // Operators that are watched run in order.
    const std::string watched = Out(Joined(run, {"--stats", "--fetch", "all", "--executor", "dag",
                                                 "--threads", "2", "--receipt", "DIR/w"}));
    EXPECT_EQ(JsonAt(ReadWholeFile(dir_.path("w")), "/executor"), "\"simple\"");
    EXPECT_EQ(JsonSize(watched, "/stats"), 3u);
    EXPECT_EQ(JsonAt(watched, "/stats/2/min") + " " + JsonAt(watched, "/stats/2/max"), "-3.5 5");
    EXPECT_EQ(JsonAt(watched, "/outputs/0/values"), "[1,-2,3,0.5]");
    EXPECT_EQ(JsonAt(watched, "/outputs/1/values"), "[2,1,0,-1]");
    EXPECT_EQ(JsonAt(watched, "/outputs/2/values"), kValues);
    std::filesystem::remove(dir_.path("y.npz"));
  }
}

TEST_F(KindsOfModelsTest, NumbersThatAreNoneAreFoundInEach) {
  Array("nan.npy", {1, 2, 1, 2}, {1, NAN, 3, INFINITY});
  for (const KindOfModel& kind : kinds_) {
    SCOPED_TRACE(kind.name);
    const Words run = Joined(Joined({"run"}, kind.run), {"--input", "x=DIR/nan.npy"});
    const ProgramResult checked = Run(Joined(run, {"--check-finite"}));
    EXPECT_EQ(checked.code, 1);
    EXPECT_EQ(checked.err,
              "caffe2: input \"x\" has 1 NaN and 1 infinite of 4 elements, the first at element 1, "
              "before the net runs\n");
    const ProgramResult warned = Run(run);
    EXPECT_EQ(warned.code, 0);
    EXPECT_EQ(warned.err,
              "caffe2: warning: output \"y\" has NaN in 2 of 4 elements; input \"x\" has it\n");
  }
}

TEST_F(KindsOfModelsTest, CostsMemoryAndDrawingsAreThoseOfEach) {
  for (const KindOfModel& kind : kinds_) {
    SCOPED_TRACE(kind.name);
    const Words inspect = Joined({"inspect"}, kind.inspect);
    const std::string json = Out(Joined(inspect, {"--memory", "--json"}));
    const size_t nets = JsonSize(json, "/nets");
    EXPECT_EQ(nets, kind.name == std::string("predictor") ? 3u : 1u);
    std::string net;
    for (size_t i = 0; i < nets; ++i) {
      if (JsonAt(json, "/nets/" + std::to_string(i) + "/name") == "\"k\"")
        net = "/nets/" + std::to_string(i);
    }
    EXPECT_EQ(JsonAt(json, net + "/parameters"), "4");
    EXPECT_EQ(JsonAt(json, net + "/multiply_adds"), "8");
    EXPECT_EQ(JsonAt(json, net + "/activation_bytes"), "16");
    EXPECT_EQ(JsonAt(json, net + "/operators/0/output_shapes"),
              R"([{"type":"FLOAT","dims":[1,2,1,2]}])");
    EXPECT_EQ(JsonAt(json, net + "/memory/prepared"), "true");
    EXPECT_EQ(JsonAt(json, net + "/memory/weight_bytes"), "16");
    EXPECT_EQ(JsonAt(json, net + "/memory/input_bytes"), "16");
    EXPECT_EQ(JsonAt(json, net + "/memory/own_bytes"), "16");
    const std::string dot = Out(Joined(inspect, {"--dot", "-"}));
    EXPECT_THAT(dot, HasSubstr("\\ny\\nfloat [1, 2, 1, 2]"));
    EXPECT_THAT(dot, HasSubstr("x\\ninput: float [1, 2, 1, 2]"));
    EXPECT_EQ(dot.find("\"w"), std::string::npos) << "weights are not drawn";
  }
}

TEST_F(KindsOfModelsTest, NetsOfEachAreWritten) {
  for (const KindOfModel& kind : kinds_) {
    SCOPED_TRACE(kind.name);
    const auto values = [&](const Words& model) {
      return JsonAt(Out(Joined(Joined({"run"}, model), {"--input", "x=DIR/x.npy", "--json"})),
                    "/outputs/0/values");
    };
    const Words written = {"--init-net", "DIR/i.pb", "--predict-net", "DIR/p.pb"};
    const ProgramResult optimized =
        Run(Joined(Joined({"optimize"}, kind.run),
                   {"--output-init-net", "DIR/i.pb", "--output-predict-net", "DIR/p.pb"}));
    const ProgramResult quantized =
        Run(Joined(Joined({"quantize"}, kind.run),
                   {"--input", "x=DIR/x.npy", "--output-predict-net", "DIR/q.pbtxt", "--json"}));
    if (kind.is_net_file) {
      EXPECT_EQ(optimized.code, 0) << optimized.err;
      EXPECT_EQ(values(written), kValues);
      EXPECT_EQ(quantized.code, 0) << quantized.err;
      EXPECT_EQ(JsonAt(quantized.out, "/operators/0/min"), "-2.5");
      EXPECT_EQ(JsonAt(quantized.out, "/operators/0/max"), "3.75");
      EXPECT_THAT(ReadWholeFile(dir_.path("q.pbtxt")), HasSubstr("name: \"input_max\""));
    } else {
      EXPECT_EQ(optimized.code, 2);
      EXPECT_EQ(quantized.code, 2);
      EXPECT_EQ(
          quantized.err,
          kind.name == std::string("predictor")
              ? "caffe2: --predictor is given: only models in --init-net and --predict-net "
                "files can be quantized; caffe2 convert DB --output FOLDER writes such files\n"
              : "caffe2: want the files of an init net and a predict net, see --help\n");
    }
    for (const char* name : {"i.pb", "p.pb", "q.pbtxt"}) std::filesystem::remove(dir_.path(name));
    EXPECT_EQ(Out(Joined(Joined({"pack"}, kind.run), {"--output", "DIR/again.c2pack"})),
              "DIR/again.c2pack: 1 tensor\n");
    EXPECT_EQ(values({"--predict-net", "DIR/again.c2pack"}), kValues);
  }
}

// A float has 24 bits: y would be 0 if w was one.
TEST_F(KindsOfModelsTest, ParametersInDoubleAreWrittenExactly) {
  const std::string fill = R"(type: "GivenTensorDoubleFill" arg { name: "shape" ints: 1 } )";
  WritePredictor("d.minidb",
                 "op { output: \"one\" " + fill + "arg { name: \"values\" floats: 1 } }" +
                     "op { output: \"low\" " + fill +
                     "arg { name: \"values\" floats: 9.5367431640625e-7 } }" +
                     "op { output: \"rest\" " + fill +
                     "arg { name: \"values\" floats: 2.9802322387695312e-8 } }" +
                     R"(op { type: "Sum" input: ["one", "low", "rest"] output: "w" })",
                 R"(name: "d" external_input: ["x", "w"] external_output: "y"
                    op { type: "Sub" input: ["w", "one"] output: "h" }
                    op { type: "Sub" input: ["h", "low"] output: "y" } external_input: "one"
                    external_input: "low")");
  const auto values = [&](const Words& model) {
    return JsonAt(Out(Joined(Joined({"run"}, model), {"--input", "x=DIR/x.npy", "--json"})),
                  "/outputs/0/values");
  };
  const std::string want = values({"--predictor", "DIR/d.minidb"});
  EXPECT_THAT(want, HasSubstr("2.98023"));  // 2^-25
  Out({"convert", "DIR/d.minidb", "--output", "DIR/nets"});
  EXPECT_EQ(
      values({"--init-net", "DIR/nets/init_net.pb", "--predict-net", "DIR/nets/predict_net.pb"}),
      want);
}

// So a trained net can be optimized, quantized and exported.
TEST_F(KindsOfModelsTest, NetsOfAPredictorAreWrittenWithItsParameters) {
  const auto values = [&](const Words& model) {
    return JsonAt(Out(Joined(Joined({"run"}, model), {"--input", "x=DIR/x.npy", "--json"})),
                  "/outputs/0/values");
  };
  for (const char* form : {"binary", "text"}) {
    SCOPED_TRACE(form);
    const std::string end = form == std::string("text") ? ".pbtxt" : ".pb";
    EXPECT_EQ(
        Out({"convert", "DIR/k.minidb", "--to", form, "--output", "DIR/nets"}),
        "DIR/nets/init_net" + end + ": 1 operator\nDIR/nets/predict_net" + end + ": 1 operator\n");
    const Words nets = {"--init-net", "DIR/nets/init_net" + end, "--predict-net",
                        "DIR/nets/predict_net" + end};
    EXPECT_EQ(values(nets), kValues);
    const ProgramResult quantized =
        Run(Joined(Joined({"quantize"}, nets),
                   {"--input", "x=DIR/x.npy", "--output-predict-net", "DIR/q.pbtxt", "--json"}));
    EXPECT_EQ(quantized.code, 0) << quantized.err;
    EXPECT_EQ(JsonAt(quantized.out, "/operators/0/max"), "3.75");  // 3, and 25 percent more
  }
  EXPECT_EQ(
      Out({"convert", "DIR/k.minidb", "--input-shape", "x=1,2,1,2", "--output", "DIR/p.onnx"}),
      "DIR/p.onnx\n");
  EXPECT_EQ(values({"DIR/p.onnx"}), kValues);
  const ProgramResult nowhere = Run({"convert", "DIR/k.minidb"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.err, "caffe2: want --output FOLDER for init_net.pb and predict_net.pb\n");
  // A type of database is one, whatever its name.
  EXPECT_EQ(Run({"convert", "DIR/k.minidb", "--to", "leveldb", "--output", "DIR/copy"}).err, "");
  EXPECT_EQ(values({"--predictor", "DIR/copy"}), kValues);
  // Names of files of tensors, which have no strings.
  for (const char* name : {"w.pb", "w.pbtxt", "w.prototxt", "w.txt"}) {
    SCOPED_TRACE(name);
    const ProgramResult tensors =
        Run({"convert", "DIR/k.minidb", "--output", std::string("DIR/") + name});
    EXPECT_EQ(tensors.code, 1);
    EXPECT_EQ(tensors.err,
              "caffe2: blob \"!!META_NET_DEF\" is a string, which TensorProtos cannot hold; want a "
              "database\n");
    EXPECT_FALSE(std::filesystem::exists(dir_.path(name)));
  }
}

}  // namespace
}  // namespace caffe2rt::test::kinds_of_models_test
