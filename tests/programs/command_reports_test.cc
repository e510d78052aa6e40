// Reports of commands, and the lines of them that only some input has: receipts, comparisons, benches,
// operators, checked databases and plans.
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::command_reports_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandReportsTest : public ProgramFolder {};

// One operator; the same and one more; one of another type with an output of the same name.
TEST_F(CommandReportsTest, ReceiptsStateWhatOneOfThemLacks) {
  const std::pair<std::string, std::string> nets[] = {
      {"abs", R"(op { type: "Abs" input: "x" output: "y" })"},
      {"more", R"(op { type: "Abs" input: "x" output: "y" }
                  op { type: "Abs" input: "y" output: "q" debug_info: "m.py:3" })"},
      {"sqr", R"(op { type: "Sqr" input: "x" output: "y" name: "s" })"}};
  for (const auto& [name, ops] : nets) {
    const std::string file = "DIR/" + name;
    dir_.Write(name + ".pbtxt", "name: \"r\" external_input: \"x\" external_output: \"y\" " + ops);
    Words words = {"run", "--predict-net", file + ".pbtxt", "--input", "x=2.,3.", "--receipt",
                   file,  "--receipt-all", "--no-optimize"};
    if (name == "more") words.insert(words.end(), {"--fetch", "q"});
    Out(words);
  }
  const auto compare = [&](const std::string& first, const std::string& second,
                           const Words& more = {}) {
    const ProgramResult result =
        Run(Joined({"receipt", "compare", "DIR/" + first, "DIR/" + second}, more));
    EXPECT_EQ(result.code, first == second ? 0 : 1) << result.err;
    return std::regex_replace(result.out, std::regex("[0-9a-f]{16}"), "HASH");
  };
  EXPECT_EQ(compare("more", "more"), "equal: 2 outputs, 2 results of operators\n");
  EXPECT_EQ(compare("abs", "abs"), "equal: 1 output, 1 result of operators\n");
  EXPECT_EQ(compare("abs", "more"),
            "different: 1 output, 1 result of operators\nfirst operator: 1 Abs (m.py:3)\n"
            "  output \"q\": missing and float [1, 2], HASH\n");
  EXPECT_EQ(compare("more", "abs"),
            "different: 1 output, 1 result of operators\nfirst operator: 1 Abs (m.py:3)\n"
            "  output \"q\": float [1, 2], HASH and missing\n");
  EXPECT_EQ(compare("sqr", "abs"),
            "different: 1 output, 1 result of operators\nfirst operator: 0 Sqr \"s\"\n"
            "  output \"y\": float [1, 2], HASH and float [1, 2], HASH\n");
  EXPECT_EQ(compare("abs", "more", {"--json"}),
            "{\"equal\": false, \"first_operator\": {\"blob\": \"q\", \"position\": 1, "
            "\"operator\": \"1 Abs\", \"debug_info\": \"m.py:3\", \"first\": null, \"second\": "
            "{\"type\": \"float\", \"shape\": [1, 2], \"hash\": \"HASH\"}}, \"outputs\": "
            "[{\"blob\": \"q\", \"first\": null, \"second\": {\"type\": \"float\", \"shape\": [1, "
            "2], \"hash\": \"HASH\"}}], \"different_results_of_operators\": 1, \"has_operators\": "
            "true, \"conditions\": []}\n");
}

