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

}  // namespace
}  // namespace caffe2rt::test::run_ways_test
