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

}  // namespace
}  // namespace caffe2rt::test::training_log_test
