#include "binaries/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/flags.h"

namespace caffe2rt::test::command_line_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

int test_flag = 0;
bool test_switch = false;
const bool kRegistered = RegisterFlag("test_flag", &test_flag, "for the test", __FILE__) &&
                         RegisterFlag("test_switch", &test_switch, "for the test", __FILE__);

const std::vector<Option>& TestOptions() {
  static const std::vector<Option> options = {{"top", "N", "5", "classes"},
                                              {"bgr", "", "", "blue first"},
                                              {"input", "BLOB", "", "fed", true},
                                              {"mean", "M", "0", ""}};
  return options;
}

CommandLine Parse(const std::vector<std::string>& args) {
  EXPECT_TRUE(kRegistered);
  return ParseCommandLine(TestOptions(), args);
}

TEST(CommandLineTest, AcceptsValuesAfterSpaceOrEqualsSign) {
  EXPECT_EQ(Parse({"--top", "3"}).Integer("top", 1, 10), 3);
  EXPECT_EQ(Parse({"--top=4"}).Integer("top", 1, 10), 4);
  EXPECT_EQ(Parse({}).Integer("top", 1, 10), 5);
}

TEST(CommandLineTest, MixesFilesAndOptions) {
  const CommandLine line = Parse({"a", "--bgr", "b", "--", "--top"});
  EXPECT_TRUE(line.Has("bgr"));
  EXPECT_THAT(line.positional(), ElementsAre("a", "b", "--top"));
}

TEST(CommandLineTest, KeepsTheOrderOfRepeatedOptions) {
  EXPECT_THAT(Parse({"--input", "x=1", "--input=y=2"}).All("input"), ElementsAre("x=1", "y=2"));
}

TEST(CommandLineTest, AcceptsAnyWordAsValueOrFile) {
  struct Row {
    std::vector<std::string> args;
    std::vector<std::string> input;
    std::vector<std::string> files;
  };
  const std::string bytes = "\x01\xff\n %s{1}[a,b]", longest(100000, 'x');
  const Row rows[] = {
      {{"--input=", "a"}, {""}, {"a"}},
      {{"--input", "", "a"}, {""}, {"a"}},
      {{"--input=="}, {"="}, {}},
      {{"--input=x=", "y="}, {"x="}, {"y="}},
      {{"--input", "x=", "--input=--top"}, {"x=", "--top"}, {}},
      {{"--input", "--top", "--bgr"}, {"--top"}, {}},
      {{"--input", "--", "--", "--input", "--"}, {"--"}, {"--input", "--"}},
      {{"--input", "-1", "-"}, {"-1"}, {"-"}},
      {{"--input=[a,b]", "[a,b]", "++", ""}, {"[a,b]"}, {"[a,b]", "++", ""}},
      {{"--input=" + bytes, bytes}, {bytes}, {bytes}},
      {{"--input=" + longest, longest}, {longest}, {longest}},
      {{"/input:x", "@file", "input"}, {}, {"/input:x", "@file", "input"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.args).substr(0, 200));
    const CommandLine line = Parse(row.args);
    EXPECT_THAT(line.All("input"), ElementsAreArray(row.input));
    EXPECT_THAT(line.positional(), ElementsAreArray(row.files));
  }
}

