// Options of the programs that no other test gives: each changes what it says, and nothing else does.

#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::option_effects_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class OptionEffectsTest : public ::testing::Test {
 protected:
  static std::string Text(std::vector<std::string> args, const std::vector<std::string>& more = {},
                          int code = 0) {
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, code) << result.err;
    return result.out;
  }
  template <class T>
  std::string Array(const std::string& name, const std::vector<T>& values) const {
    Tensor tensor({static_cast<int64_t>(values.size())}, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  // The types of all records of a database, and the first key.
  static std::string Contents(const std::string& db) {
    return JsonAt(Text({"db", "info", db, "--json"}), "/contents");
  }
  const TempDir dir_;
};

// Each layer multiplies by a prime.
TEST_F(OptionEffectsTest, PhaseLevelAndStageChooseTheLayersOfCaffe) {
  const auto layer = [](const std::string& bottom, const std::string& top, int scale,
                        const std::string& rule) {
    return "layer { name: 'l" + std::to_string(scale) + "' type: 'Power' bottom: '" + bottom +
           "' top: '" + top + "' power_param { scale: " + std::to_string(scale) + " } include { " +
           rule + " } } ";
  };
  const std::string net = dir_.Write(
      "p.prototxt",
      "name: 'p' input: 'data' input_shape { dim: 1 } " + layer("data", "y", 2, "phase: TRAIN") +
          layer("data", "y", 3, "phase: TEST") + layer("y", "z", 5, "min_level: 2") +
          layer("y", "z", 7, "max_level: 1") + layer("z", "out", 11, "stage: 'deploy'") +
          layer("z", "out", 13, "not_stage: 'deploy'"));
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "273"},
      {{"--phase", "test"}, "273"},
      {{"--phase", "train"}, "182"},
      {{"--level", "1"}, "273"},
      {{"--level", "2"}, "195"},
      {{"--stage", "deploy"}, "231"},
      {{"--stage", "other"}, "273"},
      {{"--phase", "train", "--level", "2", "--stage", "other", "--stage", "deploy"}, "110"}};
  for (const auto& [options, product] : cases)
    EXPECT_THAT(Text({"run", net, "--input", "data=1."}, options),
                HasSubstr("out   float [1]\n  "s + product + "\n"));
}

TEST_F(OptionEffectsTest, AnyTypeComparesValuesOfOtherTypes) {
  const std::string floats = Array<float>("f.npy", {1, 2}),
                    doubles = Array<double>("d.npy", {1, 2}),
                    others = Array<double>("o.npy", {1, 3});
  EXPECT_THAT(Text({"compare", floats, doubles}, {}, 1), HasSubstr("type float instead of double"));
  EXPECT_THAT(Text({"compare", floats, doubles}, {"--any-type"}), HasSubstr("1 blob agrees"));
  EXPECT_THAT(Text({"compare", floats, others}, {"--any-type"}, 1),
              HasSubstr("1 of 1 blob differs"));
}

TEST_F(OptionEffectsTest, ChannelsFirstMovesTheAxisOfMnist) {
  const std::string images = dir_.Write("images", "\0\0\x08\3\0\0\0\2\0\0\0\x1c\0\0\0\x1c"s +
                                                      std::string(2 * 784, 'x')),
                    labels = dir_.Write("labels", "\0\0\x08\1\0\0\0\2\3\7"s);
  const std::string last = dir_.path("last.minidb"), first = dir_.path("first.minidb");
  Text({"db", "make", "mnist", images, labels, "--output", last});
  Text({"db", "make", "mnist", images, labels, "--output", first}, {"--channels-first"});
  EXPECT_EQ(Contents(last), R"({"uint8 [28, 28, 1], int32 []":2})");
  EXPECT_EQ(Contents(first), R"({"uint8 [1, 28, 28], int32 []":2})");
}

