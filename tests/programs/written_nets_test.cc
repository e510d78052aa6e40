// Nets that `caffe2 optimize`, `caffe2 gradients` and `caffe2 convert` write: devices, constants, gradients of indices,
// and the format of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::written_nets_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

class WrittenNetsTest : public ProgramFolder {
 protected:
  NetDef Net(const std::string& name) const { return LoadNet(dir_.path(name)); }
  static Words Types(const NetDef& net) {
    Words types;
    for (const OperatorDef& op : net.op()) types.push_back(op.type());
    return types;
  }
  // Whether the file is text.
  bool IsText(const std::string& name) const {
    return ReadWholeFile(dir_.path(name)).find("op {") != std::string::npos;
  }
};

// --- optimize ---

// The net has no device, the operators of the init nets may have one of their own: CUDA is 1.
TEST_F(WrittenNetsTest, OperatorsOfInitNetsKeepTheDeviceOfTheirNet) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w", "v", "u"] external_output: "y"
      op { type: "Sum" input: ["x", "w", "v", "u"] output: "y" })");
  dir_.Write("one.pbtxt", R"(device_option { device_type: 0 random_seed: 5 }
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } }
      op { type: "ConstantFill" output: "v" arg { name: "shape" ints: 2 }
           device_option { random_seed: 6 } })");
  dir_.Write("two.pbtxt", R"(op { type: "ConstantFill" output: "u" arg { name: "shape" ints: 2 }
      device_option { device_type: 0 random_seed: 7 } })");
  Out({"optimize", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/one.pbtxt", "--init-net",
       "DIR/two.pbtxt", "--output-init-net", "DIR/i.pbtxt", "--output-predict-net", "DIR/o.pbtxt"});
  const NetDef init = Net("i.pbtxt");
  ASSERT_EQ(init.op_size(), 3);
  EXPECT_EQ(init.op(0).device_option().random_seed(), 5u);
  EXPECT_EQ(init.op(1).device_option().random_seed(), 6u);
  EXPECT_EQ(init.op(2).device_option().random_seed(), 7u);
  EXPECT_FALSE(init.has_device_option());
}

// The input of an operator of constants is one, and so is its output.
TEST_F(WrittenNetsTest, ConstantsOfEachTypeAreFilled) {
  const struct {
    const char *fill, *values;
  } types[] = {{"GivenTensorFill", "floats: [1.5, -2]"},
               {"GivenTensorIntFill", "ints: [3, -4]"},
               {"GivenTensorInt64Fill", "ints: [5000000000, -6]"},
               {"GivenTensorDoubleFill", "floats: [1.5, -2]"},
               {"GivenTensorBoolFill", "ints: [1, 0]"}};
  const auto write_init = [&](const std::string& fill, const std::string& values) {
    dir_.Write("init.pbtxt", "op { type: \"" + fill +
                                 "\" output: \"w\" arg { name: \"shape\" ints: 2 } arg { name: "
                                 "\"values\" " +
                                 values + " } }");
  };
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Reshape" input: "w" output: ["c", "old"] arg { name: "shape" ints: [2, 1] } }
      op { type: "Add" input: ["x", "c"] output: "y" })");
  for (const auto& type : types) {
    SCOPED_TRACE(type.fill);
    write_init(type.fill, type.values);
    EXPECT_EQ(Out({"optimize", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt",
                   "--output-init-net", "DIR/i.pbtxt", "--output-predict-net", "DIR/o.pbtxt"}),
              "2 operators, 1 after optimization\napplied fold_constants\n");
    const NetDef init = Net("i.pbtxt");
    ASSERT_EQ(Types(init), Words{type.fill}) << "the weight is not needed any more";
    const OperatorDef& fill = init.op(0);
    ASSERT_EQ(fill.arg_size(), 2);
    EXPECT_EQ(fill.arg(0).name(), "shape");
    EXPECT_EQ(std::vector<int64_t>(fill.arg(0).ints().begin(), fill.arg(0).ints().end()),
              (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(fill.arg(1).name(), "values");
    const std::vector<float> floats(fill.arg(1).floats().begin(), fill.arg(1).floats().end());
    const std::vector<int64_t> ints(fill.arg(1).ints().begin(), fill.arg(1).ints().end());
    if (type.fill == "GivenTensorFill"s || type.fill == "GivenTensorDoubleFill"s) {
      EXPECT_EQ(floats, (std::vector<float>{1.5f, -2}));
    } else if (type.fill == "GivenTensorBoolFill"s) {
      EXPECT_EQ(ints, (std::vector<int64_t>{1, 0}));
    } else {
      EXPECT_EQ(ints, type.fill == "GivenTensorIntFill"s
                          ? (std::vector<int64_t>{3, -4})
                          : (std::vector<int64_t>{5000000000, -6}));
    }
    EXPECT_EQ(Net("o.pbtxt").op(0).input(1), fill.output(0));
  }
  dir_.Write("init.pbtxt", R"(op { type: "GivenTensorIntFill" output: "v"
      arg { name: "shape" ints: 2 } arg { name: "values" ints: [1, 2] } }
      op { type: "Cast" input: "v" output: "w" arg { name: "to" i: 7 } })");
  const Words words = {"optimize",       "--predict-net",        "DIR/net.pbtxt",
                       "--init-net",     "DIR/init.pbtxt",       "--output-init-net",
                       "DIR/none.pbtxt", "--output-predict-net", "DIR/none_too.pbtxt"};
  const ProgramResult wrong = Run(words);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err,
              HasSubstr("\" has elements of type int8, which no init net can fill; --without-pass "
                        "fold_constants leaves it out\n"));
  EXPECT_FALSE(fs::exists(dir_.path("none.pbtxt")) || fs::exists(dir_.path("none_too.pbtxt")));
  EXPECT_EQ(Run(Joined(words, {"--without-pass", "fold_constants"})).code, 0);
}