TEST(CommandLineTest, RejectsWhatIsWrong) {
  struct Row {
    std::vector<std::string> args;
    const char* error;
  };
  const Row rows[] = {
      {{"--nothing"}, "option --nothing is not known"},
      {{"--help-al"}, "option --help-al is not known; did you mean --help-all?"},
      {{"--topp=1"}, "option --topp is not known; did you mean --top?"},
      {{"--test_flg", "1"}, "option --test_flg is not known; did you mean --test_flag?"},
      {{"--="}, "option -- is not known"},
      {{"-x"}, "option -x is not known"},
      {{"-5"}, "option -5 is not known"},
      {{"-top", "1"}, "option -top is not known; did you mean --top?"},
      {{"---top", "1"}, "option ---top is not known; did you mean --top?"},
      {{"--\xff\n=1"}, "option --\xff\n is not known"},
      {{"--Top=1"}, "option --Top is not known; did you mean --top?"},
      {{"--no-bgr"}, "option --no-bgr is not known"},
      {{"--top"}, "option --top needs a value (N)"},
      {{"a", "--bgr", "--top"}, "option --top needs a value (N)"},
      {{"--bgr=1"}, "option --bgr does not accept a value"},
      {{"--bgr="}, "option --bgr does not accept a value"},
      {{"--bgr=false"}, "option --bgr does not accept a value"},
      {{"--bgr=0"}, "option --bgr does not accept a value"},
      {{"--notest_switch=true"},
       "option --notest_switch is not known; did you mean --test_switch?"},
      {{"--notest_switch="}, "option --notest_switch is not known; did you mean --test_switch?"},
      {{"--bgr", "--bgr"}, "option --bgr is given more than once"},
      {{"--top", "1", "--top=2"}, "option --top is given more than once"},
      {{"-notest_flag"}, "option -notest_flag is not known; did you mean --test_flag?"},
      {{"--test_flag"}, "flag --test_flag is last, want a value after it"},
      {{"--test_flag=x"}, "flag --test_flag: \"x\" is not an integer"},
      {{"--test_switch=maybe"}, "flag --test_switch: \"maybe\" is neither true nor false"},
  };
  for (const Row& row : rows) {
    try {
      Parse(row.args);
      ADD_FAILURE() << ::testing::PrintToString(row.args) << " is accepted";
    } catch (const UsageError& error) {
      // The flag --v exists once a test has initialized the library.
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, message.find("; did you mean --v?")), row.error);
    }
  }
}

TEST(CommandLineTest, RejectsInvalidNumbers) {
  for (const char* text : {"0", "11", "3x", "", " 3", "+3", "0x3", "3.0", "99999999999999999999"})
    EXPECT_THROW(Parse({"--top", text}).Integer("top", 1, 10), UsageError) << text;
  for (const char* text : {"1,,2", "1,", "", "nan", "inf", "1e99", "1;2", "0x1"})
    EXPECT_THROW(Parse({"--mean", text}).Floats("mean"), UsageError) << text;
  EXPECT_EQ(Parse({"--top=010"}).Integer("top", 1, 10), 10);
}

TEST(CommandLineTest, SetsFlagsOfTheRegistry) {
  struct Row {
    std::vector<std::string> args;
    int flag;
    bool is_on;
    std::vector<std::string> files;
  };
  const Row rows[] = {
      {{"--test_flag=3", "a"}, 3, false, {"a"}},
      {{"a", "--test_flag", "-4", "b"}, -4, false, {"a", "b"}},
      {{"--test_flag=3", "--bgr", "--test_flag=5"}, 5, false, {}},
      {{"--test_switch", "a"}, 0, true, {"a"}},
      {{"--test_switch=true", "--notest_switch"}, 0, false, {}},
      {{"-test_flag=3", "-notest_switch", "-test_flag", "4"}, 4, false, {}},
      {{"--", "--test_flag=3"}, 0, false, {"--test_flag=3"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.args));
    test_flag = 0;
    test_switch = false;
    EXPECT_THAT(Parse(row.args).positional(), ElementsAreArray(row.files));
    EXPECT_EQ(test_flag, row.flag);
    EXPECT_EQ(test_switch, row.is_on);
  }
}

int late_flag = 0;

