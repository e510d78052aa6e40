#include "operators/select/print.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::print_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Line(const Tensor& tensor, int64_t limit = 1000) {
  return TensorLine("x", tensor, limit);
}

TEST(PrintTest, WritesNameTypeDimsAndValues) {
  Workspace ws;
  EXPECT_EQ(Line(*Feed<float>(&ws, "X", {1, 4}, {0, 1.5, 1e-7f, 1e10f})),
            "Tensor x of type float. Dims: (1,4,): 0,1.5,1e-07,1e+10");
  EXPECT_EQ(Line(*Feed<int64_t>(&ws, "X", {}, {-7})), "Tensor x of type long int. Dims: (): -7");
  EXPECT_EQ(Line(*Feed<uint8_t>(&ws, "X", {2}, {65, 66})),
            "Tensor x of type unsigned char. Dims: (2,): A,B");
  EXPECT_EQ(Line(*Feed<bool>(&ws, "X", {2}, {true, false})),
            "Tensor x of type bool. Dims: (2,): 1,0");
  EXPECT_EQ(Line(*Feed<std::string>(&ws, "X", {2}, {"a", "b c"})),
            "Tensor x of type std::basic_string<char>. Dims: (2,): a,b c");
  EXPECT_EQ(Line(*Feed<double>(&ws, "X", {0, 2}, {})), "Tensor x of type double. Dims: (0,2,): ");
}

TEST(PrintTest, StopsAtTheLimit) {
  Workspace ws;
  EXPECT_EQ(Line(*test::FeedRange<float>(&ws, "X", {5}), 2),
            "Tensor x of type float. Dims: (5,): 0,1");
}

// 0 and numbers below it stand for 1000.
TEST(PrintTest, PrintsAtMostTheValuesOfTheArgumentLimit) {
  Workspace ws;
  FeedRange<int32_t>(&ws, "X", {1001});
  const std::pair<const char*, int> rows[] = {{"", 1000},     {"0", 1000},   {"-1", 1000},
                                              {"1", 1},       {"2", 2},      {"1000", 1000},
                                              {"1001", 1001}, {"5000", 1001}};
  for (const auto& [limit, count] : rows) {
    SCOPED_TRACE(limit);
    std::string want = "Tensor X of type int. Dims: (1001,): 0", text;
    for (int i = 1; i < count; ++i) want += "," + std::to_string(i);
    const std::string op = "type: 'Print' input: 'X'";
    SetLogSink([&](const LogEntry& entry) { text = entry.text; });
    RunOp(&ws, *limit == 0 ? op : op + " arg { name: 'limit' i: " + limit + " }");
    SetLogSink(nullptr);
    EXPECT_EQ(text, want);
  }
}

TEST(PrintTest, PrintsToStderrOrToTheLogSink) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {1}, {"a\x1b[2J"});
  constexpr char kLine[] = "Tensor X of type std::basic_string<char>. Dims: (1,): a\\x1b[2J";
  ::testing::internal::CaptureStderr();
  RunOp(&ws, R"(type: "Print" input: "X")");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), std::string(kLine) + "\n");
  std::string text;
  SetLogSink([&](const LogEntry& entry) { text = entry.text; });
  ::testing::internal::CaptureStderr();
  RunOp(&ws, R"(type: "Print" input: "X")");
  SetLogSink(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(text, kLine);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PrintTest, WritesEveryNthRunToAFileOfTheRootFolder) {
  const test::TempDir folder;
  Workspace ws(folder.path());
  Feed<float>(&ws, "X", {1}, {0});
  NetDef def =
      test::ParseNet(R"(name: "n" op { type: "Print" input: "X" arg { name: "to_file" i: 1 }
                                 arg { name: "every_n" i: 2 } })");
  ws.CreateNet(def);
  for (int run = 0; run < 3; ++run) {
    Feed<float>(&ws, "X", {1}, {static_cast<float>(run)});
    ASSERT_TRUE(ws.RunNet("n"));
  }
  EXPECT_EQ(Contents(folder.path() + "/X.log"),
            "Tensor X of type float. Dims: (1,): 0\nTensor X of type float. Dims: (1,): 2\n");
  // A newly created operator truncates the file when it first runs.
  ws.CreateNet(def, true);
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Contents(folder.path() + "/X.log"), "Tensor X of type float. Dims: (1,): 2\n");
}

