// Patterns of checkpoints against printf, and operators on files that run several times: paths,
// positions and blobs of the run before must not reach the next one.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/net.h"
#include "operators/io/checkpoint.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::io_runs_test {
namespace {

namespace fs = std::filesystem;

// What C makes of the pattern, whose conversion is that of an int.
std::string FormattedByC(std::string pattern, int64_t value) {
  size_t at = pattern.find('%');
  while (pattern[at + 1] == '%') at = pattern.find('%', at + 2);
  pattern.insert(pattern.find_first_of("diuxXo", at), "ll");
  char text[1200];
  // The pattern is one of this test.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size =
      std::snprintf(text, sizeof(text), pattern.c_str(), static_cast<long long>(value));
#pragma GCC diagnostic pop
  return {text, static_cast<size_t>(size)};
}

TEST(CheckpointPatternTest, FormatsAsPrintf) {
  for (const char* pattern :
       {"%d",       "%i",     "%u",        "%x",     "%X",     "%o",          "%5d|",  "%-5d|",
        "%05d",     "%+d",    "% d",       "%+5d",   "%-+5d|", "%.3d",        "%8.3d", "%-8.3d|",
        "%.d",      "%.0d",   "%#x",       "%#X",    "%#o",    "%#08x",       "%999d", "%.200d",
        "%000005d", "%--5d|", "a%%b%dc%%", "%%%d%%", "%d%%d",  "x%06dy/z.%%d"}) {
    for (const int64_t value : {int64_t{0}, int64_t{7}, int64_t{123456}, INT64_MAX})
      EXPECT_EQ(FormatIteration(pattern, value), FormattedByC(pattern, value)) << pattern;
    if (std::string(pattern).find_first_of("uxXo") != std::string::npos) continue;
    for (const int64_t value : {int64_t{-42}, INT64_MIN})
      EXPECT_EQ(FormatIteration(pattern, value), FormattedByC(pattern, value)) << pattern;
  }
  // The length of the type is that of the iteration, whatever the pattern states.
  for (const char* pattern : {"%hd", "%hhd", "%ld", "%lld", "%qd", "%jd", "%zd", "%td", "%05lld"})
    EXPECT_EQ(FormatIteration(pattern, 1234567890123), "1234567890123") << pattern;
  EXPECT_EQ(FormatIteration("", 1), "");
  EXPECT_EQ(FormatIteration("100%%", 1), "100%");
}

TEST(CheckpointPatternTest, RejectsWhatItCannotFormat) {
  const auto message = [](const std::string& pattern) {
    return MessageOf([&] { FormatIteration(pattern, 1); });
  };
  for (const char* pattern : {"%1000d", "%.1000d", "%5.0001d"}) {
    const std::string want =
        std::string("digits of a width in the file pattern \"") + pattern + "\"";
    EXPECT_EQ(message(pattern).find(want), 0u) << message(pattern);
  }
  for (const char* pattern : {"%D", "%p", "%ls", "%.", "%5.", "%+", "%l", "a%", "%5%", "% "})
    EXPECT_EQ(message(pattern),
              std::string("the file pattern \"") + pattern +
                  "\" has a conversion that is not for an integer, want one like %d or %06d");
  for (const char* pattern : {"%d%d", "%d%", "%d%s", "%d %% %x"})
    EXPECT_EQ(message(pattern), std::string("the file pattern \"") + pattern +
                                    "\" has more than one conversion, want one, for the iteration");
}

class IoRunsTest : public ::testing::Test {
 protected:
  std::unique_ptr<NetBase> Net(const std::string& op) {
    NetDef net;
    net.set_name("n");
    *net.add_op() = ParseOp(op);
    return CreateNet(net, &ws_);
  }
  static std::string Minidb(const std::string& db) {
    return " arg { name: 'db' s: '" + db + "' } arg { name: 'db_type' s: 'minidb' } ";
  }
  void Save(const std::string& file, float a, float b) {
    Feed<float>(&ws_, "a", {2}, {a, a});
    Feed<float>(&ws_, "b", {1}, {b});
    RunOp(&ws_, "type: 'Save' input: 'a' input: 'b'" + Minidb(file));
    for (const char* name : {"a", "b"}) ws_.RemoveBlob(name);
  }
  std::vector<std::string> Keys(const std::string& file) const {
    std::vector<std::string> keys;
    const auto database = db::CreateDB("minidb", dir_.path(file), db::READ);
    const auto cursor = database->NewCursor();
    for (; cursor->Valid(); cursor->Next()) keys.push_back(cursor->key());
    return keys;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_.path("")))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

using Names = std::vector<std::string>;

TEST_F(IoRunsTest, EachIterationHasAFileOfItsOwn) {
  Feed<float>(&ws_, "a", {1}, {5});
  Feed<int64_t>(&ws_, "it", {1}, {0});
  const auto every = Net("type: 'Checkpoint' input: 'it' input: 'a'" + Minidb("c_%02d") +
                         "arg { name: 'every' i: 3 }");
  const auto each = Net("type: 'Snapshot' input: 'it' input: 'a'" + Minidb("s_%d"));
  for (const int64_t iteration : {0, 1, 2, 3, 4, 6, -3}) {
    Feed<int64_t>(&ws_, "it", {2}, {iteration, 99});  // the first number counts
    Feed<float>(&ws_, "a", {1}, {static_cast<float>(iteration)});
    ASSERT_TRUE(every->Run());
    if (iteration > 3) ASSERT_TRUE(each->Run());
  }
  EXPECT_EQ(Files(), (Names{"c_-3", "c_00", "c_03", "c_06", "s_4", "s_6"}));
  Workspace read(dir_.path());
  RunOp(&read, "type: 'Load' output: 'it' output: 'a'" + Minidb("c_03"));
  ExpectTensor<int64_t>(read, "it", {2}, {3, 99});
  ExpectTensor<float>(read, "a", {1}, {3});
  // Of the arguments of Save, all apply.
  Feed<float>(&ws_, "pre/b", {3}, {1, 2, 3});
  const auto with = [&](const std::string& inputs, const std::string& args) {
    RunOp(&ws_, "type: 'Checkpoint' input: 'it' " + inputs + Minidb("args") + args);
    return Keys("args");
  };
  EXPECT_EQ(with("input: 'pre/b'", "arg { name: 'strip_prefix' s: 'pre/' }"),
            (Names{"it#%0", "b#%0"}));
  EXPECT_EQ(with("input: 'pre/b'", "arg { name: 'chunk_size' i: 2 }"),
            (Names{"it#%0", "pre/b#%0", "pre/b#%1"}));
  EXPECT_EQ(with("input: 'a'", "arg { name: 'blob_name_overrides' strings: 'x' strings: 'y' }"),
            (Names{"x#%0", "y#%0"}));
  RunOp(&ws_, "type: 'Checkpoint' input: 'it'" + Minidb(dir_.path("sub_%d")) +
                  "arg { name: 'absolute_path' i: 1 }");
  EXPECT_TRUE(fs::exists(dir_.path("sub_-3")));
  Feed<int64_t>(&ws_, "it", {0}, {});
  EXPECT_NE(MessageOf([&] { each->Run(); }).find("elements of input 0 (iteration)"),
            std::string::npos);
}

TEST_F(IoRunsTest, LoadingAgainReadsTheFileAgain) {
  Save("m", 1, 2);
  const auto load = Net("type: 'Load' output: 'b' output: 'a'" + Minidb("m"));
  ASSERT_TRUE(load->Run());
  ExpectTensor<float>(ws_, "a", {2}, {1, 1});
  ASSERT_TRUE(load->Run());
  ExpectTensor<float>(ws_, "b", {1}, {2});
  Feed<float>(&ws_, "x", {3}, {7, 8, 9});
  Feed<float>(&ws_, "x2", {}, {1});
  RunOp(&ws_, "type: 'Save' input: 'x' input: 'x2'" + Minidb("m") +
                  "arg { name: 'blob_name_overrides' strings: 'a' strings: 'b' }");
  ASSERT_TRUE(load->Run());
  ExpectTensor<float>(ws_, "a", {3}, {7, 8, 9});
}

TEST_F(IoRunsTest, ReadersAreReadFromTheirPosition) {
  Save("m", 1, 2);
  Save("k", 3, 4);
  for (const char* file : {"m", "k"})
    RunOp(&ws_,
          "type: 'CreateDB' output: '" + std::string("r") + file + "'" + Minidb(dir_.path(file)));
  // A blob in two databases is an error, also if the first one has all.
  EXPECT_NE(MessageOf([&] {
              RunOp(&ws_, "type: 'Load' input: 'rm' input: 'rk' output: 'a' output: 'b'");
            }).find("Duplicate Key a is found!"),
            std::string::npos);
  // Behind the first record of each, which has "a".
  for (const char* name : {"rm", "rk"}) {
    const auto& reader = ws_.GetBlob(name)->Get<db::DBReader>();
    std::string key, value;
    reader.SeekToFirst();
    reader.Read(&key, &value);
  }
  RunOp(&ws_, "type: 'Load' input: 'rk' output: 'b'");
  ExpectTensor<float>(ws_, "b", {1}, {4});
  EXPECT_NE(MessageOf([&] {
              RunOp(&ws_, "type: 'Load' input: 'rm' output: 'a'");
            }).find("Expected to load 1 blobs, got 0 only"),
            std::string::npos);
  for (const char* name : {"rm", "rk"}) ws_.GetBlob(name)->Get<db::DBReader>().SeekToFirst();
  EXPECT_NE(MessageOf([&] {
              RunOp(&ws_, "type: 'Load' input: 'rm' input: 'rk' arg { name: 'load_all' i: 1 }");
            }).find("Duplicate Key"),
            std::string::npos);
  ws_.CreateBlob("closed")->GetMutable<db::DBReader>();
  EXPECT_NE(MessageOf([&] {
              RunOp(&ws_, "type: 'Load' input: 'closed' output: 'a'");
            }).find("input 0 is a reader that was not opened"),
            std::string::npos);
}

TEST_F(IoRunsTest, LoadNamesItsPathsAndWhatIsMissing) {
  Save("m", 1, 2);
  RunOp(&ws_,
        "type: 'Load' output: 'a'" + Minidb(dir_.path("m")) + "arg { name: 'absolute_path' i: 1 }");
  ExpectTensor<float>(ws_, "a", {2}, {1, 1});
  // dbs counts if both are given.
  RunOp(&ws_, "type: 'Load' output: 'b'" + Minidb("none") + "arg { name: 'dbs' strings: 'm' }");
  ExpectTensor<float>(ws_, "b", {1}, {2});
  const auto error = [&](const std::string& op) {
    return MessageOf([&] { RunOp(&ws_, "type: 'Load' " + op + Minidb("m")); });
  };
  EXPECT_NE(error("output: 'p' output: 'a' output: 'q'")
                .find("Expected to load 3 blobs, got 1 only; missing: p, q"),
            std::string::npos);
  EXPECT_NE(error("output: 'z' arg { name: 'source_blob_names' strings: 'none' }")
                .find("Expected to load 1 blobs, got 0 only; missing: none"),
            std::string::npos);
  EXPECT_NE(error("output: 'a' arg { name: 'load_all' i: 1 } "
                  "arg { name: 'source_blob_names' strings: 'a' }")
                .find("cannot load_all_ while using source_blob_names."),
            std::string::npos);
  // What was in an output before is gone, whatever its type.
  *ws_.CreateBlob("a")->GetMutable<std::string>() = "old";
  RunOp(&ws_, "type: 'Load' output: 'a'" + Minidb("m"));
  ExpectTensor<float>(ws_, "a", {2}, {1, 1});
}

TEST_F(IoRunsTest, ExistenceIsTestedInEachRun) {
  const auto exists =
      Net("type: 'DBExists' output: 'e' arg { name: 'db_type' s: 'minidb' } "
          "arg { name: 'db_name' s: 'm' }");
  ASSERT_TRUE(exists->Run());
  ExpectTensor<bool>(ws_, "e", {}, {false});
  Save("m", 1, 2);
  ASSERT_TRUE(exists->Run());
  ExpectTensor<bool>(ws_, "e", {}, {true});
  RunOp(&ws_,
        "type: 'DBExists' output: 'e' arg { name: 'db_type' s: 'nosuch' } "
        "arg { name: 'db_name' s: 'm' }");
  ExpectTensor<bool>(ws_, "e", {}, {false});
}

TEST_F(IoRunsTest, CreatingAReaderAgainBeginsAtTheFirstRecord) {
  Save("m", 1, 2);
  const auto create = Net("type: 'CreateDB' output: 'r'" + Minidb(dir_.path("m")));
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(create->Run());
    std::string key, value;
    ws_.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
    EXPECT_EQ(key, "a#%0");
  }
}