TEST(CommandLineTest, ModulesAreLoadedBeforeFlagsAreSet) {
  const std::vector<Option> options = {{"module", "FILE", "", "", true}};
  late_flag = 0;
  const CommandLine line = ParseCommandLine(
      options, {"--late_flag", "7", "--module=m", "a"}, [](const CommandLine& given) {
        EXPECT_THAT(given.All("module"), ElementsAre("m"));
        static const bool is_registered =
            RegisterFlag("late_flag", &late_flag, "for the test", __FILE__);
        EXPECT_TRUE(is_registered);
      });
  EXPECT_EQ(late_flag, 7);
  EXPECT_THAT(line.positional(), ElementsAre("a"));
}

TEST(CommandLineTest, HelpComesBeforeFilesAndUnknownOptions) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--help"},
                                               {"-h"},
                                               {"a", "--nope", "--help"},
                                               {"--top", "x", "-h", "--", "b"}}) {
    EXPECT_TRUE(Parse(args).Has("help")) << ::testing::PrintToString(args);
  }
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--help-all"},
                                               {"--help", "--help-all"},
                                               {"--help-all", "-h"},
                                               {"--top", "x", "--help-all", "--nope"}}) {
    EXPECT_TRUE(Parse(args).Has("help-all")) << ::testing::PrintToString(args);
    EXPECT_FALSE(Parse(args).Has("help")) << ::testing::PrintToString(args);
  }
  EXPECT_FALSE(Parse({"-h"}).Has("help-all"));
  EXPECT_FALSE(Parse({"--", "--help"}).Has("help"));
  EXPECT_FALSE(Parse({"--input", "--help"}).Has("help"));
}

TEST(CommandLineTest, HelpTextHasARowForEachOption) {
  EXPECT_EQ(HelpText("returns a code", "example [FILE] [options]",
                     {{"code", "N", "3", "exit code"}, {"quiet", "", "", "prints nothing"}},
                     "example:\n  example --code 1\n"),
            "returns a code\n"
            "\n"
            "usage: example [FILE] [options]\n"
            "\n"
            "options:\n"
            "  --code N                 exit code (3)\n"
            "  --quiet                  prints nothing\n"
            "\n"
            "example:\n"
            "  example --code 1\n");
}

// A default follows a help of any length. Only rarely used options are left out of the short help.
TEST(CommandLineTest, HelpTextHasDefaultsAndRepeatedOptions) {
  const std::vector<Option> options = {{"long", "N", "17",
                                        "a help of more words than fit into one line, to which is "
                                        "added what holds if it is not given"},
                                       {"many", "FILE", "none", "a file", true},
                                       {"rare", "N", "5", "a number", false, true},
                                       {"both", "N", "7", "some numbers", true, true}};
  const std::string head =
      "p\n\nusage: u\n\noptions:\n"
      "  --long N                 a help of more words than fit into one line, to which\n"
      "                           is added what holds if it is not given (17)\n"
      "  --many FILE              a file (none)\n";
  EXPECT_EQ(HelpText("p", "u", options, "", HelpDetail::kShort), head);
  EXPECT_EQ(
      HelpText("p", "u", options, "", HelpDetail::kAll),
      head +
          "  --rare N                 a number (5)\n  --both N                 some numbers (7)\n");
}

TEST(CommandLineTest, ReadsNumbersWithCommas) {
  EXPECT_THAT(Parse({"--mean", "1.5,-2,3e1"}).Floats("mean"), ElementsAre(1.5f, -2.f, 30.f));
}

