// Detected boxes that `caffe2 run --boxes --save-image` draws: where they are, in which colours and in what order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::drawn_boxes_test {
namespace {

using ::testing::HasSubstr;
using Colour = std::array<int, 3>;

// Of the classes 0, 1 and 2; the digits are white.
constexpr Colour kRed = {230, 60, 50}, kGreen = {40, 160, 70}, kBlue = {50, 100, 230},
                 kBlack = {0, 0, 0};

// An image of 60 x 40 black pixels, and nets whose boxes are inputs.
class DrawnBoxesTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("scene.png", "");
    SavePng(dir_.path("scene.png"),
            {.width = 60, .height = 40, .rgb = std::vector<uint8_t>(size_t{60} * 40 * 3, 0)});
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["data", "s", "b", "c"]
        op { type: "Copy" input: "data" output: "d2" } op { type: "Copy" input: "s" output: "s2" }
        op { type: "Copy" input: "b" output: "b2" } op { type: "Copy" input: "c" output: "c2" })");
  }
  // The image with the boxes of a net.
  Image Draw(const Words& options, const std::string& net = "DIR/net.pbtxt") const {
    const std::string out =
        Out(Joined({"run", "--predict-net", net, "--image", "data=DIR/scene.png", "--boxes",
                    "--save-image", "DIR/out.png"},
                   options));
    EXPECT_THAT(out, HasSubstr("boxes drawn into DIR/out.png\n"));
    return LoadImage(dir_.path("out.png"));
  }
  Image DrawInputs(const std::string& scores, const std::string& boxes, const std::string& classes,
                   const Words& more = {}) const {
    return Draw(Joined({"--box-blobs", "s2,b2,c2", "--input", "s=" + scores, "--input",
                        "b=" + boxes, "--input", "c=" + classes},
                       more));
  }
  static Colour At(const Image& image, int x, int y) {
    const auto at = static_cast<size_t>((y * image.width + x) * 3);
    return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
  }
  // Expects an upright box of one pixel: of each side the middle, and the pixels on both sides of it.
  static void ExpectBox(const Image& image, int x1, int y1, int x2, int y2, const Colour& colour) {
    const int x = (x1 + x2) / 2, y = (y1 + y2) / 2;
    for (const auto& [at_x, at_y] : {std::pair(x, y1), {x, y2}, {x1, y}, {x2, y}})
      EXPECT_EQ(At(image, at_x, at_y), colour) << at_x << ", " << at_y;
    for (const auto& [at_x, at_y] : {std::pair(x, y1 - 1),
                                     {x, y2 + 1},
                                     {x1 - 1, y},
                                     {x2 + 1, y},
                                     {x, y1 + 1},
                                     {x, y2 - 1},
                                     {x1 + 1, y},
                                     {x2 - 1, y}})
      EXPECT_EQ(At(image, at_x, at_y), kBlack) << at_x << ", " << at_y;
  }
};

// The net sees 30 x 10 pixels: a column is two of the image, a row is four.
TEST_F(DrawnBoxesTest, EachDirectionHasItsOwnScale) {
  const Image image = DrawInputs("[1]", "[[5,2,20,8]]", "[0]", {"--resize", "30x10"});
  EXPECT_EQ(std::pair(image.width, image.height), std::pair(60, 40));
  ExpectBox(image, 10, 8, 40, 32, kRed);
  ExpectBox(DrawInputs("[1]", "[[10,8,40,32]]", "[0]"), 10, 8, 40, 32, kRed);
  // A shorter side of 20 is half of the image.
  ExpectBox(DrawInputs("[1]", "[[5,4,20,16]]", "[0]", {"--resize", "20"}), 10, 8, 40, 32, kRed);
}

TEST_F(DrawnBoxesTest, ACroppedImageIsDrawnAsTheNetSeesIt) {
  for (const char* crop : {"30", "30x30"}) {
    const Image image = DrawInputs("[1]", "[[5,8,25,27]]", "[0]", {"--crop", crop});
    ASSERT_EQ(std::pair(image.width, image.height), std::pair(30, 30)) << crop;
    ExpectBox(image, 5, 8, 25, 27, kRed);
  }
  const Image image =
      DrawInputs("[1]", "[[5,2,30,19]]", "[0]", {"--resize", "60x24", "--crop", "40x22"});
  ASSERT_EQ(std::pair(image.width, image.height), std::pair(40, 22));
  ExpectBox(image, 5, 2, 30, 19, kRed);
}