TEST_F(CommandReportsTest, AReceiptHasInputsApartFromWeights) {
  dir_.Write("net.pbtxt", R"(name: "r" external_input: ["x", "w"] external_output: "y"
      op { type: "Add" input: ["x", "w"] output: "y" })");
  const auto receipt = [&](const std::string& weight, const Words& inputs) {
    dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
        arg { name: "shape" ints: [1, 2] } arg { name: "value" f: )" +
                                 weight + " } }");
    Out(Joined({"run", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt",
                "--receipt", "DIR/r.json", "--threads", "2", "--iterations", "3"},
               inputs));
    return ReadWholeFile(dir_.path("r.json"));
  };
  const std::string three = receipt("3", {"--input", "x=2.,3."});
  EXPECT_EQ(JsonSize(three, "/inputs"), 1u);
  EXPECT_EQ(JsonAt(three, "/inputs/0/blob"), "\"x\"");
  EXPECT_EQ(JsonAt(three, "/weights/type"), "\"1 blobs\"");
  EXPECT_EQ(JsonAt(three, "/net"), "\"r\"");
  EXPECT_EQ(JsonAt(three, "/runs"), "3");
  EXPECT_EQ(JsonAt(three, "/threads"), "2");
  EXPECT_EQ(JsonAt(three, "/executor"), "\"simple\"");
  EXPECT_EQ(three.find("\"operators\""), std::string::npos);
  const std::string four = receipt("4", {"--input", "x=2.,3."});
  EXPECT_EQ(JsonAt(four, "/inputs"), JsonAt(three, "/inputs"));
  EXPECT_NE(JsonAt(four, "/weights/hash"), JsonAt(three, "/weights/hash"));
  const std::string both = receipt("4", {"--input", "x=2.,3.", "--input", "w=4.,4."});
  EXPECT_EQ(JsonSize(both, "/inputs"), 2u);
  EXPECT_EQ(JsonAt(both, "/weights/type"), "\"0 blobs\"");
  EXPECT_EQ(JsonAt(both, "/outputs"), JsonAt(four, "/outputs"));
}

TEST_F(CommandReportsTest, BlobsOfOtherShapesHaveNoNumbers) {
  Array("a/w.npy", {2}, {1, 2});
  Array("b/w.npy", {3}, {1, 2, 3});
  Array("a/v.npy", {2}, {1, 2});
  Array("b/v.npy", {2}, {1, 4});
  const ProgramResult text = Run({"compare", "DIR/a", "DIR/b"});
  EXPECT_EQ(text.code, 1);
  // 10 log10((1 + 16) / 4).
  EXPECT_EQ(text.out,
            "     blob  max abs  max rel  SNR dB  beyond  of       type\n"
            "  !  v           2      0.5   6.284       1   2  float [2]\n"
            "  !  w           -        -       -       -   -  float [2]\n"
            "blob \"w\": shape [2] instead of [3]\n"
            "2 of 2 blobs differ (tolerance: |first - second| <= 0.0001 + 0.0001 * |second|)\n"
            "first difference: blob \"v\"\n");
  const ProgramResult json = Run({"compare", "DIR/a", "DIR/b", "--json"});
  EXPECT_EQ(JsonAt(json.out, "/blobs/1"), R"({"name":"w","within":false,"type":"float [2]",)"
                                          R"("mismatch":"shape [2] instead of [3]"})");
}

// A file has the name of a blob, that of its file as run saves it, or, if the net has one output, any name.
TEST_F(CommandReportsTest, AFileIsComparedWithTheBlobOfItsName) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "z"
      op { type: "Abs" input: "x" output: "a/y" } op { type: "Sqr" input: "a/y" output: "t" }
      op { type: "Negative" input: "t" output: "z" })");
  const std::string x = "x=" + Array("x.npy", {2}, {1, -2});
  const auto compared = [&](const std::string& file, const std::vector<float>& values) {
    const ProgramResult result =
        Run({"compare", "DIR/net.pbtxt", Array(file, {2}, values), "--input", x, "--json"});
    return JsonAt(result.out, "/blobs/0/name") + (result.code == 0 ? " agrees" : " differs");
  };
  EXPECT_EQ(compared("t.npy", {1, 4}), "\"t\" agrees");
  EXPECT_EQ(compared("a_y.npy", {1, 2}), "\"a/y\" agrees");
  EXPECT_EQ(compared("any.npy", {-1, -4}), "\"z\" agrees");
  EXPECT_EQ(compared("z.npy", {1, 4}), "\"z\" differs");
}