TEST(PrintTest, RejectsUnopenableFilesOtherTypesAndAnIntervalOfZero) {
  Workspace ws("no/such/folder");
  Feed<int16_t>(&ws, "S", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Print" input: "S" arg { name: "to_file" i: 1 })"); },
               "cannot open \"no/such/folder/S.log\" to print to: No such file or directory");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Print" input: "S")"); },
               "input 0 (tensor) has elements of type int16");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Print" input: "S" arg { name: "every_n" i: 0 })"); },
               "argument \"every_n\" is 0, want at least 1");
}

// Prints to files in a folder. Nothing outside this folder may change.
class PrintToFileTest : public testing::Test {
 protected:
  PrintToFileTest() {
    dir_.Write("bait", "bait");
    std::filesystem::create_directory(root_);
  }
  ~PrintToFileTest() override {
    EXPECT_EQ(Contents(dir_.path("bait")), "bait");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 2);
  }
  void Print(const std::string& blob) {
    Feed<float>(&ws_, blob, {1}, {0});
    RunOp(&ws_, "type: 'Print' input: '" + blob + "' arg { name: 'to_file' i: 1 }");
  }
  void ExpectRefused(const std::string& blob, const std::string& reason) {
    ExpectThrows([&] { Print(blob); }, reason);
  }

  const test::TempDir dir_;
  const std::string root_ = dir_.path("root");
  Workspace ws_{root_};
};

TEST_F(PrintToFileTest, StaysInTheFolderWhateverTheBlobIsCalled) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"gpu_0/fc", "gpu_0%2Ffc.log"}, {"../bait", "..%2Fbait.log"}, {"..", "...log"},
      {"a%2Fb", "a%252Fb.log"},       {"/etc/x", "%2Fetc%2Fx.log"},
  };
  for (const auto& [blob, file] : names) {
    EXPECT_EQ(PrintFileName(blob), file);
    Print(blob);
    EXPECT_TRUE(std::filesystem::exists(root_ + "/" + file)) << file;
  }
}

TEST(PrintTest, WritesControlCharactersOfFileNamesAsNumbers) {
  EXPECT_EQ(PrintFileName("l\nm\x7f"), "l%0Am%7F.log");
  EXPECT_EQ(PrintFileName(std::string("a\0b", 3)), "a%00b.log");
  EXPECT_EQ(PrintFileName("\xc3\xa9"), "\xc3\xa9.log");
  EXPECT_EQ(PrintFileName("a b~\x1f"), "a b~%1F.log");
}

TEST_F(PrintToFileTest, FollowsNoLinkAndOpensRegularFilesOnly) {
  std::filesystem::create_symlink("../bait", root_ + "/out.log");
  std::filesystem::create_symlink("in", root_ + "/in.log");
  std::filesystem::create_symlink("../new", root_ + "/new.log");
  std::filesystem::create_hard_link(dir_.path("bait"), root_ + "/hard.log");
  ASSERT_EQ(mkfifo((root_ + "/pipe.log").c_str(), 0600), 0);
  for (const bool is_free : {true, false}) {
    if (!is_free) ws_.SetFileAccess(FileAccess::Below({root_}));
    ExpectRefused("out", is_free ? "it is a symbolic link" : "a net may not write");
    ExpectRefused("in", "symbolic link");
    ExpectRefused("new", "symbolic link");
    ExpectRefused("hard", "it is not a regular file, or it has more than one hard link");
    ExpectRefused("pipe", is_free ? "cannot open" : "it is a pipe");
  }
  // A pipe that has a reader can be opened.
  const FileDescriptor reader(open((root_ + "/pipe.log").c_str(), O_RDONLY | O_NONBLOCK));
  ws_.SetFileAccess(FileAccess::Free());
  ExpectRefused("pipe", "it is not a regular file, or it has more than one hard link");
}

