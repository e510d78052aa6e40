#include "caffe2_core/model/model_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::model_inputs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two inputs, as the original's exporter for mobile devices leaves them, and a weight.
constexpr char kMobileInit[] = R"(
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 1 ints: 1 }
         arg { name: "values" floats: 2 } }
    op { type: "GivenTensorFill" output: "x" arg { name: "shape" ints: 1 ints: 1 }
         arg { name: "values" floats: 0 } }
    op { type: "GivenTensorFill" output: "info" arg { name: "shape" ints: 1 ints: 1 }
         arg { name: "values" floats: 0 } })";
constexpr char kNet[] = R"(external_input: "x" external_input: "w" external_input: "info"
    op { type: "Mul" input: "x" input: "w" output: "y" }
    op { type: "Add" input: "y" input: "info" output: "z" })";

class ModelInputsTest : public ::testing::Test {
 protected:
  Model Load(const std::string& init, const std::string& net, bool binary = false) {
    const std::string text = binary ? ProtoToBinary(ParseNet(init)) : init;
    return LoadModel({.init_nets = {dir_.Write(binary ? "init.pb" : "init.pbtxt", text)},
                      .predict_net = dir_.Write("net.pbtxt", net)});
  }
  static std::vector<std::string> Names(const std::vector<ZeroPlaceholder>& placeholders) {
    std::vector<std::string> names;
    for (const ZeroPlaceholder& placeholder : placeholders) names.push_back(placeholder.name);
    return names;
  }
  TempDir dir_;
};

TEST_F(ModelInputsTest, FindsAllInputsThatTheMobileExporterMarked) {
  for (const bool binary : {false, true}) {
    EXPECT_THAT(Names(Load(kMobileInit, kNet, binary).zero_placeholders), ElementsAre("info", "x"));
  }
}

TEST_F(ModelInputsTest, FindsTheFirstInputOfTheFirstOperator) {
  const std::string init = R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 3 } }
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 ints: 3 } })";
  const Model model = Load(init, R"(external_input: "w" external_input: "x"
      op { type: "Add" input: "x" input: "w" output: "y" arg { name: "broadcast" i: 1 } })");
  ASSERT_THAT(Names(model.zero_placeholders), ElementsAre("x"));
  EXPECT_THAT(model.zero_placeholders[0].dims, ElementsAre(2, 3));
  EXPECT_TRUE(model.zero_placeholders[0].HasInputShape());
}

TEST_F(ModelInputsTest, ZerosThatTheNetChangesAreState) {
  EXPECT_THAT(Load(R"(op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 1 } })",
                   R"(external_input: "n" op { type: "Relu" input: "n" output: "n" })")
                  .zero_placeholders,
              IsEmpty());
}

TEST_F(ModelInputsTest, RemovesPlaceholdersOfPackedModels) {
  const std::string init = R"(
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } }
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } })";
  Model model = Load(init, R"(external_input: "x" external_input: "w"
      op { type: "Add" input: "x" input: "w" output: "y" })");
  Workspace ws;
  RunInitNets(&model, &ws);
  ModelPacker(model, ws).Write(dir_.path("model.c2pack"));
  Model packed = LoadModel({.predict_net = dir_.path("model.c2pack")});
  Workspace loaded;
  RunInitNets(&packed, &loaded);
  EXPECT_TRUE(loaded.HasBlob("x"));
  RemoveZeroPlaceholders(&packed, &loaded);
  EXPECT_THAT(UnfilledInputs(packed.predict_net, loaded), ElementsAre("x"));
}

// All of them, whatever their number; the weights stay.
TEST_F(ModelInputsTest, RemovesEveryPlaceholder) {
  for (const bool binary : {false, true}) {
    Model model = Load(kMobileInit, kNet, binary);
    Workspace ws;
    RunInitNets(&model, &ws);
    RemoveZeroPlaceholders(&model, &ws);
    EXPECT_THAT(ws.LocalBlobs(), ElementsAre("w"));
    EXPECT_THAT(UnfilledInputs(model.predict_net, ws), ElementsAre("x", "info"));
  }
  Model model;
  Workspace ws;
  for (const char* name : {"a", "b", "c", "d"}) ws.CreateBlob(name);
  model.zero_placeholders = {{.name = "d", .dims = {}},
                             {.name = "a", .dims = {2}},
                             {.name = "missing", .dims = {1}},
                             {.name = "c", .dims = {1, 1}}};
  RemoveZeroPlaceholders(&model, &ws);
  EXPECT_THAT(ws.LocalBlobs(), ElementsAre("b"));
}

