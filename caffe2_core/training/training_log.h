#pragma once
// The log of a training: one JSON object on each line, and the curves that it gives.
//
//   {"epoch":1,"iteration":47,"loss":0.61,"accuracy":0.82,"rate":0.05,"images_per_second":4150}
//   {"epoch":1,"iteration":938,"test_loss":0.08,"test_accuracy":0.975,"best":true}
//
// A line of the first form stands for the steps since the line before.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct LogLine {
  int64_t epoch = 0;  // from 1
  int64_t iteration = 0;
  std::optional<double> loss = {}, accuracy = {}, rate = {}, images_per_second = {};
  std::optional<double> test_loss = {}, test_accuracy = {};
  bool best = false;
};

// Without the line feed. Numbers that JSON cannot represent are null.
std::string LogLineAsJson(const LogLine& line);

// Not thread safe.
class TrainingLog {
 public:
  // Opens the log, and cuts it after `bytes` bytes: what a run wrote after its last checkpoint is
  // written again. THROWS if a line is damaged, or if the file cannot be written.
  TrainingLog(const std::string& path, int64_t bytes);

  void Add(const LogLine& line);
  int64_t bytes() const { return bytes_; }
  const std::vector<LogLine>& lines() const { return lines_; }

 private:
  const std::string path_;
  int64_t bytes_ = 0;
  std::vector<LogLine> lines_;
};

// An SVG image of loss and accuracy over the epochs, of training and test.
std::string CurvesAsSvg(const std::string& title, const std::vector<LogLine>& lines);

}  // namespace caffe2rt
#pragma GCC visibility pop
