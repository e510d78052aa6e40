// Texts that programs print: help, numbers, progress, and what a terminal shows of them.
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/bench_report.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/train_progress.h"
#include "binaries/table.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/init.h"

namespace caffe2rt::test::printed_text_test {
namespace {

using ::testing::HasSubstr;

TEST(HelpTextTest, WrapsBeforeTheWidth) {
  // Help begins in column 27. A word that ends in the last column stays.
  const auto row = [](const std::string& help, size_t width) {
    const std::string text =
        HelpText("p", "u", {{"top", "N", "", help.c_str()}}, "", HelpDetail::kShort, width);
    return text.substr(text.find("  --top"));
  };
  const std::string head = "  --top N                  ", indent(27, ' ');
  EXPECT_EQ(row("aaaa bbbb ccc", 40), head + "aaaa bbbb ccc\n");
  EXPECT_EQ(row("aaaa bbbb cccc", 40), head + "aaaa bbbb\n" + indent + "cccc\n");
  EXPECT_EQ(row("aaaaaaaaaaaaaaaaaaaa b", 40), head + "aaaaaaaaaaaaaaaaaaaa\n" + indent + "b\n");
  EXPECT_EQ(row("a  b   c d e f g h i j", 40), head + "a b c d e f g\n" + indent + "h i j\n");
  EXPECT_EQ(HelpText("one two three", "four five six seven", {}, "", HelpDetail::kShort, 16),
            "one two three\n\nusage: four five\n       six seven\n");
}

TEST(HelpTextTest, NamesOf25ColumnsHaveALineOfTheirOwn) {
  const std::string name21(21, 'n'), name22(22, 'n'), name24(24, 'n');
  const std::vector<Option> options = {
      {name21.c_str(), "", "", "help"}, {name22.c_str(), "", "", "help"},
      {name24.c_str(), "", "", ""},     {"output", "X", "", "file"},
      {"default", "X", "7", ""},        {"rare", "", "", "seldom", false, true}};
  const std::string some = "  --" + name21 + "  help\n  --" + name22 + " help\n  --" + name24 +
                           "\n  -o, --output X           file\n"
                           "  --default X              (7)\n";
  const std::string head = "p\n\nusage: u\n\noptions:\n";
  EXPECT_EQ(HelpText("p", "u", options, ""), head + some);
  const std::string all = HelpText("p", "u", options, "notes\n", HelpDetail::kAll);
  EXPECT_TRUE(all.ends_with("  --rare                   seldom\n\nnotes\n")) << all;
  const std::string name23(23, 'n');
  EXPECT_THAT(HelpText("p", "u", {{name23.c_str(), "", "", "help"}}, ""),
              HasSubstr("\n  --" + name23 + "\n" + std::string(27, ' ') + "help\n"));
}

TEST(HelpTextTest, NamedLinesHaveAColumnOfNames) {
  EXPECT_EQ(NamedLine("run", 6, "a b c d e", 14), "  run   a b c\n        d e\n");
  EXPECT_EQ(NamedLine("receipts", 6, "a b", 14), "  receiptsa b\n");
  EXPECT_EQ(NamedLine("receipt", 7, "", 14), "  receipt\n");
}

TEST(HelpTextTest, CommandsAreContinuedAtTheirOptions) {
  EXPECT_EQ(WrappedCommands("  tool run \\\n    --net a.pb --input x=1 y\n  tool ops\n", "> "),
            "> tool run --net a.pb --input x=1 y\n> tool ops\n");
  // With room for " \" behind each line but the last.
  const std::string line = "> tool run --net a.pb --input x=1";
  EXPECT_EQ(WrappedCommands("tool run --net a.pb --input x=1", "> ", line.size() + 2), line + "\n");
  EXPECT_EQ(WrappedCommands("tool run --net a.pb --input x=1", "> ", line.size() + 1),
            "> tool run --net a.pb \\\n>   --input x=1\n");
  EXPECT_EQ(WrappedCommands("tool --aaaa 1 --bbbb 2 --cccc 3", "", 17),
            "tool --aaaa 1 \\\n  --bbbb 2 \\\n  --cccc 3\n");
  EXPECT_EQ(WrappedCommands("tool binaries/demo/stripes/a.pb", ""),
            "D=binaries/demo/stripes\ntool $D/a.pb\n");
}

TEST(HelpTextTest, FlagsHaveAHeadingForEachGroup) {
  GlobalInit();  // registers the flags
  const std::string text = FlagsText();
  EXPECT_TRUE(text.starts_with("flags of Caffe2, ")) << text;
  size_t headings = 0;
  for (size_t at = text.find("flags of Caffe2, "); at != std::string::npos;
       at = text.find("flags of Caffe2, ", at + 1)) {
    if (at > 0) {
      EXPECT_EQ(text.substr(at - 2, 2), "\n\n");
    }
    ++headings;
  }
  EXPECT_GT(headings, 1u);
  for (const FlagInfo& flag : RegisteredFlags()) {
    const bool listed = text.find("\n  --" + flag.name + "=" + flag.type) != std::string::npos;
    EXPECT_EQ(listed, !flag.idle) << flag.name;
  }
}

// As modules register them.
TEST(HelpTextTest, FlagsWithoutGroupAreThoseOfModules) {
  static int wheels = 4;
  static const bool is_registered =
      RegisterFlag("printed_text_wheels", &wheels, "how many", __FILE__);
  ASSERT_TRUE(is_registered);
  const std::string text = FlagsText();
  const std::string heading = "flags of Caffe2, modules:\n";
  const size_t begin = text.find(heading);
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string group = text.substr(begin, text.find("\n\n", begin) - begin);
  EXPECT_NE(group.find("\n  --printed_text_wheels=int"), std::string::npos) << group;
  EXPECT_NE(group.find("how many (4)"), std::string::npos) << group;
}

struct TextOfNumber {
  double number;
  const char* text;
};

TEST(NumberTextTest, BytesHaveUnitsOf1024) {
  for (const auto& [number, text] : {TextOfNumber{0, "0 B"},
                                     {1023, "1023 B"},
                                     {1024, "1.0 KiB"},
                                     {12800, "12.5 KiB"},
                                     {1048524, "1023.9 KiB"},
                                     {1048575, "1024.0 KiB"},
                                     {1048576, "1.0 MiB"},
                                     {2684354560.0, "2560.0 MiB"}})
    EXPECT_EQ(BytesText(static_cast<int64_t>(number)), text);
}

TEST(NumberTextTest, CountsHaveUnitsOf1000FromFiveDigits) {
  for (const auto& [number, text] : {TextOfNumber{0, "0"},
                                     {9999, "9999"},
                                     {10000, "10.0 k"},
                                     {12345, "12.3 k"},
                                     {9999940, "9999.9 k"},
                                     {10000000, "10.0 M"},
                                     {4500000000, "4500.0 M"},
                                     {9999900000, "9999.9 M"},
                                     {10000000000, "10.0 G"}})
    EXPECT_EQ(ShortCount(static_cast<int64_t>(number)), text);
}

TEST(NumberTextTest, NumbersThatAreNoneHaveNames) {
  for (const auto& [number, text] : {TextOfNumber{NAN, "NaN"},
                                     {INFINITY, "Infinity"},
                                     {-INFINITY, "-Infinity"},
                                     {0, "0"},
                                     {-0.25, "-0.25"}}) {
    EXPECT_EQ(NumberText(number), text);
    EXPECT_EQ(ShortNumberText(number), text);
  }
  EXPECT_EQ(NumberText(1234567), "1.23457e+06");
  EXPECT_EQ(NumberText(123456), "123456");
  EXPECT_EQ(ShortNumberText(123456), "1.235e+05");
  EXPECT_EQ(ShortNumberText(1234.6), "1235");
  EXPECT_EQ(ShortNumberText(-0.000123456), "-0.0001235");
}

TEST(TrainProgressTest, DurationsHaveHoursFromOneHour) {
  for (const auto& [seconds, text] : {TextOfNumber{0, "0:00"},
                                      {-7, "0:00"},
                                      {9.4, "0:09"},
                                      {59.6, "1:00"},
                                      {605, "10:05"},
                                      {3599, "59:59"},
                                      {3600, "1:00:00"},
                                      {36610, "10:10:10"},
                                      {4205, "1:10:05"},
                                      {1e30, "277777:46:40"}})
    EXPECT_EQ(DurationText(seconds), text);
}

struct ProgressRow {
  TrainingProgress at;
  const char* text;
};

TEST(TrainProgressTest, ALineHasThreeDigitsOfEachNumber) {
  const ProgressRow rows[] = {
      {{.epoch = 2,
        .share = 0.379,
        .loss = 0.0098,
        .accuracy = 0.9316,
        .rate = 0.05,
        .has_accuracy = true,
        .images_per_second = 1234567.4,
        .seconds_left = 65},
       "epoch 2/5  37 %  loss 0.0098  accuracy 93.2 %  1,234,567 images/s  rate 0.05  1:05 left"},
      {{.epoch = 1, .share = 0.999, .loss = 2.314, .rate = 1, .images_per_second = 999},
       "epoch 1/5  99 %  loss 2.31  999 images/s  rate 1  0:00 left"},
      {{.epoch = 5, .share = 1, .loss = 104.6, .rate = 0.000123456, .images_per_second = 1000},
       "epoch 5/5  100 %  loss 105  1,000 images/s  rate 0.000123  0:00 left"},
      {{.epoch = 5, .share = 0, .loss = 1200, .rate = 0, .images_per_second = 123456},
       "epoch 5/5  0 %  loss 1200  123,456 images/s  rate 0  0:00 left"},
      {{.epoch = 5, .loss = INFINITY, .rate = 1e-20},
       "epoch 5/5  0 %  loss inf  0 images/s  rate 0  0:00 left"},
      {{.epoch = 5, .loss = -0.5, .rate = 10},
       "epoch 5/5  0 %  loss -0.5  0 images/s  rate 10  0:00 left"}};
  for (const ProgressRow& row : rows) EXPECT_EQ(TrainProgressText(row.at, 5), row.text);
}

// What `print` prints on a terminal of `columns` columns.
std::string OnTerminal(unsigned short columns, const char* terminal_name,
                       const std::function<void()>& print) {
  const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  std::cout.flush();
  std::fflush(stdout);
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  CAFFE_ENFORCE(child >= 0, "cannot open a terminal");
  if (child == 0) {
    setenv("TERM", terminal_name, 1);
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    print();
    std::cout.flush();
    std::fflush(stdout);
    std::fflush(stderr);
    _exit(0);
  }
  std::string out;
  char piece[4096];
  for (ssize_t count; (count = read(terminal, piece, sizeof(piece))) > 0;)
    out.append(piece, static_cast<size_t>(count));
  close(terminal);
  waitpid(child, nullptr, 0);
  return absl::StrReplaceAll(out, {{"\r\n", "\n"}});
}

TEST(TerminalTextTest, ParagraphsAreWrappedAndIndented) {
  const auto paragraph = [](unsigned short columns, const std::string& text, size_t indent) {
    return OnTerminal(columns, "dumb", [&] { PrintParagraph(text, indent); });
  };
  EXPECT_EQ(paragraph(9, "aaaa bbbb cccc", 2), "aaaa bbbb\n  cccc\n");
  EXPECT_EQ(paragraph(8, "aaaa bbbb cccc", 2), "aaaa\n  bbbb\n  cccc\n");
  EXPECT_EQ(paragraph(11, "aaaa bbbb cccc dddd", 2), "aaaa bbbb\n  cccc dddd\n");
  EXPECT_EQ(paragraph(12, "  first is indented", 4), "  first is\n    indented\n");
  EXPECT_EQ(paragraph(5, "a verylongword b", 0), "a\nverylongword\nb\n");
  EXPECT_EQ(paragraph(5, "verylongword b", 2), "verylongword\n  b\n");
  EXPECT_EQ(paragraph(8, "", 2), "\n");
  // A word that begins no further than a new line would is not moved to one.
  EXPECT_EQ(paragraph(5, "a verylongword b", 2), "a verylongword\n  b\n");
  EXPECT_EQ(paragraph(5, "ab verylongword", 2), "ab verylongword\n");
  EXPECT_EQ(paragraph(5, "abc verylongword", 2), "abc\n  verylongword\n");
  EXPECT_EQ(paragraph(5, "abc verylongword anotherword b", 2),
            "abc\n  verylongword\n  anotherword\n  b\n");
  // Characters of several bytes and of two columns.
  EXPECT_EQ(paragraph(9, "aaaa \u7573\u7573 cc", 2), "aaaa \u7573\u7573\n  cc\n");
  EXPECT_EQ(paragraph(8, "aaaa \u7573\u7573 cc", 2), "aaaa\n  \u7573\u7573\n  cc\n");
  EXPECT_EQ(paragraph(9, "\u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4 c", 0),
            "\u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4\nc\n");
}

TEST(TerminalTextTest, StylesHaveSequencesOfTheirOwn) {
  const auto styled = [](Style style) {
    return OnTerminal(80, "xterm", [&] { PrintStyled(style, "text"); });
  };
  EXPECT_EQ(styled(Style::kPlain), "text");
  EXPECT_EQ(styled(Style::kBold), "\x1b[1mtext\x1b[0m");
  EXPECT_EQ(styled(Style::kDim), "\x1b[2mtext\x1b[0m");
  EXPECT_EQ(styled(Style::kRed), "\x1b[31mtext\x1b[0m");
  EXPECT_EQ(styled(Style::kYellow), "\x1b[33mtext\x1b[0m");
  EXPECT_EQ(styled(Style::kGreen), "\x1b[32mtext\x1b[0m");
  EXPECT_EQ(OnTerminal(80, "", [] { PrintStyled(Style::kRed, "text"); }), "text");
}

TEST(TerminalTextTest, RowsOfTablesHaveStyles) {
  Table table({{"name", Column::kName}, {"n", Column::kNumber}});
  table.Add({"one", "1"}, Style::kRed);
  table.Add({"two", "2"});
  table.Add({"three", "3"}, Style::kDim);
  EXPECT_EQ(OnTerminal(80, "xterm", [&] { table.Print(); }),
            "\x1b[1m  name   n\x1b[0m\n\x1b[31m  one    1\x1b[0m\n  two    2\n"
            "\x1b[2m  three  3\x1b[0m\n");
  Table untitled(std::vector<Column>{{.kind = Column::kText}});
  untitled.Add({"one"}, Style::kGreen);
  untitled.Add({"two"});
  EXPECT_EQ(OnTerminal(80, "xterm", [&] { untitled.Print(); }), "\x1b[32m  one\x1b[0m\n  two\n");
}

// Beside times of 100 ms, so that milliseconds are percent.
TEST(TerminalTextTest, ChangesOfMoreThanTenPercentHaveColours) {
  const struct {
    double now;
    const char* begin;
  } rows[] = {{111, "\x1b[31m"}, {110, ""}, {109, ""},        {100, ""},
              {91, ""},          {90, ""},  {89, "\x1b[32m"}, {0, "\x1b[32m"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.now);
    const std::string begin = row.begin, end = begin.empty() ? "" : "\x1b[0m";
    NetProfile profile = {.net = "n", .timed_runs = 1};
    OperatorProfile op;
    op.type = "Op";
    op.output = "y";
    op.warm_ms = row.now;
    profile.operators = {op};
    op.output = "added";  // it has no ratio
    profile.operators.push_back(op);
    profile.warm = {.median_ms = row.now, .least_ms = row.now, .mean_ms = row.now};
    const EarlierProfile earlier = {.file = "old.json",
                                    .net = "n",
                                    .median_ms = 100,
                                    .threads = GetNumThreads(),
                                    .operators = {{"Op", "y", 100}}};
    const std::string text =
        OnTerminal(200, "xterm", [&] { PrintComparison(profile, earlier, 0); });
    const std::string ratio = FixedText(row.now / 100, 2);
    EXPECT_THAT(text, HasSubstr("ms now, ratio " + begin + ratio + end + "\n"));
    EXPECT_THAT(text, HasSubstr("\n" + begin + "  Op    y "));
    EXPECT_THAT(text, HasSubstr(" " + ratio + end + "\n"));
    EXPECT_THAT(text, HasSubstr("\n  Op    added "));
  }
}

// Of a net of 100 ms, so that milliseconds are percent.
TEST(TerminalTextTest, SharesOfTheTimeHaveColours) {
  NetProfile profile = {.net = "n", .timed_runs = 1};
  profile.warm = {.median_ms = 100, .least_ms = 100, .mean_ms = 100};
  for (const double share : {25.5, 25.0, 24.5, 10.0, 9.5}) {
    OperatorProfile op;
    op.type = "Op";
    op.output = "y";
    op.warm_ms = share;
    profile.operators.push_back(op);
  }
  const std::string text = OnTerminal(200, "xterm", [&] { PrintProfile(profile, 0); });
  for (const auto& [begin, share] : {std::pair("\n\x1b[31m  0  Op        y       ", "25.5%"),
                                     {"\n\x1b[31m  0  Op        y       ", "25.0%"},
                                     {"\n\x1b[33m  0  Op        y       ", "24.5%"},
                                     {"\n\x1b[33m  0  Op        y       ", "10.0%"},
                                     {"\n  0  Op        y       ", "9.5%"}}) {
    bool found = false;
    for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
      found = found || text.substr(at + 1, text.find('\n', at + 1) - at - 1).find(share) !=
                           std::string::npos;
    EXPECT_TRUE(found) << share << text;
  }
  EXPECT_NE(text.find("\n\x1b[2m     overhead  "), std::string::npos) << text;
}

TEST(TerminalTextTest, TheLineOfATrainingFitsAndIsCleared) {
  const TrainingProgress at = {.epoch = 1, .share = 0.5, .loss = 2, .rate = 1};
  const std::string text = TrainProgressText(at, 3);
  const auto shown = [&](unsigned short columns) {
    return OnTerminal(columns, "dumb", [&] {
      TrainProgressLine line(3);
      line.Show(at);
      line.Clear();
      line.Clear();
    });
  };
  const auto width = static_cast<unsigned short>(text.size() + 3);
  EXPECT_EQ(shown(width), "\r\x1b[K  " + text + "\r\x1b[K");
  EXPECT_THAT(shown(static_cast<unsigned short>(width - 1)), HasSubstr("\u2026"));
  EXPECT_EQ(OnTerminal(80, "dumb", [] { TrainProgressLine(3).Clear(); }), "");
}

TEST(TerminalTextTest, TheWidthIsThatOfTheTerminalOrOfAVariable) {
  EXPECT_EQ(OnTerminal(7, "dumb", [] { std::cout << OutputWidth(); }), "7");
  const auto width = [](const char* columns) {
    // A terminal that does not state its width.
    return OnTerminal(0, "dumb", [&] {
      if (columns != nullptr) setenv("COLUMNS", columns, 1);
      std::cout << OutputWidth();
    });
  };
  EXPECT_EQ(width(nullptr), "80");
  EXPECT_EQ(width("19"), "80");
  EXPECT_EQ(width("20"), "20");
  EXPECT_EQ(width("1000"), "1000");
  EXPECT_EQ(width("1001"), "80");
  EXPECT_EQ(width("100x"), "80");
  EXPECT_EQ(width(""), "80");
}

}  // namespace
}  // namespace caffe2rt::test::printed_text_test