// A blob that is kept is neither fused away nor renamed.
TEST_F(WrittenNetsTest, BlobsThatAreKeptStay) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "z"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } }
      op { type: "Relu" input: "y" output: "z" })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [2, 2, 1, 1] } })");
  const auto operators = [&](const Words& more, const std::string& name = "o.pbtxt") {
    Out(Joined({"optimize", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt",
                "--output-init-net", "DIR/i.pbtxt", "--output-predict-net", "DIR/" + name},
               more));
    return Net(name).op_size();
  };
  EXPECT_EQ(operators({"--keep", "y"}), 2);
  EXPECT_EQ(operators({"--keep", "z", "--keep", "y"}), 2);
  EXPECT_EQ(operators({"--keep", "z"}), 1);
  for (const auto& [name, text] :
       {std::pair("a.pbtxt", true), {"a.prototxt", true}, {"a.txt", true}, {"a.pb", false}}) {
    EXPECT_EQ(operators({}, name), 1);
    EXPECT_EQ(IsText(name), text) << name;
  }
}

// --- gradients ---

// loss = the sum of the rows of w that the indices name: the gradient of w is one of indices and values.
constexpr char kGather[] = R"(name: "g" external_input: ["w", "i", "x"] external_output: "loss"
    op { type: "Gather" input: ["w", "i"] output: "rows" }
    op { type: "Mul" input: ["rows", "x"] output: "y" }
    op { type: "SumElements" input: "y" output: "loss" })";

TEST_F(WrittenNetsTest, AGradientOfRowsHasIndicesAndValues) {
  dir_.Write("net.pbtxt", kGather);
  const Words gradients = {"gradients", "--predict-net", "DIR/net.pbtxt", "--loss",
                           "loss",      "--output",      "DIR/o.pbtxt"};
  EXPECT_THAT(Out(gradients), HasSubstr("\nw: i rows_grad\n"));
  EXPECT_EQ(Net("o.pbtxt").external_output_size(), 1) << "none is asked for";
  EXPECT_EQ(Out(Joined(gradients, {"--wrt", "w", "--wrt", "x", "--json"})),
            "{\"net\": \"g\", \"forward_operators\": 3, \"backward_operators\": " +
                std::to_string(Net("o.pbtxt").op_size() - 3) +
                ", \"gradients\": [{\"blob\": \"w\", \"indices\": \"i\", \"values\": \"rows_grad\"}, "
                "{\"blob\": \"x\", \"gradient\": \"x_grad\"}]}\n");
  const NetDef net = Net("o.pbtxt");
  EXPECT_EQ(Words(net.external_output().begin(), net.external_output().end()),
            (Words{"loss", "i", "rows_grad", "x_grad"}));
}

