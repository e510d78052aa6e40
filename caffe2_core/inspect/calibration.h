#pragma once
// Calibration: measures the ranges of the inputs of convolutions, by which precision int8
// (graph/precision.h) quantizes them.
//
//   const NetDef def = NetToWatch(net_def);            // blob_watch.h
//   NetBase* net = ws.CreateNet(def);
//   Calibration calibration(def, net);
//   for (...) { Feed(...); net->Run(); }               // representative inputs
//   calibration.StateRanges(&net_def);                 // arguments input_min and input_max
//
// The net stays a float net, which runs as before in every engine that ignores arguments it does not
// know. Memory does not grow with the number of runs: a histogram for each operator. The range is from the
// smallest to the largest number, unless few numbers lie so far outside that leaving them out halves the squared
// error (range_histogram.h).

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/runtime/net.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct InputRange {
  float min = 0, max = 0;  // by which bytes represent the elements (RangeHistogram::BestRange)
  float seen_min = 0, seen_max = 0;  // of the finite elements, and 0
  int64_t elements = 0;              // that were seen
  int64_t not_finite = 0;            // of them
};

// How much wider than what was seen a range should be, because other examples go beyond: the fewer were seen, the
// more. A text detector (PP-OCR) calibrated on eight photographs changes 0.54 % of the pixels of a line of text with
// a fifth more, and 1.38 % without.
float HeadroomFor(int64_t examples);

// Not thread safe.
class Calibration {
 public:
  // Observes input 0 of the operators whose schema has the argument input_min, except in nested nets.
  // REQUIRES: as BlobWatch.
  Calibration(const NetDef& def, NetBase* net);
  ~Calibration();  // ends the observation
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  // By the positions of operators in the net. Operators that did not run are left out. Ends that are the smallest
  // or the largest number seen are multiplied by 1 + headroom.
  std::map<int, InputRange> ranges(float headroom = 0) const;
  // Sets the arguments input_min and input_max of the operators that have a range above 0. `net` is the net
  // that was made the watched one. Operators that read the same value get the same range. THROWS if an
  // operator saw elements that are not finite.
  void StateRanges(NetDef* net, float headroom = 0) const;

 private:
  std::map<int, std::unique_ptr<RangeHistogram>> histograms_;
  std::vector<std::pair<OperatorBase*, const ObserverBase<OperatorBase>*>> observers_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