// The value of the convolution alone is fused away; the first value of the blob stays.
TEST_F(CommandReportsTest, AnEarlierValueOfAFusedBlobIsComparedWithItself) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: ["y", "z"]
      op { type: "Negative" input: "x" output: "y" } op { type: "Exp" input: "y" output: "z" }
      op { type: "Conv" input: ["z", "w"] output: "y" arg { name: "kernel" i: 1 } }
      op { type: "Relu" input: "y" output: "y" })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [2, 2, 1, 1] } arg { name: "value" f: 0.5 } })");
  for (const char* which : {"first", "second"}) {
    const std::string json =
        Out({"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--input",
             "x=1,2,3,3", "--optimize", which, "--json"});
    EXPECT_EQ(JsonAt(json, "/within"), "true");
    EXPECT_EQ(JsonSize(json, "/blobs"), 3u);
    EXPECT_EQ(JsonAt(json, std::string("/only_in_") + (which[0] == 'f' ? "second" : "first")),
              R"(["y after operator 2"])");
  }
}

// The net states no ranges, which int8 needs.
TEST_F(CommandReportsTest, CommandsThatPrepareANetHaveAPrecision) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [2, 2, 1, 1] } arg { name: "value" f: 0.5 } })");
  const Words model = {"--init-net", "DIR/init.pbtxt", "--input", "x=1,2,3,3"};
  const Words commands[] = {
      Joined({"run", "--predict-net", "DIR/net.pbtxt"}, model),
      Joined({"bench", "--predict-net", "DIR/net.pbtxt", "--iterations", "1"}, model),
      Joined({"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--optimize", "second"}, model),
      Joined({"optimize", "--predict-net", "DIR/net.pbtxt", "--output-predict-net", "DIR/o.pbtxt",
              "--output-init-net", "DIR/oi.pbtxt"},
             model)};
  for (const Words& command : commands) {
    SCOPED_TRACE(command[0]);
    const ProgramResult warned = Run(Joined(command, {"--precision", "int8", "--min-snr", "20"}));
    EXPECT_EQ(warned.code, 0) << warned.err;
    EXPECT_THAT(warned.err, HasSubstr("caffe2: warning: precision int8: "));
    EXPECT_EQ(Run(Joined(command, {"--precision", "f32", "--without-pass", "fuse_activation"})).err,
              "");
    const ProgramResult wrong = Run(Joined(command, {"--precision", "int9"}));
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.err, "caffe2: option --precision is \"int9\", want f32, bf16, int8 or auto\n");
  }
  EXPECT_EQ(Run(Joined(commands[2], {"--deterministic"})).code, 0);
}

TEST_F(CommandReportsTest, RatiosFollowFromTheTimesBefore) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "z"
      op { type: "Abs" input: "x" output: "y" } op { type: "Sqr" input: "y" output: "z" })");
  const auto before = [&](const std::string& median) {
    dir_.Write("before.json", "{\"net\": \"n\", \"threads\": 1, \"median_ms\": " + median +
                                  ", \"operators\": [{\"type\": \"Abs\", \"output\": \"y\", "
                                  "\"median_ms\": 50}, {\"type\": \"Sqr\", \"output\": \"z\", "
                                  "\"median_ms\": 0}]}");
  };
  const Words bench = {"bench",
                       "--predict-net",
                       "DIR/net.pbtxt",
                       "--input",
                       "x=2",
                       "--iterations",
                       "2",
                       "--warmup",
                       "0",
                       "--no-optimize",
                       "--against",
                       "DIR/before.json"};
  before("0.25");
  const std::string json = Out(Joined(bench, {"--json"}));
  const auto number = [&](const std::string& pointer) { return std::stod(JsonAt(json, pointer)); };
  EXPECT_NEAR(number("/against/ratio"), number("/median_ms") / 0.25, 1e-9);
  EXPECT_EQ(JsonAt(json, "/against/file"), "\"DIR/before.json\"");
  EXPECT_EQ(JsonAt(json, "/against/median_ms"), "0.25");
  EXPECT_EQ(JsonAt(json, "/against/operators/0/type"), "\"Abs\"");
  const double now = number("/against/operators/0/now_ms");
  EXPECT_NEAR(number("/against/operators/0/ratio"), now / 50, 1e-9);
  EXPECT_NEAR(number("/against/operators/0/change_ms"), now - 50, 1e-9);
  EXPECT_EQ(JsonSize(json, "/against/operators/1"), 5u) << "no ratio to 0 ms";
  before("0");
  EXPECT_EQ(JsonSize(Out(Joined(bench, {"--json"})), "/against"), 3u);
  const std::string text = Out(bench);
  EXPECT_THAT(text, HasSubstr("net 0.0000 ms before, "));
  EXPECT_THAT(text, HasSubstr(" ms now, ratio -\noperators, largest change first:\n"));
  EXPECT_THAT(text, ContainsRegex("  Abs +y +50\\.0000 +[0-9.]+ +-[0-9.]+ +0\\.[0-9]+\n"));
  EXPECT_THAT(text, ContainsRegex("  Sqr +z +0\\.0000 +[0-9.]+ +\\+[0-9.]+ +-\n"));
}

