#include "binaries/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caffe2rt::command_line_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Option>& TestOptions() {
  static const std::vector<Option> options = {{"top", "N", "5", "classes"},
                                              {"bgr", "", "", "blue first"},
                                              {"input", "BLOB", "", "fed", true},
                                              {"mean", "M", "0", ""}};
  return options;
}

CommandLine Parse(const std::vector<std::string>& args) {
  return ParseCommandLine(TestOptions(), args);
}

TEST(CommandLineTest, TakesValuesBothWays) {
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

TEST(CommandLineTest, RefusesWhatIsWrong) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--nope"},
                                               {"--top"},
                                               {"--bgr=1"},
                                               {"--top", "1", "--top", "2"},
                                               {"-top", "1"},
                                               {"-x"}}) {
    EXPECT_THROW(Parse(args), UsageError) << ::testing::PrintToString(args);
  }
  EXPECT_THROW(Parse({"--top", "0"}).Integer("top", 1, 10), UsageError);
  EXPECT_THROW(Parse({"--top", "3x"}).Integer("top", 1, 10), UsageError);
  EXPECT_THROW(Parse({"--mean", "1,,2"}).Floats("mean"), UsageError);
  EXPECT_THROW(Parse({"--mean", "nan"}).Floats("mean"), UsageError);
}

TEST(CommandLineTest, ReadsNumbersWithCommas) {
  EXPECT_THAT(Parse({"--mean", "1.5,-2,3e1"}).Floats("mean"), ElementsAre(1.5f, -2.f, 30.f));
}

TEST(CommandLineTest, ReadsBytesWithUnits) {
  EXPECT_EQ(Parse({"--top", "512M"}).Bytes("top"), 512 << 20);
  EXPECT_EQ(Parse({"--top", "3KiB"}).Bytes("top"), 3 << 10);
  EXPECT_EQ(Parse({"--top", "17"}).Bytes("top"), 17);
  EXPECT_THROW(Parse({"--top", "9999999999G"}).Bytes("top"), UsageError);
  EXPECT_THROW(Parse({"--top", "-1"}).Bytes("top"), UsageError);
}

TEST(CommandLineTest, TellsShapesFromOtherTexts) {
  std::vector<int64_t> dims;
  EXPECT_TRUE(ParseDims("1,3,224,0", &dims));
  EXPECT_THAT(dims, ElementsAre(1, 3, 224, 0));
  for (const char* text : {"", "1,", "1,-2", "1x2", "99999999999999999999"})
    EXPECT_FALSE(ParseDims(text, &dims)) << text;
}

}  // namespace
}  // namespace caffe2rt::command_line_test