TEST_F(ModelInputsTest, NamesWithoutALikenessHaveNoSuggestion) {
  const NetDef net = ParseNet(R"(name: "n" op { type: "Relu" input: "data" output: "y" })");
  ExpectThrows([&] { CheckInputName({&net}, "adta"); },
               "no operator of net \"n\" reads input \"adta\"; close: \"data\"");
  ExpectThrows([&] { CheckInputName({&net}, "y"); }, "no operator of net \"n\" reads input \"y\"");
  EXPECT_NO_THROW(CheckInputName({&net}, "data"));
}

// An operator that reads blobs it does not list may read any name, whichever net it is in.
TEST_F(ModelInputsTest, AnyNameIsAnInputIfOneOfTheNetsReadsUnlistedBlobs) {
  const NetDef fetches =
      ParseNet(R"(op { type: "RecurrentNetworkBlobFetcher" input: "scratches" output: "steps" })");
  const NetDef lists = ParseNet(R"(op { type: "Relu" input: "data" output: "y" })");
  EXPECT_NO_THROW(CheckInputName({&fetches, &lists}, "unlike_all_others"));
  EXPECT_NO_THROW(CheckInputName({&lists, &fetches}, "unlike_all_others"));
  ExpectThrows([&] { CheckInputName({&lists, &lists}, "unlike_all_others"); }, "no operator of");
}

TEST(ModelCheckTest, AnInputThatIsDeclaredMayBeGivenLater) {
  const NetDef net = ParseNet(R"(external_input: "x" op { type: "Relu" input: "x" output: "y" })");
  EXPECT_THAT(ValidateModel(net, {}), IsEmpty());
  const std::vector<NetFinding> alone =
      ValidateModel(ParseNet(R"(op { type: "Relu" input: "x" output: "y" })"), {});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].kind, NetFindingKind::kError);
  EXPECT_THAT(alone[0].text, HasSubstr("nothing fills \"x\", and the net declares no"));
}

TEST(ModelCheckTest, ValuesAreKnownUntilAnOperatorWritesTheBlob) {
  constexpr char kSum[] = R"(op { type: "LengthsSum" input: "x" input: "l" output: "y" })";
  struct Row {
    const char* what;
    std::string before;  // operators before the sum
    size_t findings;
  };
  const std::vector<Row> rows = {
      {"nothing writes them", "", 1},
      {"an operator writes another blob", R"(op { type: "Copy" input: "l" output: "m" })", 1},
      {"an operator writes them", R"(op { type: "Copy" input: "k" output: "l" })", 0},
      {"a net may write them",
       R"(op { type: "If" input: "c" arg { name: "then_net" n {
              op { type: "Copy" input: "k" output: "l" } } } })",
       0},
  };
  Tensor lengths(std::vector<int64_t>{2}, CPU);
  std::fill_n(lengths.mutable_data<int32_t>(), 2, 2);  // sum 4, and x has 3 rows
  const TensorShape shape = CreateTensorShape(std::vector<int64_t>{2}, TensorProto::INT32);
  const ModelToCheck model = {
      .given = {{"x", CreateTensorShape(std::vector<int64_t>{3, 2}, TensorProto::FLOAT)},
                {"c", CreateTensorShape(std::vector<int64_t>{1}, TensorProto::BOOL)},
                {"k", shape},
                {"l", shape}},
      .values = {{"l", &lengths}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const std::vector<NetFinding> findings = ValidateShapes(ParseNet(row.before + kSum), model);
    ASSERT_EQ(findings.size(), row.findings);
    if (findings.empty()) continue;
    EXPECT_THAT(findings[0].text, HasSubstr("operator LengthsSum rejects its inputs: "));
    EXPECT_THAT(findings[0].text, HasSubstr("(got 4, want 3)"));
  }
}

TEST(ModelCheckTest, ListsTheMissingWeightsOfEachOperator) {
  const NetDef init = ParseNet(R"(op { type: "XavierFill" output: "w1" arg { name: "shape" ints: 4
      ints: 3 ints: 1 ints: 1 } })");
  const std::vector<NetFinding> findings =
      ValidateModel(ParseNet(R"(
      external_input: "x" external_input: "w1" external_input: "b1" external_input: "w2"
      op { type: "Conv" input: "x" input: "w1" input: "b1" output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: "a" input: "w2" output: "b" arg { name: "kernel" i: 1 } })"),
                    {.init_nets = {&init}, .has_surroundings = true});
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_THAT(findings[0].text, HasSubstr("no init net fills the weights \"b1\" of Conv"));
  EXPECT_THAT(findings[1].text, HasSubstr("no init net fills the weights \"w2\" of Conv"));
  EXPECT_EQ(findings[2].kind, NetFindingKind::kNote);
  EXPECT_THAT(
      findings[2].text,
      HasSubstr("input \"x\" was not given; the net suggests the shape float [N, 3, H, W]"));
}

}  // namespace
}  // namespace caffe2rt::test::model_inputs_test