class TextLinesTest : public IoRunsTest {
 protected:
  void Open(const std::string& text, const std::string& more) {
    RunOp(&ws_, "type: 'CreateTextFileReader' output: 'h' arg { name: 'filename' s: '" +
                    dir_.Write("t.txt", text) + "' } " + more);
  }
};

// The file is read in parts of 65,536 bytes.
TEST_F(TextLinesTest, MayBeLongerThanThePartsThatAreRead) {
  constexpr size_t kPart = 1 << 16;
  for (const size_t length : {kPart - 2, kPart - 1, kPart, kPart + 1, 2 * kPart, 3 * kPart + 5}) {
    const std::string line(length, 'x');
    Open(line + "\nsecond\n\n" + line,
         "arg { name: 'field_types' ints: 4 } "
         "arg { name: 'num_passes' i: 2 }");
    const auto read = Net("type: 'TextFileReaderRead' input: 'h' output: 'a'");
    for (const std::string& want : {line, std::string("second"), std::string(), line, line,
                                    std::string("second"), std::string(), line}) {
      ASSERT_TRUE(read->Run());  // one line by default
      const auto got = Fetch<std::string>(ws_, "a");
      ASSERT_EQ(got.size(), 1u);
      EXPECT_EQ(got[0].size(), want.size()) << length;
      EXPECT_TRUE(got[0] == want);
    }
    ASSERT_TRUE(read->Run());
    EXPECT_EQ(DimsOf(ws_, "a"), std::vector<int64_t>{0});
  }
}