// y = x * w with w = 2: the first loss gives the gradient 2, the second 3 times as much.
TEST_F(WrittenNetsTest, GradientsOfSeveralLossesAreAdded) {
  dir_.Write("net.pbtxt", R"(name: "g" external_input: ["x", "w"] external_output: ["a", "b"]
      op { type: "Mul" input: ["x", "w"] output: "y" }
      op { type: "SumElements" input: "y" output: "a" }
      op { type: "Scale" input: "a" output: "b" arg { name: "scale" f: 3 } })");
  const auto gradient = [&](const Words& losses) {
    Words words = {"gradients", "--predict-net", "DIR/net.pbtxt", "--output",
                   "DIR/o.pbtxt", "--wrt", "x"};
    for (const std::string& loss : losses) words.insert(words.end(), {"--loss", loss});
    Out(words);
    const std::string json = Out({"run", "--predict-net", "DIR/o.pbtxt", "--input", "x=[5]",
                                  "--input", "w=[2]", "--json"});
    EXPECT_EQ(JsonAt(json, "/outputs/2/name"), "\"x_grad\"");
    return JsonAt(json, "/outputs/2/values");
  };
  EXPECT_EQ(gradient({"a"}), "[2]");
  EXPECT_EQ(gradient({"b"}), "[6]");
  EXPECT_EQ(gradient({"a", "b"}), "[8]");
  // What is an output already is none a second time.
  std::string net = ReadWholeFile(dir_.path("net.pbtxt"));
  dir_.Write("net.pbtxt",
             net.replace(net.find("external_output: ["), 18, "external_output: [\"x_grad\", "));
  Out({"gradients", "--predict-net", "DIR/net.pbtxt", "--output", "DIR/o.pbtxt", "--wrt", "x",
       "--loss", "a"});
  EXPECT_EQ(Net("o.pbtxt").external_output_size(), 3);
}

TEST_F(WrittenNetsTest, ANetWithGradientsHasTheFormatOfItsNameOrFile) {
  dir_.Write("net.pbtxt", kGather);
  Out({"convert", "DIR/net.pbtxt", "--to", "binary", "--output", "DIR/net.pb"});
  for (const auto& [from, text] : {std::pair("DIR/net.pbtxt", true), {"DIR/net.pb", false}}) {
    for (const auto& [to, want] : {std::pair("a", text), {"a.pb", false}, {"a.pbtxt", true}}) {
      Out({"gradients", "--predict-net", from, "--loss", "loss", "--output", "DIR/"s + to});
      EXPECT_EQ(IsText(to), want) << from << " " << to;
    }
  }
}

// The init net fills w, also if it is made for a device that is not there; the seed gives x its values.
TEST_F(WrittenNetsTest, VerifiedGradientsHaveTheInputsOfTheOptions) {
  dir_.Write("net.pbtxt", R"(name: "g" external_input: ["x", "w"] external_output: "loss"
      op { type: "Mul" input: ["x", "w"] output: "y" device_option { device_type: 1 } }
      op { type: "SumElements" input: "y" output: "loss" })");
  dir_.Write("init.pbtxt", R"(device_option { device_type: 1 } op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: 2 } arg { name: "value" f: 3 } device_option { device_type: 1 } })");
  const auto verify = [&](const Words& more) {
    return Out(Joined({"gradients", "--predict-net", "DIR/net.pbtxt", "--loss", "loss", "--verify",
                       "--init-net", "DIR/init.pbtxt", "--json"},
                      more));
  };
  const std::string x = verify({"--wrt", "x", "--input", "x=2"});
  EXPECT_EQ(JsonSize(x, "/verified"), 1u);
  EXPECT_EQ(JsonAt(x, "/verified/0/blob"), "\"x\"");
  EXPECT_EQ(JsonAt(x, "/verified/0/elements"), "2");
  EXPECT_EQ(JsonAt(x, "/verified/0/worst/computed"), "3");
  // The gradient of w is x.
  const auto of_w = [&](const Words& more) {
    return JsonAt(verify(Joined({"--wrt", "w", "--input", "x=2"}, more)),
                  "/verified/0/worst/computed");
  };
  EXPECT_EQ(of_w({"--seed", "1"}), of_w({}));
  EXPECT_NE(of_w({"--seed", "2"}), of_w({}));
  Tensor doubles(std::vector<int64_t>{2}, CPU);
  std::fill_n(doubles.mutable_data<double>(), 2, 4.0);
  dir_.Write("x.npy", "");
  WriteNpy(dir_.path("x.npy"), doubles);
  EXPECT_EQ(JsonAt(verify({"--wrt", "w", "--input", "x=DIR/x.npy", "--cast", "float"}),
                   "/verified/0/worst/computed"),
            "4");
}

