// The --help texts, and the flags of Caffe2.

#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::help_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string>& AllCommands() {
  static const std::vector<std::string> names = {
      "run",       "plan", "check", "inspect",  "compare", "receipt", "convert", "pack",
      "gradients", "ops",  "bench", "optimize", "devices", "db",      "train",   "quantize"};
  return names;
}

size_t WidestLine(const std::string& text) {
  size_t widest = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n'))
    widest = std::max(widest, line.size());
  return widest;
}

TEST(HelpTest, HelpOfEveryCommandFitsAScreen) {
  for (const std::string& name : AllCommands()) {
    SCOPED_TRACE(name);
    const ProgramResult result = RunCaffe2({name, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, AllOf(HasSubstr("usage: caffe2 " + name), HasSubstr("examples")));
    EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 48) << result.out;
    EXPECT_LE(WidestLine(result.out), 80u) << result.out;
  }
  EXPECT_LE(WidestLine(RunCaffe2({"--help"}).out), 80u);
}

// A line has at least 60 and at most 120 columns.
TEST(HelpTest, HelpHasTheWidthOfTheTerminalWithinBounds) {
  Environment environment;
  for (const auto& [columns, widest] : {std::pair("30", 60u), {"100", 100u}, {"200", 120u}}) {
    environment.Set("COLUMNS", columns);
    size_t most = 0;
    for (const std::string name : {"run", "train", "db", "check"}) {
      const size_t width = WidestLine(RunCaffe2({name, "--help"}).out);
      EXPECT_LE(width, widest) << name << " " << columns;
      most = std::max(most, width);
    }
    EXPECT_GT(most + 4, widest) << columns;
    EXPECT_LE(WidestLine(RunCaffe2({"--help"}).out), std::max(widest, 79u));
  }
}

// A line for each command, those of its purpose are indented.
TEST(HelpTest, HelpListsTheCommandsInTheirOrder) {
  const std::string help = RunCaffe2({"--help"}).out;
  std::vector<std::string> names;
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    if (line.size() > 12 && line.substr(0, 2) == "  " && line[2] != ' ')
      names.emplace_back(line.substr(2, line.find(' ', 2) - 2));
  }
  EXPECT_EQ(absl::StrJoin(names, " "),
            "run plan check inspect compare receipt convert pack db train gradients ops bench "
            "optimize quantize devices");
  EXPECT_THAT(help,
              HasSubstr("\n  run       runs a net on files and prints or saves its outputs\n"));
  EXPECT_TRUE(help.ends_with("\nexit codes: 0 success, 1 failure, 2 wrong usage\n"));
}