TEST_F(TextLinesTest, ErrorsNumberTheLinesOfThePass) {
  Open("1\n2\nx\n", "arg { name: 'field_types' ints: 1 } arg { name: 'num_passes' i: 2 }");
  const auto read = [&](int lines) {
    RunOp(&ws_, MakeString("type: 'TextFileReaderRead' input: 'h' output: 'a' "
                           "arg { name: 'batch_size' i: ",
                           lines, " }"));
    return Fetch<float>(ws_, "a");
  };
  EXPECT_EQ(read(0), std::vector<float>{});
  EXPECT_EQ(read(2), (std::vector<float>{1, 2}));
  for (int pass = 0; pass < 2; ++pass) {
    const std::string error = MessageOf([&] { read(1); });
    EXPECT_NE(error.find("field 0 of line 3 of "), std::string::npos) << error;
    // The reader is behind the line.
    if (pass == 0) {
      EXPECT_EQ(read(2), (std::vector<float>{1, 2}));
    }
  }
  EXPECT_EQ(read(5), std::vector<float>{});
  Open("1\tq\n", "arg { name: 'field_types' ints: 1 ints: 1 }");
  EXPECT_NE(MessageOf([&] {
              RunOp(&ws_, "type: 'TextFileReaderRead' input: 'h' output: 'a' output: 'b'");
            }).find("field 1 of line 1 of "),
            std::string::npos);
  ws_.CreateBlob("h");
  EXPECT_ANY_THROW(read(1));
}

}  // namespace
}  // namespace caffe2rt::test::io_runs_test
