#pragma once
// Times the algorithms for convolutions and writes a table for conv_tuning.h. Runs on the calling
// thread.

#include <functional>
#include <ostream>
#include <vector>

#include "operators/conv/conv_tuning.h"

namespace caffe2rt {

struct ConvTuneOptions {
  double milliseconds = 30;  // spent on each algorithm that can do a shape, after a first run
  int rounds = 5;            // the algorithms take turns that often; the best time counts
  double tolerance =
      2e-4;  // results further from im2col's than this, relative to the largest, do not count
};

struct ConvTiming {
  ConvAlgorithm algorithm;
  double microseconds;
  double error;  // largest difference from im2col's result, relative to the largest value
};

// All algorithms that can do the shape on this machine, fastest first.
std::vector<ConvTiming> TimeConvolution(const ConvShape& shape, const ConvTuneOptions& options);

// One row a shape, each as soon as it is known. `report` (may be null) gets all timings of each
// shape.
void TuneConvolutions(
    const std::vector<ConvShape>& shapes, const ConvTuneOptions& options, std::ostream& table,
    const std::function<void(const ConvShape&, const std::vector<ConvTiming>&)>& report);

}  // namespace caffe2rt
