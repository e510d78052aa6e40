// Rare numbers and places of results: scores and classes of boxes that are no numbers, folders of databases that
// `caffe2 compare` searches, and nets of devices that are converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::rare_results_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

class RareResultsTest : public ProgramFolder {};

// --- boxes ---

// Box i begins at i. Scores that are no numbers come last, in their order.
TEST_F(RareResultsTest, BoxesHaveScoresAndClassesOfAnyNumber) {
  const auto net = [&](const std::string& scores, const std::string& classes) {
    const auto fill = [](const std::string& output, const std::string& shape,
                         const std::string& values) {
      return "op { type: \"GivenTensorFill\" output: \"" + output +
             "\" arg { name: \"shape\" ints: [" + shape + "] } arg { name: \"values\" floats: [" +
             values + "] } } ";
    };
    dir_.Write("boxes.pbtxt", "name: \"n\" external_output: \"c\" " + fill("s", "5", scores) +
                                  fill("b", "5,4", "0,0,1,1, 1,0,1,1, 2,0,1,1, 3,0,1,1, 4,0,1,1") +
                                  fill("c", "5", classes));
    return Words{"run",         "--predict-net", "DIR/boxes.pbtxt", "--boxes",
                 "--box-blobs", "s,b,c",         "--labels",        "DIR/labels"};
  };
  dir_.Write("labels", "cat\ndog\n");
  const auto listed = [&](const Words& words, const std::string& field) {
    const std::string json = Run(Joined(words, {"--json"})).out;
    std::string text;
    for (size_t i = 0; i < JsonSize(json, "/boxes"); ++i)
      text += JsonAt(json, "/boxes/" + std::to_string(i) + field) + " ";
    return text;
  };
  const Words scores = net("nan,0.25,nan,-1,0.5", "0,0,0,0,0");
  EXPECT_EQ(listed(scores, "/box/0"), "4 1 3 0 2 ");
  EXPECT_EQ(listed(scores, "/score"), "0.5 0.25 -1 \"NaN\" \"NaN\" ");
  EXPECT_EQ(listed(Joined(scores, {"--top", "4"}), "/box/0"), "4 1 3 0 ");
  EXPECT_EQ(listed(net("inf,1,-inf,nan,2", "0,0,0,0,0"), "/box/0"), "0 4 1 2 3 ");
  // Classes are rounded down; those that do not fit are -1.
  const Words classes = net("5,4,3,2,1", "nan,-0.5,1.9,1e9,999999936");
  EXPECT_EQ(listed(classes, "/class"), "-1 -1 1 -1 999999936 ");
  EXPECT_EQ(listed(classes, "/label"),
            R"("class -1" "class -1" "dog" "class -1" "class 999999936" )");
  EXPECT_THAT(Run(classes).out, HasSubstr("  box  score  class             x1   y1   x2   y2\n"
                                          "    0  5.000  class -1         0.0  0.0  1.0  1.0\n"
                                          "    1  4.000  class -1         1.0  0.0  1.0  1.0\n"
                                          "    2  3.000  dog              2.0  0.0  1.0  1.0\n"));
  EXPECT_EQ(listed(net("5,4,3,2,1", "0,0.99,2,inf,-inf"), "/class"), "0 0 2 -1 -1 ");
}

// --- databases ---

TEST_F(RareResultsTest, DatabasesOfComparedNetsAreBelowTheRootOrBesideTheInitNet) {
  const auto save = [&](const std::string& folder, const std::string& value) {
    dir_.Write("save.pbtxt", R"(name: "s" network { name: "n"
        op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 }
             arg { name: "value" f: )" +
                                 value + R"( } }
        op { type: "Save" input: "w" arg { name: "db" s: "w.minidb" }
             arg { name: "db_type" s: "minidb" } } } execution_step { network: "n" })");
    fs::create_directories(dir_.path(folder));
    Out({"plan", "DIR/save.pbtxt", "--root", "DIR/" + folder});
  };
  save("nets", "3");
  save("root", "5");
  dir_.Write("nets/init.pbtxt", R"(op { type: "Load" output: "w" arg { name: "db" s: "w.minidb" }
      arg { name: "db_type" s: "minidb" } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Mul" input: ["x", "w"] output: "y" })");
  dir_.Write("plain.pbtxt", R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 }
      arg { name: "value" f: 1 } })");
  Array("y.npy", {1}, {6});
  Array("z.npy", {1}, {10});
  const auto agrees = [&](const std::string& file, const Words& more) {
    return Run(Joined({"compare", "DIR/net.pbtxt", "DIR/" + file, "--init-net",
                       "DIR/nets/init.pbtxt", "--input", "x=[2]"},
                      more))
               .code == 0;
  };
  EXPECT_TRUE(agrees("y.npy", {}));
  EXPECT_FALSE(agrees("z.npy", {}));
  EXPECT_TRUE(agrees("z.npy", {"--root", "DIR/root"}));
  EXPECT_FALSE(agrees("y.npy", {"--root", "DIR/root"}));
  EXPECT_TRUE(agrees("y.npy", {"--root", "DIR/none"})) << "beside the init net";
  // The second net has the init nets of its own option, or those of the first.
  EXPECT_TRUE(agrees("net.pbtxt", {}));
  EXPECT_FALSE(agrees("net.pbtxt", {"--init-net2", "DIR/plain.pbtxt"}));
  EXPECT_FALSE(
      agrees("net.pbtxt", {"--init-net2", "DIR/nets/init.pbtxt", "--init-net2", "DIR/plain.pbtxt"}))
      << "in their order";
  EXPECT_TRUE(agrees("net.pbtxt",
                     {"--init-net2", "DIR/plain.pbtxt", "--init-net2", "DIR/nets/init.pbtxt"}));
}

// --- devices ---

// The model of ONNX has no devices.
TEST_F(RareResultsTest, NetsOfDevicesAreConvertedOnTheCpu) {
  Environment environment;
  environment.HideCuda();
  dir_.Write("net.pbtxt", R"(name: "n" device_option { device_type: 1 }
      external_input: ["x", "w", "v"] external_output: "y"
      op { type: "Mul" input: ["x", "w"] output: "z"
           device_option { device_type: 1 device_id: 3 } }
      op { type: "Add" input: ["z", "v"] output: "y" })");
  dir_.Write("init.pbtxt", R"(device_option { device_type: 1 } op { type: "GivenTensorFill"
      output: "w" arg { name: "shape" ints: 2 } arg { name: "values" floats: [3, 4] }
      device_option { device_type: 1 } })");
  dir_.Write("more.pbtxt", R"(op { type: "GivenTensorFill" output: "v"
      arg { name: "shape" ints: 2 } arg { name: "values" floats: [100, 200] } })");
  EXPECT_EQ(Out({"convert", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--init-net",
                 "DIR/more.pbtxt", "--input-shape", "x=2", "--output", "DIR/m.onnx"}),
            "DIR/m.onnx\n");
  EXPECT_EQ(JsonAt(Out({"run", "DIR/m.onnx", "--input", "x=[5,7]", "--json"}), "/outputs/0/values"),
            "[115,228]");
}

}  // namespace
}  // namespace caffe2rt::test::rare_results_test