TEST_F(CommandReportsTest, SecondsOfADatabaseAreMeasuredInEachRound) {
  Array("x.npy", {40, 5}, std::vector<float>(200, 1));
  Array("y.npy", {40}, std::vector<float>(40, 1));
  Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/d.minidb"});
  for (const Words& more : {Words{}, Words{"--readers", "2"}, Words{"--batch-size", "3"}}) {
    const std::string out =
        Out(Joined({"db", "throughput", "DIR/d.minidb", "--repeat", "6", "--json"}, more));
    const Words lines = absl::StrSplit(out, '\n', absl::SkipEmpty());
    ASSERT_EQ(lines.size(), 6u);
    const bool batches = !more.empty() && more[0] == "--batch-size";
    std::set<std::string> later;
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(JsonAt(lines[i], "/round"), std::to_string(i + 1));
      EXPECT_GT(std::stod(JsonAt(lines[i], "/seconds")), 0) << lines[i];
      // 14 batches of 3 are 42.
      EXPECT_EQ(JsonAt(lines[i], "/records"), batches ? "42" : "40");
      if (i > 0) later.insert(JsonAt(lines[i], "/seconds"));
    }
    EXPECT_GT(later.size(), 1u) << "each round is another measurement";
  }
}

TEST_F(CommandReportsTest, OperatorsAreDescribedBehindEachOther) {
  const std::string out = Out({"ops", "Scale", "Not"});
  EXPECT_TRUE(out.starts_with("Scale\ny = scale * x.\n\ndevices: ")) << out;
  EXPECT_THAT(out, HasSubstr("\nsource: operators/elementwise/unary_math.cc\ninputs: 1\n"
                             "  0  X: any shape\n     float, double; any rank\noutputs: 1\n"
                             "  0  Y: the shape of X\narguments:\n  scale: the factor (1)\n"
                             "\nNot\ny = not x.\n"));
  EXPECT_THAT(out.substr(out.find("\nNot\n")), Not(HasSubstr("arguments:")));
  EXPECT_EQ(JsonAt(Out({"ops", "Scale", "Clip", "--json"}), "/0/arguments"),
            R"([{"name":"scale","doc":"the factor","required":false,"type":"float",)"
            R"("default":"1"}])");
  const std::string json = Out({"ops", "Concat", "Not", "--json"});
  EXPECT_EQ(JsonSize(json, ""), 2u);
  EXPECT_EQ(JsonAt(json, "/0/min_inputs"), "1");
  EXPECT_EQ(JsonAt(json, "/0/max_inputs"), "2147483647");
  EXPECT_EQ(JsonAt(json, "/0/min_outputs"), "2");
  EXPECT_EQ(JsonAt(json, "/1/type"), "\"Not\"");
  EXPECT_EQ(JsonAt(json, "/1/doc"), "\"y = not x.\"");
  EXPECT_EQ(JsonAt(json, "/1/inputs/0/types"), "[\"bool\"]");
  EXPECT_EQ(JsonAt(json, "/1/arguments"), "[]");
  EXPECT_THAT(Out({"ops", "Concat"}), HasSubstr("\ninputs: at least 1\n"));
}

