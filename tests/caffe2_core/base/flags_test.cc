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

TEST(FlagsTest, ABoolFlagLeavesAWordThatIsNoBool) {
  flags_test_on = false;
  EXPECT_THAT(Parse({"--flags_test_on", "file", "--flags_test_count", "5", "true"}),
              ElementsAre("file", "true"));
  EXPECT_TRUE(flags_test_on);
  EXPECT_EQ(flags_test_count, 5);
  EXPECT_THAT(Parse({"--flags_test_on", "no"}), ElementsAre());
  EXPECT_FALSE(flags_test_on);
  EXPECT_THAT(Parse({"--flags_test_on=yes"}), ElementsAre());
  EXPECT_TRUE(flags_test_on);
  // The value of another flag may look like a flag or contain an equals sign.
  EXPECT_THAT(Parse({"--flags_test_name", "--flags_test_on"}), ElementsAre());
  EXPECT_EQ(flags_test_name, "--flags_test_on");
  EXPECT_THAT(Parse({"--flags_test_name=a=b"}), ElementsAre());
  EXPECT_EQ(flags_test_name, "a=b");
}

TEST(FlagsTest, OnlyBoolFlagsAreNegated) {
  flags_test_count = 4;
  std::string error;
  EXPECT_THAT(Parse({"--noflags_test_count", "word"}, &error), ElementsAre("word"));
  EXPECT_THAT(error, HasSubstr("flag --noflags_test_count"));
  EXPECT_EQ(flags_test_count, 4);
  static int no_flags_test = 1;
  ASSERT_TRUE(RegisterFlag("noflags_test_on_time", &no_flags_test, "", __FILE__));
  EXPECT_THAT(Parse({"--noflags_test_on_time", "6"}), ElementsAre());
  EXPECT_EQ(no_flags_test, 6);
}

TEST(FlagsTest, AnUnknownFlagLeavesItsValueAndOneProblemEach) {
  std::string error;
  EXPECT_THAT(
      Parse({"--zzzzzzzzzzzzz", "value", "--yyyyyyyyyyyyy=3", "--flags_test_count=11"}, &error),
      ElementsAre("value"));
  EXPECT_EQ(error, "flag --zzzzzzzzzzzzz is not known; flag --yyyyyyyyyyyyy is not known");
  EXPECT_EQ(flags_test_count, 11);
}

TEST(FlagsTest, NoArgumentsAreParsedWithoutEffect) {
  ParseCommandLineFlags(nullptr, nullptr);
  int argc = 0;
  char** argv = nullptr;
  ParseCommandLineFlags(&argc, &argv);
  EXPECT_EQ(argc, 0);
}