TEST_F(OptionEffectsTest, ImagesOfADatabaseHaveTheSizeAndTheChannels) {
  dir_.Write("pets/cat/a.png", "");
  SavePng(dir_.path("pets/cat/a.png"),
          {.width = 8, .height = 4, .rgb = std::vector<uint8_t>(96, 7)});
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "string [1]"},
      {{"--raw"}, "uint8 [256, 512, 3]"},
      {{"--raw", "--size", "0"}, "uint8 [4, 8, 3]"},
      {{"--raw", "--size", "2"}, "uint8 [2, 4, 3]"},
      {{"--raw", "--size", "2", "--warp"}, "uint8 [2, 2, 3]"},
      {{"--raw", "--size", "2", "--grey"}, "uint8 [2, 4]"}};
  int number = 0;
  for (const auto& [options, content] : cases) {
    const std::string db = dir_.path(std::to_string(number++) + ".minidb");
    Text({"db", "make", "images", dir_.path("pets"), "--output", db}, options);
    EXPECT_EQ(Contents(db), "{\""s + content + ", int32 [1]\":1}");
  }
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--raw", "--size", "0", "--warp"}, "option --warp needs a --size of at least 1"},
      {{"--size", "3"}, "option --size needs --raw"},
      {{"--warp"}, "option --warp needs --raw"},
      {{"--grey"}, "option --grey needs --raw"},
      {{"--seed", "3"}, "option --seed needs --shuffle"},
      {{"--channels-first"}, "option --channels-first does not apply to `caffe2 db make images`"}};
  for (const auto& [options, message] : wrong) {
    std::vector<std::string> args = {
        "db", "make", "images", dir_.path("pets"), "--output", dir_.path("x.minidb")};
    args.insert(args.end(), options.begin(), options.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: "s + message + "\n");
  }
}

TEST_F(OptionEffectsTest, ListLabelsTheImagesOfADatabase) {
  dir_.Write("pets/a.png", "");
  for (const char* name : {"pets/a.png", "pets/b.png", "pets/unlisted.png"})
    SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  const std::string list = dir_.Write("list", "b.png 5\na.png 3\n"), db = dir_.path("l.minidb");
  Text({"db", "make", "images", dir_.path("pets"), "--output", db, "--raw", "--size", "0"},
       {"--list", list});
  const char* const content = R"("bytes": 35, "content": "uint8 [1, 1, 3], int32 [1]")";
  EXPECT_EQ(Text({"db", "list", db, "--json"}),
            R"({"key": "00000000_b.png", )"s + content + R"(, "label": 5})" + "\n" +
                R"({"key": "00000001_a.png", )" + content + R"(, "label": 3})" + "\n");
}

// A record of CIFAR-100 begins with one of 20 labels, behind which is one of 100.
TEST_F(OptionEffectsTest, CoarseChoosesTheFirstLabelOfCifar100) {
  dir_.Write("train.bin", "\7\x4d"s + std::string(3072, 'x'));
  const std::string folder = dir_.path("");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, R"("label": 77})"}, {{"--coarse"}, R"("label": 7})"}};
  for (const auto& [options, label] : cases) {
    const std::string db = dir_.path("c" + std::to_string(options.size()) + ".minidb");
    Text({"db", "make", "cifar", folder, "--cifar100", "--output", db}, options);
    EXPECT_THAT(Text({"db", "list", db, "--json"}), HasSubstr(label));
  }
}

// The largest pixel of the demo's images is 246.
TEST_F(OptionEffectsTest, HeadroomWidensTheRangesOfQuantize) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "f: 246\n"}, {"50", "f: 369\n"}, {"100", "f: 492\n"}};
  for (const auto& [headroom, range] : cases) {
    const std::string file = dir_.path("q"s + headroom + ".pbtxt");
    Text(WithDemo({"quantize", "--calibrate", DemoFile("images"), "--output-predict-net", file,
                   "--headroom", headroom}));
    EXPECT_THAT(ReadWholeFile(file), HasSubstr(range));
  }
}

