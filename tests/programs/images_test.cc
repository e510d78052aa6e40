// The images of `caffe2 run`: several of them, lists, streams and detected boxes.

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
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
#include "tests/support/shared.h"
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

// `caffe2 run --image -` while its input arrives.
class RunningStream {
 public:
  explicit RunningStream(const std::string& net, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {BuildPath(CAFFE2_PROGRAM), "run", "--predict-net", net, "--image",
                               "-", "--json-lines"});
    std::vector<char*> argv;
    for (std::string& word : more) argv.push_back(word.data());
    argv.push_back(nullptr);
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  bool Write(const std::string& bytes) {
    return write(in_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  // A line that the program has written, or what came of it within a minute.
  std::string ReadLine() {
    std::string line;
    pollfd ready = {.fd = out_, .events = POLLIN, .revents = 0};
    for (char c = 0; poll(&ready, 1, 60000) == 1 && read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  // Ends the stream, and reads the lines that are left. Returns the exit code.
  int End(std::vector<std::string>* left = nullptr) {
    close(in_);
    for (std::string line = ReadLine(); !line.empty(); line = ReadLine()) {
      if (left != nullptr) left->push_back(line);
    }
    close(out_);
    int status = 0;
    return waitpid(child_, &status, 0) == child_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
};

// A frame is written as soon as it has arrived, although the stream goes on.
TEST_F(ImagesTest, WritesALineOfJsonWhenAFrameArrives) {
  RunningStream stream(dir_.Write("net.pbtxt", kSum));
  for (const int value : {1, 2}) {
    ASSERT_TRUE(stream.Write(
        ReadWholeFile(Grey(value == 1 ? "a.png" : "b.jpg", static_cast<uint8_t>(value)))));
    const std::string line = stream.ReadLine();
    EXPECT_EQ(JsonAt(line, "/outputs/0/values"), MakeString("[", 12 * value, "]"));
    EXPECT_EQ(JsonAt(line, "/file"), MakeString("\"image ", value, " of standard input\""));
  }
  EXPECT_EQ(stream.End(), 0);
}

// A frame of another size does not hold back those behind it until the stream ends.
TEST_F(ImagesTest, FramesOfAnotherSizeWaitForTwoBatchesAtMost) {
  RunningStream stream(dir_.Write("net.pbtxt", kSum), {"--batch", "2"});
  const std::string small = ReadWholeFile(Grey("a.png", 1));
  SaveImage(dir_.path("large.png"), {.width = 3, .height = 2, .rgb = std::vector<uint8_t>(18, 1)});
  for (const std::string& frame :
       {small, ReadWholeFile(dir_.path("large.png")), small, small, small}) {
    ASSERT_TRUE(stream.Write(frame));
  }
  for (const char* values : {"[12]", "[18]", "[12]", "[12]"})
    EXPECT_EQ(JsonAt(stream.ReadLine(), "/outputs/0/values"), values);
  std::vector<std::string> left;  // the frame that waits for a second one of its size
  EXPECT_EQ(stream.End(&left), 0);
  ASSERT_GE(left.size(), 1u);
  EXPECT_EQ(JsonAt(left[0], "/file"), "\"image 5 of standard input\"");
  EXPECT_EQ(JsonAt(left[0], "/outputs/0/values"), "[12]");
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
  ASSERT_EQ(Run({"--image", a, "--image", b, "--output", dir_.path("out")}).code, 0);
  EXPECT_EQ(ReadWholeFile(dir_.path("out/files.txt")), "a.png\n" + b + "\n");
}

TEST_F(ImagesTest, SavesAnImageAsOftenAsItIsGiven) {
  std::filesystem::create_directory(dir_.path("x"));
  const std::string a = Grey("x/a.png", 1), b = Grey("b.png", 2);
  const std::string list = dir_.Write("list.txt", a + "\n" + b + "\n" + a + "\n" + a + "\n" + a);
  ASSERT_EQ(Run({"--image-list", list, "--output", dir_.path("out.npz")}).code, 0);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : ReadNpz(dir_.path("out.npz"))) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.png", "b.png", a, a + " (2)", a + " (3)"}));
  ASSERT_EQ(Run({"--image-list", list, "--output", dir_.path("out")}).code, 0);
  EXPECT_EQ(ReadWholeFile(dir_.path("out/files.txt")),
            "a.png\nb.png\n" + a + "\n" + a + "\n" + a + "\n");
  // Each image is counted for itself.
  const std::string both =
      dir_.Write("both.txt", a + "\n" + b + "\n" + a + "\n" + a + "\n" + b + "\n" + b + "\n");
  ASSERT_EQ(Run({"--image-list", both, "--output", dir_.path("both.npz")}).code, 0);
  names.clear();
  for (const auto& [name, tensor] : ReadNpz(dir_.path("both.npz"))) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.png", "b.png", a, a + " (2)", b, b + " (2)"}));
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

// Two boxes of one image: in the coordinates of an image of 60 x 40 pixels, whose scale is 0.5.
constexpr char kDetections[] = R"(
name: "detector" external_input: "data" external_input: "im_info"
external_output: "score_nms" external_output: "bbox_nms" external_output: "class_nms"
op { type: "GivenTensorFill" output: "scores" arg { name: "shape" ints: 2 ints: 3 }
     arg { name: "values" floats: 0 floats: 0.9 floats: 0 floats: 0 floats: 0 floats: 0.6 } }
op { type: "GivenTensorFill" output: "boxes" arg { name: "shape" ints: 2 ints: 12 }
     arg { name: "values" floats: 0 floats: 0 floats: 0 floats: 0 floats: 10 floats: 8 floats: 30 floats: 28
           floats: 0 floats: 0 floats: 0 floats: 0
           floats: 0 floats: 0 floats: 0 floats: 0 floats: 0 floats: 0 floats: 0 floats: 0
           floats: 40 floats: 10 floats: 55 floats: 35 } }
op { type: "BoxWithNMSLimit" input: "scores" input: "boxes"
     output: "score_nms" output: "bbox_nms" output: "class_nms"
     arg { name: "score_thresh" f: 0.5 } }
op { type: "Copy" input: "data" output: "copy" }
op { type: "Copy" input: "im_info" output: "info" })";

class BoxesTest : public ImagesTest {
 protected:
  ProgramResult Detect(std::vector<std::string> more, const std::string& net = kDetections) {
    const std::string image = dir_.path("scene.png");
    SaveImage(image, {.width = 60, .height = 40, .rgb = std::vector<uint8_t>(60 * 40 * 3, 0)});
    more.insert(more.begin(),
                {"run", "--predict-net", dir_.Write("net.pbtxt", net), "--image", "data=" + image,
                 "--resize", "30x20", "--input", "im_info=20,30,0.5", "--boxes"});
    return RunCaffe2(more);
  }
};

TEST_F(BoxesTest, PrintsATable) {
  const std::string labels = dir_.Write("labels.txt", "background\ncat\ndog\n");
  const ProgramResult result = Detect({"--labels", labels});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("box  score  class    x1    y1    x2    y2\n"),
                                HasSubstr("  0  0.900  cat    10.0   8.0  30.0  28.0\n"),
                                HasSubstr("  1  0.600  dog    40.0  10.0  55.0  35.0\n")));
  EXPECT_THAT(Detect({"--top", "1"}).out, AllOf(HasSubstr("class 1"), Not(HasSubstr("class 2"))));
}

TEST_F(BoxesTest, WritesJson) {
  const ProgramResult result = Detect({"--json"});
  EXPECT_EQ(JsonAt(result.out, "/boxes/1/class"), "2");
  EXPECT_EQ(JsonAt(result.out, "/boxes/1/box"), "[40,10,55,35]");
}

TEST_F(BoxesTest, ScoresThatAreNoNumbersComeLast) {
  const ProgramResult result = Detect({"--box-blobs", "scores,boxes,classes", "--json"}, R"(
    name: "boxes" external_input: "data" external_input: "im_info" external_output: "classes"
    op { type: "Copy" input: "data" output: "a" } op { type: "Copy" input: "im_info" output: "b" }
    op { type: "GivenTensorFill" output: "scores" arg { name: "shape" ints: 3 }
         arg { name: "values" floats: nan floats: 0.5 floats: 0.9 } }
    op { type: "ConstantFill" output: "boxes" arg { name: "shape" ints: 3 ints: 4 } }
    op { type: "GivenTensorFill" output: "classes" arg { name: "shape" ints: 3 }
         arg { name: "values" floats: 1 floats: 2 floats: 3 } })");
  EXPECT_EQ(result.code, 0) << result.err;
  for (const auto& [place, index] : {std::pair("0", "3"), std::pair("1", "2"), std::pair("2", "1")})
    EXPECT_EQ(JsonAt(result.out, MakeString("/boxes/", place, "/class")), index);
}

// Expects the drawn boxes of kDetections.
void ExpectDrawn(const Image& image) {
  ASSERT_EQ(image.width, 60);
  const auto is_black = [&](int x, int y) {
    const auto at = static_cast<size_t>((y * 60 + x) * 3);
    return image.rgb[at] == 0 && image.rgb[at + 1] == 0 && image.rgb[at + 2] == 0;
  };
  for (const auto& [x, y] :
       {std::pair(30, 28), std::pair(20, 28), std::pair(55, 35), std::pair(48, 10)})
    EXPECT_FALSE(is_black(x, y)) << x << ", " << y;
  EXPECT_TRUE(is_black(25, 22));
}

TEST_F(BoxesTest, DrawsIntoTheImageInItsOwnSize) {
  const ProgramResult result = Detect({"--save-image", dir_.path("out.png")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("boxes drawn into "));
  ExpectDrawn(LoadImage(dir_.path("out.png")));
}

// Regions of half the size that BBoxTransform, with deltas of 0, leaves in the coordinates of the
// net's input by default.
TEST_F(BoxesTest, DrawsBoxesOfTheInputAndOfTheImageInTheSamePlace) {
  const std::string transform = R"(
op { type: "GivenTensorFill" output: "rois" arg { name: "shape" ints: 2 ints: 4 }
     arg { name: "values" floats: 5 floats: 4 floats: 15 floats: 14
           floats: 20 floats: 5 floats: 27.5 floats: 17.5 } }
op { type: "ConstantFill" output: "deltas" arg { name: "shape" ints: 2 ints: 12 } }
op { type: "BBoxTransform" input: "rois" input: "deltas" input: "im_info" output: "transformed"
     arg { name: "correct_transform_coords" i: 1 } SCALE }
op { type: "Copy" input: "transformed" output: "boxes" }
op { type: "BoxWithNMSLimit")";
  struct Row {
    const char* argument;
    const char* printed;
  };
  for (const Row& row : {Row{"", "5.0  4.0  15.0  14.0"},
                         {R"(arg { name: "apply_scale" i: 1 })", "5.0  4.0  15.0  14.0"},
                         {R"(arg { name: "apply_scale" i: 0 })", "10.0   8.0  30.0  28.0"}}) {
    SCOPED_TRACE(row.argument);
    const std::string net = absl::StrReplaceAll(
        kDetections, {{R"(op { type: "BoxWithNMSLimit")",
                       absl::StrReplaceAll(transform, {{"SCALE", row.argument}})}});
    const ProgramResult result = Detect({"--save-image", dir_.path("out.png")}, net);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(row.printed));
    ExpectDrawn(LoadImage(dir_.path("out.png")));
  }
}

TEST_F(BoxesTest, ReportsANetWithoutDetections) {
  const ProgramResult result = Run({"--image", Grey("a.png", 1), "--boxes"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("has no operator BoxWithNMSLimit; want --box-blobs"));
  EXPECT_EQ(Run({"--image", Grey("a.png", 1), "--save-image", "x.png"}).code, 2);
}

}  // namespace
}  // namespace caffe2rt::test::images_test