TEST(HelpTest, EachWayToAskForHelpPrintsTheSame) {
  const auto out = [](const std::vector<std::string>& words, int code = 0) {
    const ProgramResult result = RunCaffe2(words);
    EXPECT_EQ(result.code, code) << absl::StrJoin(words, " ");
    EXPECT_EQ(result.err, "");
    return result.out;
  };
  const std::string help = out({"--help"});
  EXPECT_EQ(out({"-h"}), help);
  EXPECT_EQ(out({"help"}), help);
  EXPECT_EQ(out({}, 2), help);
  const std::string all = out({"--help-all"});
  EXPECT_EQ(all.substr(0, help.size()), help);
  EXPECT_THAT(all.substr(help.size()), testing::StartsWith("\nflags of Caffe2, "));
  const std::string plan = out({"plan", "--help"});
  EXPECT_EQ(out({"plan", "-h"}), plan);
  EXPECT_EQ(out({"help", "plan"}), plan);
  EXPECT_EQ(out({"plan", "nofile", "--nothing", "--help"}), plan);
  EXPECT_THAT(plan,
              testing::StartsWith("runs a plan: its nets, in the order of its steps\n\nusage: "
                                  "caffe2 plan FILE [options]\n\noptions:\n"));
  // Short help comes before the long one.
  EXPECT_EQ(out({"run", "--help-all"}).find("--help-all"), std::string::npos);
  EXPECT_EQ(out({"-V"}), out({"--version"}));
  const ProgramResult unknown = RunCaffe2({"help", "plann"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "caffe2: command \"plann\" is not known (`caffe2 --help` lists all); did you mean "
            "plan?\n");
}

TEST(HelpTest, ExamplesNameTheFolderOfTheDemoOnce) {
  EXPECT_THAT(
      RunCaffe2({"train", "--help"}).out,
      HasSubstr("examples (from the project's folder):\n"
                "  D=binaries/demo/stripes\n"
                "  caffe2 db make images $D --output stripes.minidb\n"
                "  caffe2 train $D.pbtxt --data stripes.minidb --epochs 2 --output run1\n"));
  for (const std::string& name : AllCommands()) {
    const std::string help = RunCaffe2({name, "--help"}).out;
    EXPECT_THAT(help, Not(HasSubstr("D=$D"))) << name;
    const size_t first = help.find("binaries/demo/stripes");
    if (first == std::string::npos) continue;
    EXPECT_EQ(help.find("binaries/demo/stripes", first + 1), std::string::npos) << name;
  }
}

TEST(HelpTest, HelpAllListsRarelyUsedOptions) {
  const std::string help = RunCaffe2({"run", "--help"}).out;
  EXPECT_THAT(help, AllOf(HasSubstr("--help-all"), Not(HasSubstr("--cuda-graph"))));
  const ProgramResult all = RunCaffe2({"run", "--help-all"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("  --cuda-graph "), HasSubstr("  --without-pass NAME ")));
}

TEST(HelpTest, HelpAllListsTheFlagsWithAnEffectInGroups) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--help-all"}, {"bench", "--help-all"}}) {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, AllOf(HasSubstr("flags of Caffe2, memory:\n"),
                                  HasSubstr("flags of Caffe2, logging:\n"),
                                  HasSubstr("  --caffe2_keep_on_shrink=bool\n"),
                                  HasSubstr("  --caffe2_print_blob_sizes_at_exit=bool\n"),
                                  HasSubstr("  --caffe2_operator_throw_if_fp_exceptions=bool\n"),
                                  Not(HasSubstr("caffe2_rnn_executor"))));
    EXPECT_LE(WidestLine(result.out), 80u);
  }
}

// The defaults of a command's options, as its man page states them: "top=5 ...", sorted. Those of several words are
// descriptions.
std::string DefaultsOf(const std::string& command) {
  const std::string page =
      absl::StrReplaceAll(RunCaffe2({"man", command}).out, {{"\\-", "-"}, {"\\&", ""}});
  const std::string mark = ".TP\n.B --";
  std::vector<std::string> defaults;
  for (size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
    const size_t name = at + mark.size(), end = page.find_first_of(" \n", name);
    const std::string item = page.substr(name, page.find("\n.", name) - name);
    const size_t begin = item.rfind(" (default: ");
    if (begin == std::string::npos || item.back() != ')') continue;
    const std::string value = item.substr(begin + 11, item.size() - begin - 12);
    if (value.find(' ') == std::string::npos)
      defaults.push_back(page.substr(name, end - name) + "=" + value);
  }
  std::sort(defaults.begin(), defaults.end());
  return absl::StrJoin(defaults, " ");
}

TEST(HelpTest, OptionsHaveTheirDefaults) {
  const std::string import = "level=0 phase=test ", process = "memory-limit=0 threads=1 ",
                    input = "crop=0 interpolation=linear mean=0 resize=0 scale=1 seed=1 std=1 ",
                    model = import + "db-type=detected device=auto root=. ",
                    passes = "min-snr=30 precision=f32 ";
  const std::pair<const char*, std::string> commands[] = {
      {"run", model + input + process + passes + "batch=1 executor=simple iterations=1 top=5"},
      {"plan", process + "device=auto root=. seed=1"},
      {"check", import + "memory-limit=0"},
      {"inspect", import + process + passes + "dot-seconds=30 limit=1000"},
      {"compare", import + input + process + passes + "device=auto optimize=none root=. tol=1e-4"},
      {"receipt", ""},
      {"convert", import + "memory-limit=0 opset=17"},
      {"pack", model + input + process + passes + "store-weights=f32"},
      {"db", process + "parts=2 readers=1 repeat=10 seed=1701 size=256"},
      {"train", process + "device=cpu epochs=1 keep=3 on-error=stop ranks=1 run-id=train seed=1 "
                          "timeout=30"},
      {"gradients", "seed=1"},
      {"ops", ""},
      {"bench", model + input + process + passes + "executor=simple iterations=20 top=0 warmup=5"},
      {"optimize", model + input + process + passes},
      {"quantize", model + input + process},
      {"devices", "memory-limit=0"}};
  for (const auto& [command, text] : commands) {
    std::vector<std::string> want = absl::StrSplit(text, ' ', absl::SkipEmpty());
    std::sort(want.begin(), want.end());
    EXPECT_EQ(DefaultsOf(command), absl::StrJoin(want, " ")) << command;
  }
}

