// Times all algorithms for the convolutions of a table, and prints a new table with the fastest
// algorithm of each row:
//
//   conv_tune operators/conv/conv_tuning.tsv [MILLISECONDS] > new.tsv
//
// The timings of all algorithms are printed to stderr.
#include "operators/conv/conv_tune.h"

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  using namespace caffe2rt;  // NOLINT: a program
  if (argc < 2) {
    std::cerr << "usage: conv_tune TABLE [MILLISECONDS]\n";
    return 2;
  }
  try {
    std::vector<ConvShape> shapes;
    const std::shared_ptr<const ConvTuning> table = ReadConvTuning(argv[1]);
    for (const ConvTuningRow& row : table->rows()) {
      bool known = row.isa != CpuIsa();
      for (const ConvShape& shape : shapes) known |= shape == row.shape;
      if (!known) shapes.push_back(row.shape);
    }
    ConvTuneOptions options;
    if (argc > 2) options.milliseconds = std::atof(argv[2]);
    TuneConvolutions(shapes, options, std::cout,
                     [](const ConvShape& shape, const std::vector<ConvTiming>& timings) {
                       std::cerr << ConvTuningLine({CpuIsa(), shape, timings[0].algorithm, 0});
                       for (const ConvTiming& timing : timings) {
                         std::cerr << "    " << ConvAlgorithmName(timing.algorithm) << ' '
                                   << timing.microseconds << " us, error " << timing.error << '\n';
                       }
                     });
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
