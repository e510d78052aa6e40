#pragma once
// RunStatistics: the times of the runs of a net, and of its operators by type. The net type prof_dag
// logs them when the net is destroyed.
//
//   net "n", 4 runs after the first one: 0.0065 ms per run, standard deviation 0.0027
//     ms per run, standard deviation, operators per run, type
//     0.0019 0.0025 2 Relu
//     0.0017 0.0000 1 Sigmoid
//
// The first run is left out, because it allocates memory. A run that fails does not count either.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Sums of numbers and of their squares.
class MeanAndDeviation {
 public:
  void Add(double value) {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }
  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  // Of the values themselves, not an estimate from a sample; 0 without values.
  double deviation() const;

 private:
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Not thread safe. Operators may run on any threads between two calls of EndRun.
class RunStatistics {
 public:
  // Attaches an observer to each operator.
  explicit RunStatistics(const std::vector<OperatorBase*>& operators);
  // Call it after a run that succeeded and took `milliseconds`.
  void EndRun(double milliseconds);
  int64_t runs() const { return run_ms_.count(); }
  std::string Text(const std::string& net) const;

 private:
  struct Type {
    std::vector<size_t> operators;
    MeanAndDeviation ms;
  };

  std::shared_ptr<std::vector<double>> last_ms_;  // by operator; shared with the observers
  std::map<std::string, Type> types_;
  bool has_first_ = false;
  MeanAndDeviation run_ms_;
};

}  // namespace caffe2rt
