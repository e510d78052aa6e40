#include "caffe2_core/base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::flags_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int flags_test_count = 3;
int64_t flags_test_size = 1;
double flags_test_rate = 0.5;
bool flags_test_on = false;
std::string flags_test_name = "a";

const bool kRegistered = RegisterFlag("flags_test_count", &flags_test_count, "count", __FILE__) &&
                         RegisterFlag("flags_test_size", &flags_test_size, "size", __FILE__) &&
                         RegisterFlag("flags_test_rate", &flags_test_rate, "rate", __FILE__) &&
                         RegisterFlag("flags_test_on", &flags_test_on, "on", __FILE__) &&
                         RegisterFlag("flags_test_name", &flags_test_name, "name", __FILE__);

// Parses the flags in `words` and returns the other words. Stores the text of an error in `error`.
std::vector<std::string> Parse(std::vector<std::string> words, std::string* error = nullptr) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  char** pointer = argv.data();
  try {
    ParseCommandLineFlags(&argc, &pointer);
  } catch (const EnforceNotMet& e) {
    EXPECT_NE(error, nullptr) << e.what();
    if (error != nullptr) *error = e.message();
  }
  return std::vector<std::string>(argv.begin() + 1, argv.begin() + argc);
}

TEST(FlagsTest, AcceptsValuesAfterAnEqualsSignOrASpaceAndKeepsTheRest) {
  ASSERT_TRUE(kRegistered);
  EXPECT_THAT(Parse({"--flags_test_count=-4", "rest", "--flags_test_size", "0x10", "-x",
                     "--flags_test_rate=1e3", "--flags_test_name=", "--", "--flags_test_count=9"}),
              ElementsAre("rest", "-x", "--", "--flags_test_count=9"));
  EXPECT_EQ(flags_test_count, -4);
  EXPECT_EQ(flags_test_size, 16);
  EXPECT_EQ(flags_test_rate, 1000);
  EXPECT_EQ(flags_test_name, "");
  EXPECT_TRUE(CommandLineFlagsHasBeenParsed());
}

TEST(FlagsTest, AcceptsBoolsAloneNegatedAndWithAValue) {
  EXPECT_THAT(Parse({"--flags_test_on"}), ElementsAre());
  EXPECT_TRUE(flags_test_on);
  EXPECT_THAT(Parse({"--noflags_test_on", "word"}), ElementsAre("word"));
  EXPECT_FALSE(flags_test_on);
  EXPECT_THAT(Parse({"--flags_test_on", "true", "word"}), ElementsAre("word"));
  EXPECT_TRUE(flags_test_on);
  EXPECT_THAT(Parse({"--flags_test_on=0"}), ElementsAre());
  EXPECT_FALSE(flags_test_on);
}

TEST(FlagsTest, ReportsUnknownFlagsWithWhatIsCloseAfterSettingTheOthers) {
  std::string error;
  Parse({"--flags_test_cuont=1", "--flags_test_count=8"}, &error);
  EXPECT_THAT(error, HasSubstr("flag --flags_test_cuont is not known; close: --flags_test_count"));
  EXPECT_EQ(flags_test_count, 8);
}

TEST(FlagsTest, ReportsValuesThatDoNotFit) {
  std::string error;
  Parse({"--flags_test_count=99999999999"}, &error);
  EXPECT_THAT(error, HasSubstr("flag --flags_test_count: 99999999999 does not fit into int"));
  Parse({"--flags_test_size=1x"}, &error);
  EXPECT_THAT(error, HasSubstr("\"1x\" is not an integer"));
  Parse({"--flags_test_rate=fast"}, &error);
  EXPECT_THAT(error, HasSubstr("\"fast\" is not a number"));
  Parse({"--flags_test_on=maybe"}, &error);
  EXPECT_THAT(error, HasSubstr("\"maybe\" is neither true nor false"));
  Parse({"--flags_test_count"}, &error);
  EXPECT_THAT(error, HasSubstr("flag --flags_test_count is last, want a value after it"));
}

TEST(FlagsTest, ReportsANameThatIsDefinedTwiceAtTheNextParse) {
  static int other = 0;
  EXPECT_FALSE(RegisterFlag("flags_test_count", &other, "again", "other.cc"));
  std::string error;
  Parse({}, &error);
  EXPECT_THAT(error, HasSubstr("flag --flags_test_count is defined twice"));
  EXPECT_THAT(error, HasSubstr("other.cc"));
}

TEST(FlagsTest, ListsFlagsWithTypeDefaultAndHelp) {
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (flag.name != "flags_test_rate") continue;
    EXPECT_EQ(flag.type, "double");
    EXPECT_EQ(flag.default_value, "0.5");
    EXPECT_EQ(flag.help, "rate");
  }
  SetUsageMessage("usage: program");
  EXPECT_EQ(UsageMessage(), "usage: program");
}

TEST(FlagsTest, ReadsNumbersInAnyFormOfC) {
  EXPECT_EQ(ParseFlagDouble("1234.5"), 1234.5);
  EXPECT_EQ(ParseFlagDouble(" \t+.5e1"), 5);
  EXPECT_EQ(ParseFlagDouble("-0x1.8p3"), -12);
  EXPECT_EQ(ParseFlagDouble("-inf"), -std::numeric_limits<double>::infinity());
  for (const char* text : {"", " ", "+", "--1", "+-1", "1,5", "1.5 ", "0x", "one"}) {
    EXPECT_THROW(ParseFlagDouble(text), EnforceNotMet) << text;
  }
}

TEST(FlagsTest, RemembersWhichIdleFlagsWereGiven) {
  Flag idle = IdleFlag("flags_test_idle", "bool", "false", __FILE__);
  ASSERT_TRUE(RegisterFlag(std::move(idle.info), std::move(idle.set)));
  Parse({"--flags_test_idle", "--flags_test_count=1", "--noflags_test_idle"});
  EXPECT_THAT(TakeIdleFlagsGiven(), ElementsAre("flags_test_idle"));
  EXPECT_THAT(TakeIdleFlagsGiven(), ElementsAre());
}

}  // namespace
}  // namespace caffe2rt::flags_test