TEST(CommandLineTest, ReadsBytesWithUnits) {
  EXPECT_EQ(Parse({"--top", "512M"}).Bytes("top"), 512 << 20);
  EXPECT_EQ(Parse({"--top", "3KiB"}).Bytes("top"), 3 << 10);
  EXPECT_EQ(Parse({"--top", "17"}).Bytes("top"), 17);
  EXPECT_EQ(Parse({"--top", "2gb"}).Bytes("top"), int64_t{2} << 30);
  EXPECT_EQ(Parse({"--top", "010K"}).Bytes("top"), 10 << 10);
  for (const auto& [text, bytes] : {std::pair<const char*, int64_t>{"0", 0},
                                    {"7B", 7},
                                    {"5k", 5 << 10},
                                    {"5KB", 5 << 10},
                                    {"5Ki", 5 << 10},
                                    {"5m", 5 << 20},
                                    {"5Mi", 5 << 20},
                                    {"5MiB", 5 << 20},
                                    {"5G", int64_t{5} << 30},
                                    {"5gib", int64_t{5} << 30},
                                    {"9223372036854775807", INT64_MAX},
                                    {"9007199254740991K", INT64_MAX - 1023},
                                    {"8796093022207M", INT64_MAX - (1 << 20) + 1},
                                    {"8589934591G", INT64_MAX - (1 << 30) + 1}})
    EXPECT_EQ(Parse({"--top", text}).Bytes("top"), bytes) << text;
  for (const char* text :
       {"9223372036854775808", "9007199254740992K", "8796093022208M", "8589934592G"})
    EXPECT_THROW(Parse({"--top", text}).Bytes("top"), UsageError) << text;
  for (const char* text :
       {"9999999999G", "-1", "", "M", "1.5G", "1 M", "1MM", "1KiBB", "0x1b", "1T"})
    EXPECT_THROW(Parse({"--top", text}).Bytes("top"), UsageError) << text;
}

TEST(CommandLineTest, CountsTheFiles) {
  const auto error = [](const std::vector<std::string>& files, size_t least, size_t most) {
    try {
      CheckPositional(Parse(files), least, most, "one or two nets");
    } catch (const UsageError& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  EXPECT_EQ(error({}, 0, 0), "");
  EXPECT_EQ(error({"a"}, 1, 2), "");
  EXPECT_EQ(error({"a", "b"}, 1, 2), "");
  EXPECT_EQ(error({}, 1, 2), "want one or two nets, see --help");
  EXPECT_EQ(error({"a"}, 2, 2), "want one or two nets, see --help");
  EXPECT_EQ(error({"a", "b", "c", "d"}, 1, 2), "argument \"c\" is unexpected, see --help");
  EXPECT_EQ(error({"a", "b"}, 0, 1), "argument \"b\" is unexpected, see --help");
  EXPECT_EQ(error({"a", "b"}, 0, 0),
            "argument \"a\" is unexpected; this command reads files from options, see --help");
}

TEST(CommandLineTest, ATextIsTheLastValueOrTheDefault) {
  EXPECT_EQ(Parse({"--input", "a", "--input", "b"}).Text("input"), "b");
  EXPECT_EQ(Parse({"--input", "a", "--input="}).Text("input"), "");
  EXPECT_EQ(Parse({}).Text("input"), "");
  EXPECT_EQ(Parse({}).Text("top"), "5");
  EXPECT_EQ(Parse({"--top="}).Text("top"), "");
  EXPECT_EQ(Parse({"--bgr"}).Text("bgr"), "true");
  EXPECT_EQ(Parse({}).Text("no such option"), "");
  EXPECT_TRUE(Parse({}).All("top").empty());
  EXPECT_FALSE(Parse({}).Has("top"));
}

TEST(CommandLineTest, DistinguishesShapesFromOtherText) {
  std::vector<int64_t> dims;
  EXPECT_TRUE(ParseDims("1,3,224,0", &dims));
  EXPECT_THAT(dims, ElementsAre(1, 3, 224, 0));
  for (const char* text : {"", "1,", "1,-2", "1x2", "99999999999999999999"})
    EXPECT_FALSE(ParseDims(text, &dims)) << text;
  // What was there before the call does not stay.
  dims = {7, 8};
  EXPECT_TRUE(ParseDims("0", &dims));
  EXPECT_THAT(dims, ElementsAre(0));
  EXPECT_TRUE(ParseDims("9223372036854775807", &dims));
  EXPECT_THAT(dims, ElementsAre(INT64_MAX));
}

}  // namespace
}  // namespace caffe2rt::test::command_line_test
