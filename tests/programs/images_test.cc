// The images of `caffe2 run`: several of them, lists and streams.

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::images_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The sum of the whole image.
constexpr char kSum[] = R"(
name: "sum" external_input: "data" external_output: "sum"
op { type: "ReduceBackSum" input: "data" output: "sum" arg { name: "num_reduce_dim" i: 3 } })";

class ImagesTest : public ::testing::Test {
 protected:
  // An image of 2 x 2 pixels of one grey; the sum is 12 times the value.
  std::string Grey(const std::string& name, uint8_t value) {
    const std::string path = dir_.path(name);
    SaveImage(path, {.width = 2, .height = 2, .rgb = std::vector<uint8_t>(12, value)});
    return path;
  }
  std::string Joined(const std::vector<std::string>& files) {
    std::string bytes;
    for (const std::string& file : files) bytes += ReadWholeFile(file);
    return dir_.Write("joined", bytes);
  }
  ProgramResult Run(std::vector<std::string> more, const std::string& in = "/dev/null") {
    more.insert(more.begin(), {"run", "--predict-net", dir_.Write("net.pbtxt", kSum)});
    return RunCaffe2(more, {.in = in});
  }
  const TempDir dir_;
};

TEST_F(ImagesTest, RunsOnAllImagesOfStandardInput) {
  const std::string in = Joined({Grey("a.png", 1), Grey("b.jpg", 2), Grey("c.png", 3)});
  const ProgramResult result = Run({"--image", "-"}, in);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("image 1 of standard input\nsum"), HasSubstr("  12\n"),
                                HasSubstr("image 2 of standard input\nsum"), HasSubstr("  24\n"),
                                HasSubstr("image 3 of standard input\nsum"), HasSubstr("  36\n")));
  const ProgramResult one = Run({"--image", "-"}, Joined({Grey("a.png", 5)}));
  EXPECT_THAT(one.out,
              AllOf(HasSubstr("standard input\n"), HasSubstr("  60\n"), Not(HasSubstr("image 1"))));
}

TEST_F(ImagesTest, ReportsBytesBehindTheLastImage) {
  const std::string in = dir_.Write(
      "in", ReadWholeFile(Grey("a.png", 1)) + ReadWholeFile(Grey("b.png", 2)) + "and so on");
  const ProgramResult result = Run({"--image", "-"}, in);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("  24\n"));
  EXPECT_THAT(result.err,
              HasSubstr("bytes after image 2 of standard input are neither JPEG nor PNG"));
}

// A frame is written as soon as it has arrived, although the stream goes on.
TEST_F(ImagesTest, WritesALineOfJsonWhenAFrameArrives) {
  int to_program[2], from_program[2];
  ASSERT_EQ(pipe(to_program), 0);
  ASSERT_EQ(pipe(from_program), 0);
  std::vector<std::string> words = {
      CAFFE2_PROGRAM, "run", "--predict-net", dir_.Write("net.pbtxt", kSum),
      "--image",      "-",   "--json-lines"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(to_program[0], 0);
    dup2(from_program[1], 1);
    for (const int fd : {to_program[0], to_program[1], from_program[0], from_program[1]}) close(fd);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ASSERT_GT(child, 0);
  close(to_program[0]);
  close(from_program[1]);
  for (const int value : {1, 2}) {
    const std::string frame =
        ReadWholeFile(Grey(value == 1 ? "a.png" : "b.jpg", static_cast<uint8_t>(value)));
    ASSERT_EQ(write(to_program[1], frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
    std::string line;
    for (char c = 0; read(from_program[0], &c, 1) == 1 && c != '\n';) line += c;
    EXPECT_EQ(JsonAt(line, "/outputs/0/values"), MakeString("[", 12 * value, "]"));
    EXPECT_EQ(JsonAt(line, "/file"), MakeString("\"image ", value, " of standard input\""));
  }
  close(to_program[1]);
  close(from_program[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ImagesTest, AcceptsSeveralImagesAndLists) {
  const std::string a = Grey("a.png", 1), b = Grey("b.png", 2), c = Grey("c.png", 3);
  const std::string list = dir_.Write("list.txt", b + "\r\n\n" + c + "\n");
  const ProgramResult result =
      Run({"--image", a, "--image", c, "--image-list", list, "--json-lines"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 4u) << result.out;
  const int sums[] = {12, 36, 24, 36};
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(JsonAt(lines[i], "/outputs/0/values"), MakeString("[", sums[i], "]"));
  EXPECT_THAT(Run({"--image-list", dir_.Write("none.txt", "\n")}).err,
              HasSubstr("names no images, want one file on each line"));
  EXPECT_EQ(Run({"--image", a, "--image", "-"}, Joined({a, b})).code, 2);
}

TEST_F(ImagesTest, SavesImagesOfOneNameUnderTheirPaths) {
  for (const char* folder : {"x", "y"}) std::filesystem::create_directory(dir_.path(folder));
  const std::string a = Grey("x/a.png", 1), b = Grey("y/a.png", 2);
  ASSERT_EQ(Run({"--image", a, "--image", b, "--output", dir_.path("out.npz")}).code, 0);
  const NamedTensors saved = ReadNpz(dir_.path("out.npz"));
  ASSERT_EQ(saved.size(), 2u);
  EXPECT_EQ(saved[0].first, "a.png");
  EXPECT_EQ(saved[1].first, b);
}

TEST_F(ImagesTest, NamesTheSkippedFilesOfAFolder) {
  std::filesystem::create_directories(dir_.path("in/more"));
  Grey("in/a.png", 1);
  dir_.Write("in/notes.txt", "text");
  dir_.Write("in/b.gif", "GIF89a");
  const ProgramResult result = Run({"--image", dir_.path("in")});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("3 entries are skipped, neither a JPEG or PNG image nor a .npy "
                                    "file: \"b.gif\", \"more\", \"notes.txt\""));
}

}  // namespace
}  // namespace caffe2rt::test::images_test