// By a quarter of a turn the width goes down.
TEST_F(DrawnBoxesTest, TurnedBoxesAreScaledInTheirCentreAndSize) {
  ExpectBox(DrawInputs("[1]", "[[30,20,30,16,0]]", "[1]"), 15, 12, 45, 28, kGreen);
  const Image turned = DrawInputs("[1]", "[[30,20,20,34,90]]", "[1]");
  ExpectBox(turned, 13, 10, 47, 30, kGreen);
  // Counterclockwise, so that the first corner, with the number, is at the lower left.
  EXPECT_EQ(At(turned, 14, 31), (Colour{255, 255, 255}));
  // The centre (10, 5) becomes (20, 20), the size 8 x 5 becomes 16 x 20.
  ExpectBox(DrawInputs("[1]", "[[10,5,8,5,0]]", "[1]", {"--resize", "30x10"}), 12, 10, 28, 30,
            kGreen);
}

// The numbers are those of the table, whose first row has the highest score. It is drawn last.
TEST_F(DrawnBoxesTest, ClassesHaveColoursAndTheHighestScoreIsOnTop) {
  const std::string same = "[[10,8,40,32],[10,8,40,32],[10,8,40,32]]";
  ExpectBox(DrawInputs("[0.5,0.75,0.25]", same, "[0,2,1]"), 10, 8, 40, 32, kBlue);
  ExpectBox(DrawInputs("[0.5,0.25,0.75]", same, "[0,2,1]"), 10, 8, 40, 32, kGreen);
  ExpectBox(DrawInputs("[0.75,0.25,0.5]", same, "[8,2,1]"), 10, 8, 40, 32, kRed);
  const Image two = DrawInputs("[0.25,0.75]", "[[2,2,20,36],[30,3,55,37]]", "[2,1]");
  ExpectBox(two, 2, 2, 20, 36, kBlue);
  ExpectBox(two, 30, 3, 55, 37, kGreen);
  // 0 is 3 pixels wide at its top, 1 has one in the middle.
  const Colour white = {255, 255, 255};
  EXPECT_EQ(At(two, 31, 4), white);
  EXPECT_EQ(At(two, 33, 4), white);
  EXPECT_EQ(At(two, 3, 3), kBlue);
  EXPECT_EQ(At(two, 4, 3), white);
  // --top leaves out the others.
  const Image one =
      DrawInputs("[0.25,0.75]", "[[2,2,20,36],[30,3,55,37]]", "[2,1]", {"--top", "1"});
  EXPECT_EQ(At(one, 10, 36), kBlack);
  ExpectBox(one, 30, 3, 55, 37, kGreen);
}

// BBoxTransform leaves boxes in coordinates of the net's input; other boxes are divided by the scale of im_info.
constexpr char kTransform[] = R"(name: "t" external_input: ["data", "im_info"]
    op { type: "Copy" input: "data" output: "d2" }
    op { type: "GivenTensorFill" output: "rois" arg { name: "shape" ints: [1, 4] }
         arg { name: "values" floats: [5, 4, 20, 16] } }
    op { type: "ConstantFill" output: "deltas" arg { name: "shape" ints: [1, 4] } }
    op { type: "BBoxTransform" input: ["rois", "deltas", "im_info"] output: "moved"
         arg { name: "correct_transform_coords" i: 1 } arg { name: "apply_scale" i: SCALE } }
    op { type: "ConstantFill" output: "s2" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
    op { type: "ConstantFill" output: "c2" arg { name: "shape" ints: 1 } }
    op { type: "Copy" input: "moved" output: "b2" })";

TEST_F(DrawnBoxesTest, BlobsThatAreNamedHaveTheCoordinatesOfTheirOperator) {
  // By default the boxes are scaled.
  const std::string argument = R"(arg { name: "apply_scale" i: SCALE })";
  for (const char* scaled :
       {R"(arg { name: "apply_scale" i: 1 })", R"(arg { name: "apply_scale" i: 0 })", ""}) {
    std::string net = kTransform;
    dir_.Write("t.pbtxt", net.replace(net.find(argument), argument.size(), scaled));
    ExpectBox(Draw({"--box-blobs", "s2,b2,c2", "--resize", "30x20", "--input", "im_info=20,30,0.5"},
                   "DIR/t.pbtxt"),
              10, 8, 40, 32, kRed);
  }
}