// The database has a and b.
TEST_F(CommandReportsTest, ChecksWhatAnInitNetLoads) {
  Tensor a({2, 3}, CPU), b({2}, CPU);
  std::fill_n(a.mutable_data<float>(), 6, 1.f);
  std::fill_n(b.mutable_data<float>(), 2, 1.f);
  WriteNpz(dir_.path("w.npz"), {{"a", a}, {"b", b}});
  Out({"convert", "DIR/w.npz", "--output", "DIR/w.minidb"});
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "a", "b"] external_output: "y"
      op { type: "FC" input: ["x", "a", "b"] output: "y" })");
  const auto check = [&](const std::string& load, const std::string& x) {
    dir_.Write("init.pbtxt",
               "name: \"i\" op { type: \"ConstantFill\" output: \"c\" } op { type: "
               "\"Load\" arg { name: \"db_type\" s: \"minidb\" } " +
                   load + " }");
    const ProgramResult result =
        Run({"check", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--input", "x=" + x});
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.code, result.out.find("error: ") == std::string::npos ? 0 : 1);
    return result.out;
  };
  const std::string db = "arg { name: \"db\" s: \"w.minidb\" } ";
  const std::string two = "output: \"a\" output: \"b\" ";
  EXPECT_EQ(check(db + two, "4,3"),
            "DIR/init.pbtxt: net \"i\": fine\nDIR/net.pbtxt: net \"n\": fine\n");
  // The shapes of the database do not fit the input.
  EXPECT_THAT(check(db + two, "4,2"), HasSubstr("DIR/net.pbtxt: net \"n\": 1 error\n"));
  const std::string lacks = check(db + two + "output: \"d\" output: \"e\"", "4,3");
  EXPECT_TRUE(lacks.starts_with(
      "DIR/init.pbtxt: net \"i\": 1 error\n  error: operator 1: operator Load: database \""))
      << lacks;
  EXPECT_THAT(lacks, HasSubstr("w.minidb\" does not have \"d\", \"e\"\n"));
  for (const char* other :
       {"arg { name: \"allow_incomplete\" i: 1 } ", "arg { name: \"strip_prefix\" s: \"q\" } ",
        "arg { name: \"add_prefix\" s: \"q\" } "})
    EXPECT_THAT(check(db + other + two + "output: \"d\"", "4,3"),
                HasSubstr("DIR/init.pbtxt: net \"i\": fine\n"))
        << other;
  EXPECT_THAT(check(db + "arg { name: \"allow_incomplete\" i: 0 } " + two + "output: \"d\"", "4,3"),
              HasSubstr("does not have \"d\"\n"));
  EXPECT_THAT(check("arg { name: \"db\" s: \"none.minidb\" } " + two, "4,3"),
              ContainsRegex("net \"i\": 1 error\n  error: operator 1: operator Load: .*none.min"));
}

TEST_F(CommandReportsTest, InputsOfAPlanAreThoseOfItsNets) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" external_input: "x"
      op { type: "Abs" input: "x" output: "y" } } execution_step { network: "n" })");
  const ProgramResult fine = Run({"check", "DIR/plan.pbtxt", "--input", "x=2"});
  EXPECT_EQ(fine.code, 0);
  const ProgramResult other = Run({"check", "DIR/plan.pbtxt", "--input", "xx=2"});
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.err, HasSubstr("\"xx\""));
}

TEST_F(CommandReportsTest, FilesOfAnotherKindAreNamed) {
  dir_.Write("net.pbtxt", R"(name: "n" op { type: "ConstantFill" output: "x" })");
  Array("x.npy", {1}, {1});
  const std::pair<Words, std::string> cases[] = {
      {{"plan", "DIR/net.pbtxt"},
       "net.pbtxt\" is a NetDef, want a PlanDef (caffe2 run accepts nets)"},
      {{"check", "DIR/x.npy"},
       "x.npy\" is a NumPy array (.npy), want a NetDef, PlanDef, MetaNetDef, a packed model or a "
       "predictor's database"},
      {{"inspect", "DIR/x.npy", "--svg", "-"},
       "x.npy\" is a NumPy array (.npy), want a net to draw"},
      {{"db", "list", "DIR/x.npy"}, "x.npy\" is a NumPy array (.npy), want a database"}};
  for (const auto& [words, error] : cases) {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err, "caffe2: file \"DIR/" + error + "; --as specifies the kind\n");
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(CommandReportsTest, ANewInitNetHasTheNameOfTheFirst) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Add" input: ["x", "x"] output: "y" })");
  dir_.Write("weights.pbtxt", R"(name: "first" op { type: "ConstantFill" output: "q" })");
  const auto init_name = [&](const Words& more) {
    Out(Joined({"optimize", "--predict-net", "DIR/net.pbtxt", "--output-init-net", "DIR/i.pbtxt",
                "--output-predict-net", "DIR/p.pbtxt", "--input", "x=2"},
               more));
    const std::string text = ReadWholeFile(dir_.path("i.pbtxt"));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(init_name({}), "name: \"init\"");
  EXPECT_EQ(init_name({"--init-net", "DIR/weights.pbtxt"}), "name: \"first\"");
}