// The sum of x w v: its gradient for x is w v = 3 * 5. The database of w is beside its init net.
TEST_F(WrittenNetsTest, VerifiedGradientsHaveTheWeightsOfAllInitNets) {
  dir_.Write("net.pbtxt", R"(name: "g" external_input: ["x", "w", "v"] external_output: "loss"
      op { type: "Mul" input: ["x", "w"] output: "y" }
      op { type: "Mul" input: ["y", "v"] output: "z" }
      op { type: "SumElements" input: "z" output: "loss" })");
  Array("nets/w.npy", {1}, {3});
  Out({"convert", "DIR/nets/w.npy", "--output", "DIR/nets/w.minidb"});
  dir_.Write("nets/load.pbtxt", R"(name: "load" op { type: "Load" output: "w"
      arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } })");
  dir_.Write("fill.pbtxt", R"(name: "fill" op { type: "ConstantFill" output: "v"
      arg { name: "shape" ints: 1 } arg { name: "value" f: 5 } })");
  const std::string load = "DIR/nets/load.pbtxt", fill = "DIR/fill.pbtxt";
  for (const auto& [first, second] : {std::pair(load, fill), {fill, load}}) {
    const std::string json =
        Out({"gradients", "--predict-net", "DIR/net.pbtxt", "--loss", "loss", "--verify",
             "--init-net", first, "--init-net", second, "--input", "x=[2]", "--json"});
    std::string found;
    for (size_t i = 0; i < JsonSize(json, "/verified"); ++i) {
      const std::string entry = "/verified/" + std::to_string(i);
      found += JsonAt(json, entry + "/blob") + JsonAt(json, entry + "/worst/computed");
    }
    EXPECT_EQ(found, R"("v"6"w"10"x"15)") << first;
  }
}

// --- convert ---

TEST_F(WrittenNetsTest, TheFormatIsAsTheOptionTheNameOrTheOtherOne) {
  dir_.Write("net.pbtxt", kGather);
  Out({"convert", "DIR/net.pbtxt", "--to", "binary", "--output", "DIR/net.pb"});
  ASSERT_FALSE(IsText("net.pb"));
  const struct {
    const char *name, *to;
    bool of_text, of_binary;  // whether the output is text
  } rows[] = {{"a.pbtxt", "", true, true},
              {"a.prototxt", "", true, true},
              {"a.txt", "", true, true},
              {"a.pb", "", false, false},
              {"a", "", false, true},
              {"a.pbtxt", "binary", false, false},
              {"a.pb", "text", true, true},
              {"a", "text", true, true},
              {"a.onnx", "text", true, true},
              {"a.onnx", "binary", false, false},
              {"a.prototxt", "binary", false, false}};
  for (const auto& row : rows) {
    for (const char* from : {"DIR/net.pbtxt", "DIR/net.pb"}) {
      Words words = {"convert", from, "--output", "DIR/"s + row.name};
      if (*row.to != 0) words.insert(words.end(), {"--to", row.to});
      EXPECT_EQ(Out(words), "");
      EXPECT_EQ(IsText(row.name), from == "DIR/net.pb"s ? row.of_binary : row.of_text)
          << row.name << " " << row.to << " " << from;
      EXPECT_EQ(Types(Net(row.name)), (Words{"Gather", "Mul", "SumElements"}));
    }
  }
}

// Each goes to the binary format and back, and its kind is found.
TEST_F(WrittenNetsTest, ProtosOfEachKindAreConverted) {
  const std::pair<const char*, const char*> protos[] = {
      {"NetDef", "name: \"n\"\nop {\n  output: \"y\"\n  type: \"ConstantFill\"\n}\n"},
      {"PlanDef",
       "name: \"p\"\nnetwork {\n  name: \"n\"\n}\nexecution_step {\n  network: \"n\"\n}\n"},
      {"MetaNetDef",
       "nets {\n  key: \"PREDICT_NET_TYPE\"\n  value {\n    name: \"n\"\n  }\n}\n"},
      {"TensorProto", "dims: 1\ndata_type: FLOAT\nfloat_data: 2\nname: \"t\"\n"},
      {"TensorProtos",
       "protos {\n  dims: 1\n  data_type: INT32\n  int32_data: 7\n  name: \"u\"\n}\n"},
      {"BlobProto", "name: \"q\"\ntype: \"queue\"\ncontent: \"abc\"\n"}};
  for (const auto& [kind, text] : protos) {
    SCOPED_TRACE(kind);
    dir_.Write("a.pbtxt", text);
    Out({"convert", "DIR/a.pbtxt", "--as", kind, "--output", "DIR/a.pb"});
    const std::string bytes = ReadWholeFile(dir_.path("a.pb"));
    EXPECT_EQ(bytes.find(": "), std::string::npos);
    EXPECT_EQ(Out({"convert", "DIR/a.pb", "--as", kind}), text);
    EXPECT_EQ(Out({"convert", "DIR/a.pb", "--as", kind, "--to", "text"}), text);
    Out({"convert", "DIR/a.pbtxt", "--output", "DIR/b.pb"});
    EXPECT_EQ(ReadWholeFile(dir_.path("b.pb")), bytes) << "without --as";
  }
}

}  // namespace
}  // namespace caffe2rt::test::written_nets_test
