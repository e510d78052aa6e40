#include "caffe2_core/executors/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"

namespace caffe2rt {
namespace {

class OperatorTime final : public ObserverBase<OperatorBase> {
 public:
  OperatorTime(OperatorBase* op, std::shared_ptr<std::vector<double>> times, size_t position)
      : ObserverBase<OperatorBase>(op), times_(std::move(times)), position_(position) {}
  void Start() override { timer_.Start(); }
  void Stop() override { (*times_)[position_] = timer_.MilliSeconds(); }

 private:
  const std::shared_ptr<std::vector<double>> times_;  // the operator may outlive the statistics
  const size_t position_;
  Timer timer_;
};

}  // namespace

double MeanAndDeviation::deviation() const {
  return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
}

RunStatistics::RunStatistics(const std::vector<OperatorBase*>& operators)
    : last_ms_(std::make_shared<std::vector<double>>(operators.size(), 0)) {
  for (size_t i = 0; i < operators.size(); ++i) {
    types_[operators[i]->type()].operators.push_back(i);
    operators[i]->AttachObserver(std::make_unique<OperatorTime>(operators[i], last_ms_, i));
  }
}

void RunStatistics::EndRun(double milliseconds) {
  if (!std::exchange(has_first_, true)) return;
  run_ms_.Add(milliseconds);
  for (auto& [name, type] : types_) {
    double sum = 0;
    for (const size_t op : type.operators) sum += (*last_ms_)[op];
    type.ms.Add(sum);
  }
}

std::string RunStatistics::Text(const std::string& net) const {
  std::string text =
      MakeString("net \"", net, "\", ", CountText(runs(), "run"),
                 " after the first one: ", FixedText(run_ms_.mean(), 4),
                 " ms per run, standard deviation ", FixedText(run_ms_.deviation(), 4),
                 "\n  ms per run, standard deviation, operators per run, type");
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [name, type] : types_) {
    lines.emplace_back(type.ms.mean(), MakeString("\n  ", FixedText(type.ms.mean(), 4), " ",
                                                  FixedText(type.ms.deviation(), 4), " ",
                                                  type.operators.size(), " ", name));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& line : lines) text += line.second;
  return text;
}

}  // namespace caffe2rt