TEST_F(PrintToFileTest, AsksThePolicyWhenItFirstPrints) {
  ws_.SetFileAccess(FileAccess::Off());
  Feed<float>(&ws_, "x", {1}, {0});
  const NetDef def =
      test::ParseNet(R"(name: "n" op { type: "Print" input: "x" arg { name: "to_file" i: 1 } })");
  ws_.CreateNet(def);
  ExpectThrows([&] { ws_.RunNet("n"); }, "a net may not write \"" + root_ + "/x.log\"");
  ws_.SetFileAccess(FileAccess::Below({root_}));
  ASSERT_TRUE(ws_.RunNet("n"));
  ws_.SetFileAccess(FileAccess::Off());
  ASSERT_TRUE(ws_.RunNet("n"));             // the file is already open
  RunOp(&ws_, "type: 'Print' input: 'x'");  // stderr is not a file that the net opens
}

TEST_F(PrintToFileTest, AppendsWholeLines) {
  constexpr int kThreads = 4, kRuns = 200, kElements = 500;
  test::FeedRange<float>(&ws_, "x", {kElements});
  std::vector<NetBase*> nets;
  for (int i = 0; i < kThreads; ++i) {
    nets.push_back(ws_.CreateNet(
        test::ParseNet("name: 'n" + std::to_string(i) +
                       "' op { type: 'Print' input: 'x' arg { name: 'to_file' i: 1 } }")));
    ASSERT_TRUE(nets.back()->Run());
  }
  {
    std::vector<std::jthread> threads;
    for (NetBase* net : nets) {
      threads.emplace_back([net] {
        for (int run = 0; run < kRuns; ++run) EXPECT_TRUE(net->Run());
      });
    }
  }
  std::ifstream file(root_ + "/x.log");
  const std::string want = [&] {
    std::string line = "Tensor x of type float. Dims: (500,): ";
    for (int i = 0; i < kElements; ++i) line += (i > 0 ? "," : "") + std::to_string(i);
    return line;
  }();
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) ASSERT_EQ(line, want) << lines;
  EXPECT_EQ(lines, kThreads * (kRuns + 1));
}

TEST_F(PrintToFileTest, AFullDiskLeavesWholeLines) {
  Feed<float>(&ws_, "x", {1}, {0});
  ws_.CreateNet(
      test::ParseNet("name: 'n' op { type: 'Print' input: 'x' arg { name: 'to_file' i: 1 } }"));
  ASSERT_TRUE(ws_.RunNet("n"));
  const std::string line = Contents(root_ + "/x.log");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full = {line.size() + 3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  ExpectThrows([&] { ws_.RunNet("n"); }, "no space left");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(Contents(root_ + "/x.log"), line);
}

TEST_F(PrintToFileTest, OperatorsOfANetPrintToOneFile) {
  const NetDef def = test::ParseNet(R"(
    name: "n"
    op { type: "Print" input: "x" arg { name: "to_file" i: 1 } }
    op { type: "Negative" input: "x" output: "x" }
    op { type: "Print" input: "x" arg { name: "to_file" i: 1 } })");
  const std::string line = "Tensor x of type float. Dims: (1,): ";
  for (int time = 0; time < 2; ++time) {
    Feed<float>(&ws_, "x", {1}, {2});
    ws_.CreateNet(def, true);
    ASSERT_TRUE(ws_.RunNet("n"));
    EXPECT_EQ(Contents(root_ + "/x.log"), line + "2\n" + line + "-2\n");
    ASSERT_TRUE(ws_.RunNet("n"));
    EXPECT_EQ(Contents(root_ + "/x.log"),
              line + "2\n" + line + "-2\n" + line + "-2\n" + line + "2\n");
  }
}

}  // namespace
}  // namespace caffe2rt::print_test