// The boxes of a detector are those of its second input: 5, 4, 20, 16 of class 1. Half of the image is 30 x 20 pixels.
TEST_F(DrawnBoxesTest, ADetectorHasTheCoordinatesOfItsBoxes) {
  for (const char* scaled : {"1", "0"}) {
    std::string net = R"(name: "t" external_input: ["data", "im_info"]
        op { type: "Copy" input: "data" output: "d2" }
        op { type: "GivenTensorFill" output: "rois" arg { name: "shape" ints: [1, 4] }
             arg { name: "values" floats: [5, 4, 20, 16] } }
        op { type: "ConstantFill" output: "deltas" arg { name: "shape" ints: [1, 8] } }
        op { type: "BBoxTransform" input: ["rois", "deltas", "im_info"] output: "moved"
             arg { name: "correct_transform_coords" i: 1 } arg { name: "apply_scale" i: SCALE } }
        op { type: "GivenTensorFill" output: "scores" arg { name: "shape" ints: [1, 2] }
             arg { name: "values" floats: [0.25, 0.75] } }
        op { type: "BoxWithNMSLimit" input: ["scores", "moved"] output: ["s", "b", "c"] })";
    const size_t at = net.find("SCALE");
    net.replace(at, 5, scaled);
    dir_.Write("t.pbtxt", net);
    ExpectBox(Draw({"--resize", "30x20", "--input", "im_info=20,30,0.5"}, "DIR/t.pbtxt"), 10, 8, 40,
              32, kGreen);
  }
}

TEST_F(DrawnBoxesTest, AScaleThatIsNoNumberIsLeftOut) {
  dir_.Write("info.pbtxt", R"(name: "n" external_input: ["data", "s", "b", "c", "im_info"]
      op { type: "Copy" input: "data" output: "d2" } op { type: "Copy" input: "s" output: "s2" }
      op { type: "Copy" input: "b" output: "b2" } op { type: "Copy" input: "c" output: "c2" }
      op { type: "Copy" input: "im_info" output: "i2" })");
  const auto draw = [&](const std::string& info) {
    return Draw({"--box-blobs", "s2,b2,c2", "--input", "s=[1]", "--input", "b=[[10,8,40,36]]",
                 "--input", "c=[0]", "--input", "im_info=" + info},
                "DIR/info.pbtxt");
  };
  // The boxes are those of an image of half the size, of the net's input of the whole size.
  ExpectBox(draw("[[40,60,0.5]]"), 5, 4, 20, 18, kRed);
  for (const char* info : {"[[40,60,1]]", "[[40,60,0]]", "[[40,60,-0.5]]", "[[40,0.5]]"})
    ExpectBox(draw(info), 10, 8, 40, 36, kRed);
  Array("inf.npy", {1, 3}, {40, 60, std::numeric_limits<float>::infinity()});
  ExpectBox(draw("DIR/inf.npy"), 10, 8, 40, 36, kRed);
}

// Each detector has a class of its own; those of the last one are printed.
TEST_F(DrawnBoxesTest, OfSeveralDetectorsTheLastIsMeant) {
  std::string net =
      "name: \"n\" op { type: \"GivenTensorFill\" output: \"boxes\" arg { name: "
      "\"shape\" ints: [1, 12] } arg { name: \"values\" floats: [0, 0, 1, 1, 2, 2, "
      "3, 3, 4, 4, 5, 5] } } ";
  for (const auto& [name, scores] : {std::pair("a", "[0, 0.75, 0]"), {"b", "[0, 0, 0.5]"}}) {
    const std::string prefix = name;
    net += "op { type: \"GivenTensorFill\" output: \"" + prefix +
           "\" arg { name: \"shape\" ints: [1, 3] } arg { name: \"values\" floats: " + scores +
           " } } op { type: \"BoxWithNMSLimit\" input: [\"" + prefix +
           "\", \"boxes\"] output: [\"" + prefix + "s\", \"" + prefix + "b\", \"" + prefix +
           "c\"] } ";
  }
  dir_.Write("two.pbtxt", net);
  const std::string json = Out({"run", "--predict-net", "DIR/two.pbtxt", "--boxes", "--json"});
  EXPECT_EQ(JsonAt(json, "/boxes"), R"([{"score":0.5,"class":2,"box":[4,4,5,5]}])");
}

}  // namespace
}  // namespace caffe2rt::test::drawn_boxes_test