// What --write-plan writes of a training of one record with these options.
class PlanOptionsTest : public OptionEffectsTest {
 protected:
  PlanOptionsTest() {
    Tensor x({4, 2}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    WriteNpy(dir_.path("x.npy"), x);
    const std::string y = Array<int64_t>("y.npy", {0, 1, 0, 1});
    Text({"db", "make", "arrays", dir_.path("x.npy"), y, "--output", dir_.path("data.minidb")});
    Define("");
  }
  // `optimizer` is what the definition states about it beside its type and rate.
  void Define(const std::string& optimizer) const {
    dir_.Write("t.pbtxt", R"(
        name: "t" input { batch_size: 2 }
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SoftmaxWithLoss" input: ["y", "label"] output: ["p", "loss"] } }
        param { name: "w" dims: [2, 2] fill: "XavierFill" } param { name: "b" dims: 2 } loss: "loss"
        optimizer { type: "sgd" rate: 0.25 )" +
                              optimizer + "}");
  }
  PlanDef Plan(const std::vector<std::string>& options) const {
    const std::string file = dir_.path("plan.pbtxt");
    std::filesystem::remove(file);
    Text({"train", dir_.path("t.pbtxt"), "--data", dir_.path("data.minidb"), "--write-plan", file},
         options);
    PlanDef plan;
    LoadProto(file, &plan);
    return plan;
  }
  // The arguments `name` of all operators of a type, as numbers.
  static std::vector<float> Arguments(const PlanDef& plan, const std::string& type,
                                      const std::string& name) {
    std::vector<float> values;
    for (const NetDef& net : plan.network()) {
      for (const OperatorDef& op : net.op()) {
        for (const Argument& arg : op.arg()) {
          if (op.type() == type && arg.name() == name)
            values.push_back(arg.has_f() ? arg.f() : static_cast<float>(arg.i()));
        }
      }
    }
    return values;
  }
  static std::set<std::string> Types(const PlanDef& plan) {
    std::set<std::string> types;
    for (const NetDef& net : plan.network()) {
      for (const OperatorDef& op : net.op()) types.insert(op.type());
    }
    return types;
  }
};

TEST_F(PlanOptionsTest, OptionsOfTheOptimizerReplaceThoseOfTheDefinition) {
  const PlanDef plain = Plan({});
  EXPECT_THAT(Arguments(plain, "LearningRate", "base_lr"), ElementsAre(-0.25f));
  EXPECT_THAT(Arguments(plain, "TensorProtosDBInput", "batch_size"), ElementsAre(2));
  EXPECT_THAT(Types(plain), Not(::testing::Contains("MomentumSGDUpdate")));
  EXPECT_THAT(Arguments(Plan({"--rate", "0.5"}), "LearningRate", "base_lr"), ElementsAre(-0.5f));
  EXPECT_THAT(Arguments(Plan({"--batch-size", "4"}), "TensorProtosDBInput", "batch_size"),
              ElementsAre(4));
  EXPECT_THAT(Arguments(Plan({"--momentum", "0.75"}), "MomentumSGDUpdate", "momentum"),
              ElementsAre(0.75f, 0.75f));
  EXPECT_THAT(Arguments(Plan({"--weight-decay", "0.125"}), "ConstantFill", "value"),
              ::testing::Contains(0.125f));
  for (const auto& [name, type] : {std::pair("adam", "Adam"),
                                   {"adagrad", "Adagrad"},
                                   {"adadelta", "Adadelta"},
                                   {"rmsprop", "RmsProp"}}) {
    EXPECT_THAT(Types(Plan({"--optimizer", name})), ::testing::Contains(type));
  }
  // Also by nothing.
  Define("momentum: 0.75 weight_decay: 0.125");
  EXPECT_THAT(Arguments(Plan({}), "ConstantFill", "value"), ::testing::Contains(0.125f));
  EXPECT_THAT(Arguments(Plan({"--weight-decay", "0"}), "ConstantFill", "value"),
              Not(::testing::Contains(0.125f)));
  EXPECT_THAT(Arguments(Plan({"--momentum", "0"}), "ConstantFill", "value"),
              ::testing::Contains(0.125f));
  EXPECT_EQ(Types(Plan({"--momentum", "0", "--weight-decay", "0"})), Types(plain));
  Define("");
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--rate", "1,2"}, "option --rate is \"1,2\", want one number"},
      {{"--momentum", "a"}, "option --momentum is \"a\", want comma-separated numbers"},
      {{"--optimizer", "adam", "--momentum", "0.5"},
       "optimizer: momentum does not apply to adam, but to sgd and rmsprop"},
      {{"--optimizer", "foo"},
       "optimizer \"foo\" is not known, want one of adadelta, adagrad, adam, rmsprop, sgd"},
      {{"--batch-size", "0"}, "option --batch-size is \"0\", want a number from 1 to 1048576"},
      {{"--loss", "y"}, "option --loss applies to --predict-net only"},
      {{"--fresh-weights"}, "option --fresh-weights applies to --predict-net only"}};
  for (const auto& [options, message] : wrong) {
    std::vector<std::string> args = {"train",        dir_.path("t.pbtxt"),
                                     "--data",       dir_.path("data.minidb"),
                                     "--write-plan", dir_.path("none.pbtxt")};
    args.insert(args.end(), options.begin(), options.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_NE(result.code, 0);
    EXPECT_EQ(result.err, "caffe2: "s + message + "\n");
  }
}

// Four records make two steps of two.
TEST_F(PlanOptionsTest, StepsAndEpochsAreCounted) {
  const std::string file = dir_.path("p.pbtxt");
  const std::vector<std::string> train = {
      "train", dir_.path("t.pbtxt"), "--data", dir_.path("data.minidb"), "--write-plan", file};
  EXPECT_THAT(Text(train), HasSubstr(": 1 epoch of 2 steps; run it with: "));
  std::filesystem::remove(file);
  EXPECT_THAT(Text(train, {"--epochs", "3"}), HasSubstr(": 3 epochs of 2 steps; run it with: "));
  std::filesystem::remove(file);
  EXPECT_THAT(Text(train, {"--batch-size", "1"}), HasSubstr(": 1 epoch of 4 steps; run it with: "));
}

}  // namespace
}  // namespace caffe2rt::test::option_effects_test