TEST(FlagsProgramTest, AcceptsFlagsOfCaffe2) {
  EXPECT_EQ(RunCaffe2({"devices", "--caffe2_keep_on_shrink=false"}).code, 0);
  EXPECT_EQ(RunCaffe2({"devices", "--nocaffe2_keep_on_shrink"}).code, 0);
  EXPECT_EQ(RunCaffe2({"devices", "--caffe2_keep_on_shrink=maybe"}).code, 2);
}

TEST(FlagsProgramTest, WarnsOnceOfEachFlagWithoutEffect) {
  const ProgramResult result =
      RunCaffe2({"devices", "--caffe2_rnn_executor=false", "--caffe2_rnn_executor=true",
                 "--caffe2_use_nvtx", "--caffe2_disable_chaining", "--caffe2_log_level=2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "caffe2: warning: --caffe2_disable_chaining is accepted and has no effect: chains only "
            "decide "
            "how operators are handed to threads\n"
            "caffe2: warning: --caffe2_rnn_executor is accepted and has no effect\n"
            "caffe2: warning: --caffe2_use_nvtx is accepted and has no effect\n");
}

class NetFlagsTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& net, const std::vector<std::string>& options) {
    std::vector<std::string> args = {"run", "--predict-net", dir_.Write("net.pbtxt", net)};
    args.insert(args.end(), options.begin(), options.end());
    return RunCaffe2(args);
  }
  TempDir dir_;
};

TEST_F(NetFlagsTest, PrintsTheSizesOfBlobsAtExit) {
  constexpr char kNet[] = R"(external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })";
  const ProgramResult result =
      Run(kNet, {"--input", "x=10,25", "--caffe2_print_blob_sizes_at_exit"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1000;x"));  // 250 floats in use
  EXPECT_THAT(result.err, HasSubstr("1000;y"));
  EXPECT_THAT(Run(kNet, {"--input", "x=10,25"}).err, IsEmpty());
}

// Fills a and b and computes c = a / b.
std::string Division(float a, float b) {
  const auto fill = [](const std::string& name, float value) {
    return "op { type: \"ConstantFill\" output: \"" + name +
           "\" arg { name: \"shape\" ints: 3 } arg { name: \"value\" f: " + std::to_string(value) +
           " } }";
  };
  return "name: \"division\" external_output: \"c\"" + fill("a", a) + fill("b", b) +
         "op { type: \"Div\" name: \"ratio\" input: \"a\" input: \"b\" output: \"c\" }";
}

TEST_F(NetFlagsTest, FailsAtFloatingPointExceptionsAndNamesTheOperator) {
  const std::string flag = "--caffe2_operator_throw_if_fp_exceptions";
  const ProgramResult zero = Run(Division(1, 0), {flag, "--no-optimize"});
  EXPECT_EQ(zero.code, 1);
  EXPECT_THAT(zero.err, AllOf(HasSubstr("division by zero"), HasSubstr("operator 2 (Div \"ratio\""),
                              HasSubstr("net \"division\"")));
  EXPECT_THAT(Run(Division(0, 0), {flag, "--no-optimize"}).err, HasSubstr("invalid operation"));
  EXPECT_THAT(Run(Division(3e38f, 1e-3f), {flag, "--no-optimize"}).err, HasSubstr("overflow"));
  EXPECT_EQ(Run(Division(1, 2), {flag, "--no-optimize"}).code, 0);
  // Log raises no exception, but a later operator may.
  const std::string logarithm = R"(
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 8 }
           arg { name: "value" f: -1 } }
      op { type: "Log" input: "x" output: "y" } op { type: "Relu" input: "y" output: "z" })";
  EXPECT_THAT(Run(logarithm, {flag, "--no-optimize"}).err, HasSubstr("operator 1 (Log"));
  EXPECT_EQ(Run(Division(1, 0), {"--no-optimize"}).code, 0);
}

}  // namespace
}  // namespace caffe2rt::test::help_test
