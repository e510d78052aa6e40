#pragma once
// Times the convolution algorithms and writes a table for conv_tuning.h. Runs on the calling
// thread.

#include <functional>
#include <ostream>
#include <vector>

#include "operators/conv/conv_tuning.h"

namespace caffe2rt {

struct ConvTuneOptions {
  // Time spent on each algorithm that supports the shape, after a first run.
  double milliseconds = 30;
  // The algorithms run in turn this many times; the best time counts.
  int rounds = 5;
  // An algorithm is not chosen if its ConvTiming::error is larger.
  double tolerance = 2e-4;
};

struct ConvTiming {
  ConvAlgorithm algorithm;
  double microseconds;
  // The largest difference from the result of im2col, divided by the largest value of that result.
  double error;
};

// Returns the timings of all algorithms that support the shape on this machine, fastest first.
std::vector<ConvTiming> TimeConvolution(const ConvShape& shape, const ConvTuneOptions& options);

#pragma GCC visibility push(default)  // for the program caffe2
// Writes one row for each shape to `table` and flushes after each. `report`, which may be null,
// receives all timings of each shape.
void TuneConvolutions(
    const std::vector<ConvShape>& shapes, const ConvTuneOptions& options, std::ostream& table,
    const std::function<void(const ConvShape&, const std::vector<ConvTiming>&)>& report);
#pragma GCC visibility pop

}  // namespace caffe2rt