TEST_F(CommandReportsTest, WarnsOfLabelsThatFitNoOutput) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  dir_.Write("labels", "a\nb\nc\n");
  const auto warning = [&](const std::string& x) {
    return Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=" + x, "--labels",
                "DIR/labels"})
        .err;
  };
  const std::string text =
      "caffe2: warning: file \"DIR/labels\" has 3 labels, but no output has as many classes\n";
  EXPECT_EQ(warning("2"), text);
  EXPECT_EQ(warning("3,2"), text);
  EXPECT_EQ(warning("3"), "");
  EXPECT_EQ(warning("2,3"), "");
  EXPECT_EQ(warning("2,3,1"), "");
}

TEST_F(CommandReportsTest, TypesAndCommandsAreCheckedBeforeTheyAreUsed) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=2.,3."};
  const ProgramResult cast = Run(Joined(run, {"--cast", "z=flot"}));
  EXPECT_EQ(cast.code, 2);
  EXPECT_THAT(cast.err, HasSubstr("option --cast is \"flot\", want [BLOB=]TYPE"));
  EXPECT_THAT(Out(Joined(run, {"--cast", "z=int32"})), HasSubstr("y  float [1, 2]\n"));
  EXPECT_THAT(Out(Joined(run, {"--cast", "z=bool", "--cast", "x=int32"})),
              HasSubstr("y  int32 [1, 2]\n  2 3\n"));
  EXPECT_EQ(Run({"man", "run", "plan"}).code, 2);
  EXPECT_THAT(Out(Joined(run, {"--timeout", "1e9"})), HasSubstr("y  float [1, 2]\n"));
}

TEST_F(CommandReportsTest, DevicesThatAreMissingHaveAReason) {
  Environment environment;
  environment.HideCuda();
  const std::string json = Out({"devices", "--json"});
  std::string cuda;
  for (size_t i = 0; i < JsonSize(json, ""); ++i) {
    const std::string entry = JsonAt(json, "/" + std::to_string(i));
    if (JsonAt(entry, "/name") == "\"CUDA\"") cuda = entry;
  }
  ASSERT_NE(cuda, "") << json;
  EXPECT_EQ(JsonAt(cuda, "/available"), "false");
  EXPECT_THAT(JsonAt(cuda, "/message"), HasSubstr("/no/such/module.so"));
  EXPECT_NE(JsonAt(cuda, "/state"), "\"ready\"");
  EXPECT_THAT(cuda, Not(HasSubstr("\"devices\"")));
  EXPECT_THAT(cuda, Not(HasSubstr("\"libraries\"")));
  EXPECT_EQ(JsonAt(cuda, "/type"), "1");
  EXPECT_THAT(Out({"devices"}), HasSubstr("; nets that specify it run on the CPU\n"));
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" op { type: "ConstantFill" output: "x"
      arg { name: "shape" ints: 1 } device_option { device_type: 1 } } }
      execution_step { network: "n" })");
  const ProgramResult plan = Run({"plan", "DIR/plan.pbtxt"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.err, ContainsRegex("^caffe2: warning: plan \"p\" asks for .*, which is not "
                                      "available: it runs on the CPU\n$"));
  EXPECT_THAT(Out({"plan", "DIR/plan.pbtxt", "--device", "cpu"}), HasSubstr("plan \"p\" done"));
}

}  // namespace
}  // namespace caffe2rt::test::command_reports_test