const FlagInfo* InfoOf(const std::vector<FlagInfo>& flags, const std::string& name) {
  for (const FlagInfo& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

TEST(FlagsTest, DescribesEachTypeOfFlag) {
  static int number = -2;
  static int64_t large = int64_t{1} << 40;
  static bool on = true;
  static std::string text = "t";
  ASSERT_TRUE(RegisterFlag("flags_test_d_number", &number, "h1", "f1", "g1"));
  ASSERT_TRUE(RegisterFlag("flags_test_d_large", &large, "h2", "f2", "g2"));
  ASSERT_TRUE(RegisterFlag("flags_test_d_on", &on, "h3", "f3", "g3"));
  ASSERT_TRUE(RegisterFlag("flags_test_d_text", &text, "h4", "f4", "g4"));
  number = 9;  // the default is the value at the registration
  const struct {
    const char* name;
    const char* type;
    const char* value;
    const char* number;
  } rows[] = {{"flags_test_d_number", "int", "-2", "1"},
              {"flags_test_d_large", "int64", "1099511627776", "2"},
              {"flags_test_d_on", "bool", "true", "3"},
              {"flags_test_d_text", "string", "t", "4"}};
  const std::vector<FlagInfo> flags = RegisteredFlags();
  for (const auto& row : rows) {
    const FlagInfo* const info = InfoOf(flags, row.name);
    ASSERT_NE(info, nullptr) << row.name;
    EXPECT_EQ(info->type, row.type);
    EXPECT_EQ(info->default_value, row.value);
    EXPECT_EQ(info->help, std::string("h") + row.number);
    EXPECT_EQ(info->file, std::string("f") + row.number);
    EXPECT_EQ(info->group, std::string("g") + row.number);
    EXPECT_FALSE(info->idle);
  }
  const FlagInfo* const off = InfoOf(flags, "flags_test_on");
  ASSERT_NE(off, nullptr);
  EXPECT_EQ(off->default_value, "false");
  EXPECT_EQ(off->group, "");
  for (size_t i = 1; i < flags.size(); ++i) EXPECT_LT(flags[i - 1].name, flags[i].name);
}

TEST(FlagsTest, DeferredAndIdleFlagsCheckTheirType) {
  const struct {
    const char* type;
    const char* good;
    const char* bad;  // null: any text is a value
  } rows[] = {{"int", "-7", "x"},
              {"int64", "0x7", "1.5"},
              {"bool", "f", "2"},
              {"double", "1e3", "1e"},
              {"string", "anything at all", nullptr}};
  for (const auto& row : rows) {
    const std::string later = std::string("flags_test_later_") + row.type;
    const std::string idle = std::string("flags_test_idle_") + row.type;
    RegisterDeferredFlag({later, row.type, "", "help", "b.cc", ""});
    Flag flag = IdleFlag(idle.c_str(), row.type, "0", "i.cc");
    EXPECT_TRUE(flag.info.idle);
    EXPECT_EQ(flag.info.default_value, "0");
    EXPECT_EQ(flag.info.file, "i.cc");
    ASSERT_TRUE(RegisterFlag(std::move(flag.info), std::move(flag.set)));
    for (const std::string& name : {later, idle}) {
      EXPECT_NO_THROW(SetFlag(name, row.good)) << name;
      if (row.bad != nullptr) EXPECT_THROW(SetFlag(name, row.bad), EnforceNotMet) << name;
    }
    (void)TakeIdleFlagsGiven();
    if (row.bad == nullptr) continue;
    EXPECT_THROW(SetFlag(idle, row.bad), EnforceNotMet);
    EXPECT_THAT(TakeIdleFlagsGiven(), ElementsAre()) << "a value that was rejected";
  }
  // The last good value is kept until the flag is defined, and set then.
  SetFlag("flags_test_later_string", "second");
  std::string text = "default";
  ASSERT_TRUE(RegisterFlag("flags_test_later_string", &text, "", __FILE__));
  EXPECT_EQ(text, "second");
  int64_t number = 1;
  RegisterDeferredFlag({"flags_test_later_unset", "int64", "1", "help", "b.cc", ""});
  ASSERT_TRUE(RegisterFlag("flags_test_later_unset", &number, "", __FILE__));
  EXPECT_EQ(number, 1) << "no value was given";
  // A deferred flag does not replace one that is defined.
  RegisterDeferredFlag({"flags_test_later_unset", "int64", "1", "other", "b.cc", ""});
  SetFlag("flags_test_later_unset", "3");
  EXPECT_EQ(number, 3);
}

TEST(FlagsTest, ADeferredValueThatTheFlagRejectsIsReportedWhenItIsDefined) {
  RegisterDeferredFlag({"flags_test_later_range", "int", "1", "help", "b.cc", ""});
  SetFlag("flags_test_later_range", "99999999999");
  int number = 1;
  EXPECT_THROW(RegisterFlag("flags_test_later_range", &number, "", __FILE__), EnforceNotMet);
  EXPECT_EQ(number, 1);
}

TEST(FlagsTest, ReadsIntegersAsC) {
  const std::pair<const char*, int64_t> rows[] = {{"0", 0},  {"-0x1f", -31}, {"017", 15},
                                                  {"+5", 5}, {" 6", 6},      {"0X10", 16}};
  for (const auto& [text, value] : rows) EXPECT_EQ(ParseFlagInteger(text), value) << text;
  for (const char* text : {"", "6 ", "0x", "1e3", "08", "-9223372036854775809", "five"}) {
    EXPECT_THROW(ParseFlagInteger(text), EnforceNotMet) << text;
  }
  EXPECT_EQ(ParseFlagInteger("-9223372036854775808"), INT64_MIN);
}

int flags_test_shaped = 0;
bool flags_test_shaped_not = true;
bool flags_test_no = false;

// A flag whose own name begins with "no" is not the negation of another one.
TEST(FlagsTest, TheWholeNameComesBeforeANegation) {
  static const bool registered =
      RegisterFlag("noflags_test_shape", &flags_test_shaped, "", __FILE__) &&
      RegisterFlag("flags_test_shape", &flags_test_shaped_not, "", __FILE__) &&
      RegisterFlag("noflags_test_word", &flags_test_no, "", __FILE__);
  ASSERT_TRUE(registered);
  EXPECT_THAT(Parse({"--noflags_test_shape", "7", "word"}), ElementsAre("word"));
  EXPECT_EQ(flags_test_shaped, 7);
  EXPECT_TRUE(flags_test_shaped_not);
  EXPECT_THAT(Parse({"--noflags_test_word"}), ElementsAre());
  EXPECT_TRUE(flags_test_no);
  EXPECT_THAT(Parse({"--nonoflags_test_word"}), ElementsAre());
  EXPECT_FALSE(flags_test_no);
}

TEST(FlagsTest, NumbersHaveOneSignAndAPrefixInEitherCase) {
  EXPECT_EQ(ParseFlagDouble("+1.5"), 1.5);
  EXPECT_EQ(ParseFlagDouble("-1.5"), -1.5);
  EXPECT_EQ(ParseFlagDouble(" \t-2"), -2);
  EXPECT_EQ(ParseFlagDouble("0x1.8p1"), 3);
  EXPECT_EQ(ParseFlagDouble("0X1.8P1"), 3);
  EXPECT_EQ(ParseFlagDouble("-0X10"), -16);
  for (const char* const text : {"-+1", "+-1", "--1", "++1", "0x-1", "+0x-1", "- 1", "1 ", "0x",
                                 "+", "-", "", " ", "1e", "0X", "1,5"}) {
    EXPECT_THROW(ParseFlagDouble(text), EnforceNotMet) << text;
  }
}

}  // namespace
}  // namespace caffe2rt::flags_test
