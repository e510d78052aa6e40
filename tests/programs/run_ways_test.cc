// The ways to run a net on files show the same: one file, a folder, a list, a stream of lines, with and without batches,
// as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::run_ways_test {
namespace {

using ::testing::HasSubstr;

class RunWaysTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: ["y", "s"]
        op { type: "Scale" input: "x" output: "h" arg { name: "scale" f: 2 } }
        op { type: "Copy" input: "h" output: "y" } op { type: "Negative" input: "h" output: "s" })");
    Array("in/a.npy", {1, 3}, {1, 2, 3});
    Array("in/b.npy", {1, 3}, {0.5f, -1, 0});
    Array("in/c.npy", {1, 3}, {0.25f, 0.125f, 0.125f});
    dir_.Write("labels", "cat\ndog\nfish\n");
    std::string list;
    for (const char* name : {"a", "b", "c"})
      list += dir_.path(std::string("in/") + name + ".npy") + "\n";
    dir_.Write("list", list);
  }
  static Words Command(const Words& first, const Words& more) {
    return Joined(Joined({"run", "--predict-net", "DIR/net.pbtxt", "--threads", "1"}, first), more);
  }
};

TEST_F(RunWaysTest, DocumentsOfSeveralFilesHaveThoseOfEachFile) {
  const std::vector<Words> rows = {
      {}, {"--labels", "DIR/labels", "--top", "1"}, {"--fetch", "h", "--fetch", "x", "--top", "2"}};
  for (const Words& options : rows) {
    SCOPED_TRACE(testing::PrintToString(options));
    Words alone;
    for (const char* name : {"DIR/in/a.npy", "DIR/in/b.npy", "DIR/in/c.npy"})
      alone.push_back(JsonAt(Out(Command({"--image", name, "--json"}, options)), "/outputs"));
    EXPECT_NE(alone[0], alone[1]);
    EXPECT_EQ(JsonAt(Out(Command({"--input", "x=[[1,2,3]]", "--json"}, options)), "/outputs"),
              alone[0]);
    for (const Words& ways :
         {Words{"--image", "DIR/in", "--batch", "2"}, Words{"--image-list", "DIR/list"},
          Words{"--input", "x=DIR/in", "--batch", "3"}}) {
      const std::string json = Out(Command(Joined(ways, {"--json"}), options));
      ASSERT_EQ(JsonSize(json, "/images"), 3u) << json;
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(JsonAt(json, "/images/" + std::to_string(i) + "/outputs"), alone[i]) << ways[0];
      if (ways[0] == "--image-list") continue;
      const std::string lines = Out(Command(Joined(ways, {"--json-lines"}), options));
      ASSERT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3) << lines;
      size_t begin = 0;
      for (size_t i = 0; i < 3; ++i) {
        const size_t end = lines.find('\n', begin);
        EXPECT_EQ(JsonAt(lines.substr(begin, end - begin), "/outputs"), alone[i]) << ways[0];
        begin = end + 1;
      }
    }
  }
}

// The text of a file in a folder is that of its own run, without the line of the input.
TEST_F(RunWaysTest, TextsOfSeveralFilesAreThoseOfEachFile) {
  for (const Words& options :
       {Words{}, Words{"--labels", "DIR/labels", "--top", "2"}, Words{"--fetch", "h"}}) {
    SCOPED_TRACE(testing::PrintToString(options));
    std::string want;
    for (const std::string name : {"a.npy", "b.npy", "c.npy"}) {
      const std::string text = Out(Command({"--image", "DIR/in/" + name}, options));
      const size_t begin = text.find('\n') + 1, end = text.rfind('\n', text.size() - 2) + 1;
      EXPECT_EQ(text.substr(0, begin), "x  float [1, 3]   " + name + "\n");
      want += name + "\n" + text.substr(begin, end - begin);
    }
    for (const Words& ways :
         {Words{"--image", "DIR/in", "--batch", "2"}, Words{"--image-list", "DIR/list"}}) {
      const std::string text = Out(Command(ways, options));
      EXPECT_EQ(text.substr(0, text.rfind('\n', text.size() - 2) + 1), want) << ways[0];
      EXPECT_THAT(text, HasSubstr(" ms per image, 1 thread"));
    }
  }
}

