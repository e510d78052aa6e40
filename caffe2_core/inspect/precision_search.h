#pragma once
// PrecisionSearch: measures on examples what a lower precision costs the outputs of a net, and finds the
// operators that have to keep a higher one (argument least_precision) until the outputs are good enough.
//
//   PrecisionSearch search(options, &ws, {.count = n, .feed = [&](size_t i) { ... }});
//   search.Begin(net);                                        // the outputs in float
//   search.Measure(net, Precision::kInt8).snr_db;
//   PrecisionFound found = search.Find(&net, {.min_snr_db = 30});

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/model/preparation.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct PrecisionExamples {
  size_t count = 0;
  // Sets the inputs in the workspace to those of example `i`.
  std::function<void(size_t i)> feed = {};
  // The right classes, one for each row of the first float output, in the order of the examples. Empty: none.
  std::vector<int64_t> labels = {};
};

struct PrecisionMeasured {
  // Of the worst output of floats (float, half and others) or bytes (images): 10 log10(sum of squares / sum of
  // squared differences from the float net). At most 16 examples count. Infinity if nothing differs. A result of
  // another shape, such as another number of detections, counts as all noise. What the last Softmax,
  // Sigmoid or Tanh reads counts like an output: their results do not show how wrong that is where they are near
  // the ends of their range.
  double snr_db = 0;
  // The percentage of rows whose largest number is at the right class; with labels.
  std::optional<double> accuracy = {};
  // Operators that have the argument precision, and how many of them the prepared net computes in int8 and
  // bf16.
  int64_t layers = 0, int8_layers = 0, bf16_layers = 0;
};

struct PrecisionGoal {
  std::optional<double> min_snr_db = {};
  // How many percent points the accuracy may be below that of the float net.
  std::optional<double> max_drop = {};
};

struct PrecisionFound {
  std::map<int, double> alone_snr_db = {};  // by position: if nothing else is in int8
  std::map<int, Precision> put_back = {};   // by position: the least precision that was set
  PrecisionMeasured measured = {};          // of the net with these
};

// Not thread safe.
class PrecisionSearch {
 public:
  // `options` is how nets are prepared; precision and deterministic are set by the calls. The outputs are
  // options.kept, or, if that is empty, those of the net. `ws` has the
  // weights and outlives the object. `progress`, if set, is called with what is done of how many trials, 0
  // if that is not known.
  PrecisionSearch(PreparationOptions options, Workspace* ws, PrecisionExamples examples,
                  std::function<void(int64_t done, int64_t total)> progress = {});

  // Computes the outputs in float. THROWS if the net has no output of floats or bytes, if there are not as many labels as
  // rows, or if a label is not a class.
  void Begin(const NetDef& net);
  const PrecisionMeasured& exact() const { return exact_; }

  // REQUIRES: Begin was called with this net, but for arguments of precision.
  PrecisionMeasured Measure(const NetDef& net, Precision precision, bool deterministic = false);

  // Measures each of the operators that may compute in int8 alone, and sets least_precision of those with the
  // most noise: to bf16 if the machine has it and no more operators have to be set, otherwise to f32, of as
  // few as reach the goal. `net` has ranges (calibration.h).
  PrecisionFound Find(NetDef* net, const PrecisionGoal& goal);

 private:
  using Outputs = std::map<std::string, Tensor>;

  struct Run {
    std::vector<Outputs> outputs;  // of the first examples
    std::vector<int64_t> classes;  // with labels: of each row
    PrecisionMeasured measured;
  };
  Run RunExamples(const NetDef& net, Precision precision, bool deterministic);
  Outputs FloatsOf(const std::set<std::string>& names) const;
  void AddClasses(const Outputs& outputs, std::vector<int64_t>* classes) const;
  double SnrOf(const std::vector<Outputs>& outputs) const;
  double AccuracyOf(const std::vector<int64_t>& classes) const;
  bool Reaches(const PrecisionMeasured& measured, const PrecisionGoal& goal) const;
  void MeasureAlone(const NetDef& net, PrecisionFound* found);
  void Report(int64_t done, int64_t total) const {
    if (progress_) progress_(done, total);
  }

  const PreparationOptions options_;
  Workspace* const ws_;
  const PrecisionExamples examples_;
  const std::function<void(int64_t, int64_t)> progress_;
  std::vector<Outputs> exact_outputs_;
  PrecisionMeasured exact_;
};

// Positions of the operators of a net that precision int8 may have an effect on: they have the argument
// least_precision, and a range of their input if they need one.
std::vector<int> OperatorsForInt8(const NetDef& net);

// Writes to the net what it was measured to have, for precision auto: arguments of the net, which other
// engines ignore. A value that is not set removes the argument.
void StateSnr(NetDef* net, std::optional<double> int8_db, std::optional<double> pair_limited_db,
              std::optional<double> bf16_db);

}  // namespace caffe2rt
#pragma GCC visibility pop
