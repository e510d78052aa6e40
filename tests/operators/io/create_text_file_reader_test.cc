// The values are those of Caffe2 1.8, except where it reports an error that is none: a last line
// without a newline. A number with something behind it, which it cuts off, is an error here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/io/file_access.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::create_text_file_reader_test {
namespace {

class TextFileReaderTest : public ::testing::Test {
 protected:
  void Open(const std::string& text, const std::string& more = "",
            const std::string& types = "ints: 1 ints: 4") {
    RunOp(&ws_, "type: 'CreateTextFileReader' output: 'h' arg { name: 'filename' s: '" +
                    dir_.Write("t.txt", text) + "' } arg { name: 'field_types' " + types + " } " +
                    more);
  }
  // The numbers and strings of the next batch, as text.
  std::string Read(int batch_size) {
    RunOp(&ws_, MakeString("type: 'TextFileReaderRead' input: 'h' output: 'a' output: 'b' "
                           "arg { name: 'batch_size' i: ",
                           batch_size, " }"));
    std::string text;
    const auto numbers = Fetch<float>(ws_, "a");
    const auto strings = Fetch<std::string>(ws_, "b");
    EXPECT_EQ(numbers.size(), strings.size());
    for (size_t i = 0; i < numbers.size(); ++i) text += MakeString(numbers[i], strings[i], " ");
    return text;
  }
  const TempDir dir_;
  Workspace ws_;
};

constexpr char kThreeLines[] = "1\ta\r\n2\tb\n3\tc\n";

TEST_F(TextFileReaderTest, ReadsLinesInBatchesUntilThePassesEnd) {
  Open(kThreeLines);
  EXPECT_EQ(Read(2), "1a\r 2b ");
  EXPECT_EQ(Read(2), "3c ");
  EXPECT_EQ(Read(2), "");
  EXPECT_EQ(Read(2), "");
  Open(kThreeLines, "arg { name: 'num_passes' i: 2 }");
  EXPECT_EQ(Read(4), "1a\r 2b 3c 1a\r ");
  EXPECT_EQ(Read(4), "2b 3c ");
  EXPECT_EQ(Read(4), "");
  Open(kThreeLines, "arg { name: 'num_passes' i: 0 }");
  EXPECT_EQ(Read(1), "");
}

TEST_F(TextFileReaderTest, ReadsNumbersEmptyStringsAndALastLineWithoutNewline) {
  Open("-2e3\t\n 1 \ta\\tb\n99999999999\tlast");
  EXPECT_EQ(Read(9), "-2000 1a\\tb 1e+11last ");
  Open("");
  EXPECT_EQ(Read(2), "");
  Open("1\t2\n", "", "ints: 1 ints: 1");
  ExpectThrows([&] { RunOp(&ws_, "type: 'TextFileReaderRead' input: 'h' output: 'a'"); },
               "outputs, want one for each of the reader's field_types");
}

// Files of a few lines, which differ from those of none and from longer ones in how a pass ends.
TEST_F(TextFileReaderTest, ReadsEachLineOnceInEveryPass) {
  for (int lines = 0; lines <= 3; ++lines) {
    for (int passes = 1; passes <= 3; ++passes) {
      for (const char* last : {"\n", ""}) {
        std::string text;
        std::vector<std::string> all;
        for (int i = 0; i < lines; ++i) text += MakeString(i > 0 ? "\n" : "", i, "\tline");
        if (lines > 0) text += last;
        for (int i = 0; i < lines * passes; ++i) all.push_back(MakeString(i % lines, "line "));
        for (size_t batch = 1; batch <= 4; ++batch) {
          SCOPED_TRACE(MakeString(lines, " lines, ", passes, " passes, batches of ", batch));
          Open(text, MakeString("arg { name: 'num_passes' i: ", passes, " }"));
          for (size_t i = 0; i < all.size() + batch; i += batch) {
            std::string want;
            for (size_t k = i; k < std::min(i + batch, all.size()); ++k) want += all[k];
            EXPECT_EQ(Read(static_cast<int>(batch)), want);
          }
        }
      }
    }
  }
}

TEST_F(TextFileReaderTest, NamesTheLineThatDoesNotFit) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"1\ta\n2\n", "fields separated by tabs in line 2"},
           {"1\ta\tb\n", "fields separated by tabs in line 1"},
           {"1\ta\n\n", "fields separated by tabs in line 2"},
           {"1\ta\nx\tb\n", "field 0 of line 2"},
           {"1x\ta\n", "is \"1x\", want a number"},
           {"\ta\n", "is \"\", want a number"}}) {
    Open(text);
    ExpectThrows([&] { Read(5); }, message);
  }
}

TEST_F(TextFileReaderTest, ReportsWrongUse) {
  ExpectThrows([&] { Open("", "", ""); }, "argument \"field_types\" is empty");
  ExpectThrows([&] { Open("", "", "ints: 2"); }, "contains 2, want 1 (FLOAT) or 4 (STRING)");
  ExpectThrows([&] { Open("", "arg { name: 'num_passes' i: -1 }"); }, "at least 0");
  ws_.SetFileAccess(FileAccess::Off());
  ExpectThrows([&] { Open(""); }, "t.txt");
  ws_.SetFileAccess(FileAccess::Free());
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'CreateTextFileReader' output: 'h' arg { name: 'filename' s: '/nowhere/x' } "
              "arg { name: 'field_types' ints: 1 }");
      },
      "/nowhere/x");
}

}  // namespace
}  // namespace caffe2rt::test::create_text_file_reader_test
