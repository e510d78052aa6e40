#include "caffe2_core/training/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_log_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

LogLine Line(int64_t iteration, double loss) {
  LogLine line{.epoch = 1, .iteration = iteration};
  line.loss = loss;
  return line;
}

TEST(TrainingLogTest, WritesObjectsWithTheFieldsThatAreKnown) {
  LogLine line = Line(5, 0.25);
  line.rate = 0.1f;
  line.images_per_second = 4150;
  EXPECT_EQ(LogLineAsJson(line),
            R"({"epoch":1,"iteration":5,"loss":0.25,"rate":0.1,"images_per_second":4150})");
  LogLine test{.epoch = 2, .iteration = 7};
  test.test_loss = std::numeric_limits<double>::infinity();
  test.best = true;
  EXPECT_EQ(LogLineAsJson(test), R"({"epoch":2,"iteration":7,"test_loss":null,"best":true})");
}

TEST(TrainingLogTest, IsCutWhereACheckpointWas) {
  const TempDir dir;
  const std::string path = dir.path("log.jsonl");
  int64_t bytes = 0;
  {
    TrainingLog log(path, 0);
    log.Add(Line(1, 3));
    log.Add(Line(2, 2));
    bytes = log.bytes();
    log.Add(Line(3, 1));
    EXPECT_GT(log.bytes(), bytes);
  }
  TrainingLog log(path, bytes);
  ASSERT_THAT(log.lines(), SizeIs(2));
  EXPECT_EQ(log.lines()[1].loss, 2);
  EXPECT_THAT(ReadWholeFile(path), Not(HasSubstr("\"iteration\":3")));
  // A log that lost its end, in the middle of a line.
  EXPECT_THAT(TrainingLog(path, 1000).lines(), SizeIs(2));
  dir.Write("log.jsonl", "{\"epoch\":1,\"iteration\":1}\n{\"epo");
  EXPECT_THAT(TrainingLog(path, 1000).lines(), SizeIs(1));
}

TEST(TrainingLogTest, RejectsDamagedLines) {
  const TempDir dir;
  const std::string path = dir.Write("log.jsonl", "{\"epoch\":1\n");
  try {
    TrainingLog log(path, 11);
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr("is damaged: line \"{\"epoch\":1\""));
  }
}

TEST(TrainingLogTest, DrawsCurvesOfTrainingAndTest) {
  std::vector<LogLine> lines = {Line(10, 2), Line(20, 1)};
  EXPECT_THAT(CurvesAsSvg("a < b", lines), HasSubstr("a &lt; b (steps)"));
  // 640 columns from 60 on for 20 steps, 220 rows from 60 on for losses from 2 to 1.
  EXPECT_THAT(CurvesAsSvg("net", lines), HasSubstr("points=\"380.0,60.0 700.0,280.0\""));
  EXPECT_THAT(CurvesAsSvg("net", lines), Not(HasSubstr(">accuracy<")));
  lines[1].test_accuracy = 0.5;
  EXPECT_THAT(CurvesAsSvg("net", lines), HasSubstr(">accuracy<"));
}

// The whole drawing: columns from 60 to 700 for steps 0 to 20, rows from 60 to 280 for losses from 2 to
// 1, and from 330 to 550 for the accuracy, whose only value gets a range of 1.
TEST(TrainingLogTest, DrawsAxesTicksAndCurves) {
  std::vector<LogLine> lines = {Line(10, 2), Line(20, 1)};
  lines[0].test_loss = INFINITY;  // left out
  lines[1].test_loss = 1.5;
  lines[1].test_accuracy = 0.5;
  const auto axes = [](const std::string& title, int top) {
    return MakeString("<text class=\"h\" x=\"60\" y=\"", top - 8, "\">", title,
                      "</text>\n<path class=\"a\" d=\"M60 ", top, "V", top + 220, "H700\"/>\n");
  };
  const auto tick = [](const std::string& y, const std::string& value, const std::string& x,
                       int bottom, const std::string& step) {
    return MakeString("<text class=\"n\" x=\"54\" y=\"", y, "\">", value,
                      "</text>\n<text class=\"m\" x=\"", x, "\" y=\"", bottom, "\">", step,
                      "</text>\n");
  };
  const auto curve = [](const std::string& colour, const std::string& points, int x, int y,
                        const std::string& name) {
    return MakeString("<polyline fill=\"none\" stroke=\"", colour,
                      "\" stroke-width=\"1.5\" points=\"", points, "\"/>\n<text class=\"n\" x=\"",
                      x, "\" y=\"", y, "\" fill=\"", colour, "\">", name, "</text>\n");
  };
  EXPECT_EQ(
      CurvesAsSvg("n", lines),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"600\" viewBox=\"0 0 720 "
      "600\">\n<style>text{font:12px sans-serif}.h{font-weight:bold}.n{text-anchor:end}"
      ".m{text-anchor:middle}.a{fill:none;stroke:#999}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text class=\"h\" x=\"20\" y=\"24\">n (steps)</text>\n" +
          axes("loss", 60) + tick("284.0", "1.000", "60.0", 296, "0") +
          tick("229.0", "1.250", "220.0", 296, "5") + tick("174.0", "1.500", "380.0", 296, "10") +
          tick("119.0", "1.750", "540.0", 296, "15") + tick("64.0", "2.000", "700.0", 296, "20") +
          curve("#0072b2", "380.0,60.0 700.0,280.0", 650, 52, "training") +
          curve("#d55e00", "700.0,170.0", 700, 52, "test") + axes("accuracy", 330) +
          tick("554.0", "0.500", "60.0", 566, "0") + tick("499.0", "0.750", "220.0", 566, "5") +
          tick("444.0", "1.000", "380.0", 566, "10") + tick("389.0", "1.250", "540.0", 566, "15") +
          tick("334.0", "1.500", "700.0", 566, "20") +
          curve("#d55e00", "700.0,550.0", 700, 322, "test") + "</svg>\n");
}

}  // namespace
}  // namespace caffe2rt::test::training_log_test