// Rows of the outputs in the order of the files, and a list of these.
TEST_F(RunWaysTest, FilesOfOutputsAreThoseOfEachWay) {
  for (const Words& ways :
       {Words{"--image", "DIR/in"}, Words{"--image", "DIR/in", "--batch", "2", "--json"},
        Words{"--image-list", "DIR/list", "--json-lines"}}) {
    SCOPED_TRACE(testing::PrintToString(ways));
    std::filesystem::remove_all(dir_.path("out"));
    Out(Command(ways, {"--output", "DIR/out"}));
    EXPECT_EQ(ReadWholeFile(dir_.path("out/files.txt")), "a.npy\nb.npy\nc.npy\n");
    for (const auto& [name, factor] : {std::pair("y", 2.f), {"s", -2.f}}) {
      const Tensor rows = ReadNpy(dir_.path(std::string("out/") + name + ".npy"));
      ASSERT_EQ(rows.dims(), (std::vector<int64_t>{3, 3}));
      const float want[] = {1, 2, 3, 0.5f, -1, 0, 0.25f, 0.125f, 0.125f};
      for (int i = 0; i < 9; ++i) EXPECT_EQ(rows.data<float>()[i], factor * want[i]) << i;
    }
    Out(Command(ways, {"--output", "DIR/out/all.npz", "--fetch", "h"}));
    EXPECT_EQ(ReadNpz(dir_.path("out/all.npz")).size(), 9u);
  }
}

// --- images ---

struct PreparedPixel {
  Words options;
  const char* dims;
  std::vector<const char*> channels;
};

// Options that prepare an image of 10, 20, 30 apply to all of its ways to the net.
TEST_F(RunWaysTest, ImagesArePreparedAlikeOnEachWay) {
  dir_.Write("copy.pbtxt", R"(name: "c" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  Image image{.width = 4, .height = 4, .rgb = {}};
  for (int i = 0; i < 16; ++i) image.rgb.insert(image.rgb.end(), {10, 20, 30});
  for (const char* name : {"images/a.png", "images/b.png"}) {
    dir_.Write(name, "");
    SavePng(dir_.path(name), image);
  }
  const std::string bytes = ReadWholeFile(dir_.path("images/a.png"));
  const std::string one = dir_.Write("one", bytes), two = dir_.Write("two", bytes + bytes);
  dir_.Write("names", dir_.path("images/a.png") + "\n" + dir_.path("images/b.png"));
  Array("mean.npy", {3, 1, 1}, {4, 2, 2});
  const PreparedPixel rows[] = {{{"--mean", "10,20,30", "--scale", "1,2,3", "--std", "2", "--bgr"},
                                 "[1,3,4,4]",
                                 {"10", "0", "-30"}},
                                {{"--grey", "--mean", "5", "--scale", "2"}, "[1,1,4,4]", {"26"}},
                                {{"--resize", "2x3", "--interpolation", "nearest", "--crop", "1x2"},
                                 "[1,3,2,1]",
                                 {"10", "20", "30"}},
                                {{"--mean", dir_.path("mean.npy"), "--scale", "3", "--std", "2"},
                                 "[1,3,4,4]",
                                 {"9", "27", "42"}}};
  for (const PreparedPixel& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.options));
    const auto expect = [&](const Words& way, const std::string& at, const std::string& in) {
      SCOPED_TRACE(testing::PrintToString(way));
      Words words = Joined({"run", "--predict-net", dir_.path("copy.pbtxt"), "--json"}, way);
      const ProgramResult result = RunCaffe2(Joined(words, row.options), {.in = in});
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_EQ(JsonAt(result.out, at + "/outputs/0/dims"), row.dims);
      const size_t plane = JsonSize(result.out, at + "/outputs/0/values") / row.channels.size();
      for (size_t c = 0; c < row.channels.size(); ++c) {
        for (const size_t i : {c * plane, (c + 1) * plane - 1})
          EXPECT_EQ(JsonAt(result.out, at + "/outputs/0/values/" + std::to_string(i)),
                    row.channels[c]);
      }
    };
    const std::string none = "/dev/null";
    expect({"--image", dir_.path("images/a.png")}, "", none);
    expect({"--input", "x=" + dir_.path("images/a.png")}, "", none);
    expect({"--image", "x=-"}, "", one);
    expect({"--image", dir_.path("images"), "--batch", "2"}, "/images/1", none);
    expect({"--image-list", dir_.path("names")}, "/images/0", none);
    expect({"--image", "-"}, "/images/1", two);
  }
}

// A warning about labels is one, whatever the number of files.
TEST_F(RunWaysTest, LabelsThatFitNoOutputAreReportedOnce) {
  dir_.Write("four", "a\nb\nc\nd\n");
  const std::string warning =
      "caffe2: warning: file \"DIR/four\" has 4 labels, but no output has as many classes\n";
  for (const Words& ways : {Words{"--image", "DIR/in/a.npy"}, Words{"--image", "DIR/in"},
                            Words{"--image", "DIR/in", "--batch", "2", "--json"},
                            Words{"--image-list", "DIR/list", "--json-lines"}}) {
    const ProgramResult result = Run(Command(ways, {"--labels", "DIR/four"}));
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, warning) << testing::PrintToString(ways);
  }
}

}  // namespace
}  // namespace caffe2rt::test::run_ways_test
