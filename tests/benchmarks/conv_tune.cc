// Times all algorithms for the convolutions of a table, and prints a new table with the fastest
// algorithm of each row.
#include "operators/conv/conv_tune.h"

#include <algorithm>
#include <iostream>

#include "binaries/program_main.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt::test {
namespace {

// The shapes in the rows of this machine's instruction set, each once.
std::vector<ConvShape> ShapesOf(const ConvTuning& table) {
  std::vector<ConvShape> shapes;
  for (const ConvTuningRow& row : table.rows()) {
    if (row.isa != CpuIsa()) continue;
    if (std::find(shapes.begin(), shapes.end(), row.shape) == shapes.end()) {
      shapes.push_back(row.shape);
    }
  }
  return shapes;
}

void PrintTimings(const ConvShape& shape, const std::vector<ConvTiming>& timings) {
  std::cerr << ConvTuningLine({CpuIsa(), shape, timings[0].algorithm, 0});
  for (const ConvTiming& timing : timings) {
    std::cerr << "    " << ConvAlgorithmName(timing.algorithm) << ' '
              << ShortText(timing.microseconds) << " us, error " << ShortText(timing.error) << '\n';
  }
}

int Tune(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one table");
  const ConvTuneOptions options{.milliseconds =
                                    static_cast<double>(line.Integer("milliseconds", 1, 60000))};
  TuneConvolutions(ShapesOf(*ReadConvTuning(line.positional()[0])), options, std::cout,
                   &PrintTimings);
  return 0;
}

const Program& Tuner() {
  static const Program program = {
      .name = "conv_tune",
      .purpose = "times all convolution algorithms for the shapes of a table",
      .usage = "TABLE [options]",
      .options = {{"milliseconds", "N", "30", "time spent on each algorithm"}},
      .notes =
          "The table holds rows for several instruction sets; those of this machine are timed, or\n"
          "of a lower one that the environment variable CAFFE2RT_ISA names. The new table is\n"
          "printed to stdout, and the timings of all algorithms to stderr.\n\n"
          "example:\n"
          "  conv_tune operators/conv/conv_tuning.tsv > new.tsv\n",
      .run = &Tune};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Tuner(), argc, argv);
}
