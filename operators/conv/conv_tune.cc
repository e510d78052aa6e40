#include "operators/conv/conv_tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "operators/primitives/random.h"

namespace caffe2rt {

namespace {

std::vector<float> RandomValues(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  math::Generator generator(seed);
  math::FillUniform(generator, values.size(), -1.f, 1.f, values.data());
  return values;
}

struct Problem {
  explicit Problem(const ConvShape& s)
      : shape(s),
        x(RandomValues(s.window.batch * s.window.channels * s.window.in_size(), 1)),
        filter(RandomValues(s.out_channels * s.in_group() * s.window.kernel_size(), 2)),
        bias(RandomValues(s.out_channels, 3)),
        y(static_cast<size_t>(s.window.batch * s.out_channels * s.window.out_size())) {
    shape.bias = true;
  }
  ConvShape shape;
  std::vector<float> x, filter, bias, y;
};

struct Candidate {
  ConvAlgorithm algorithm;
  std::unique_ptr<ConvKernel> kernel;
  std::shared_ptr<const void> prepared;
  ThreadScratch scratch = {};
  double best_us = HUGE_VAL;
  double error = 0;
};

void RunOnce(Problem& problem, Candidate& candidate) {
  const void* filter =
      candidate.prepared != nullptr ? candidate.prepared.get() : problem.filter.data();
  candidate.kernel->Run(problem.x.data(), filter, problem.bias.data(), problem.y.data(),
                        candidate.scratch.ForPieces(candidate.kernel->ScratchParts(),
                                                    candidate.kernel->ScratchSize()));
}

double TimeOf(Problem& problem, Candidate& candidate, double milliseconds) {
  using Clock = std::chrono::steady_clock;
  double best = HUGE_VAL;
  const Clock::time_point end =
      Clock::now() + std::chrono::microseconds(static_cast<int64_t>(milliseconds * 1000));
  do {
    const Clock::time_point start = Clock::now();
    RunOnce(problem, candidate);
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

}  // namespace

std::vector<ConvTiming> TimeConvolution(const ConvShape& shape, const ConvTuneOptions& options) {
  Problem problem(shape);
  std::vector<Candidate> candidates;
  std::vector<float> want;
  double largest = 0;
  for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
    Candidate candidate{algorithm, NewConvKernel(algorithm, problem.shape), nullptr};
    if (candidate.kernel == nullptr) continue;
    if (!candidate.kernel->FilterForm().empty()) {
      candidate.prepared = candidate.kernel->PrepareFilter(problem.filter.data());
    }
    RunOnce(problem, candidate);
    if (want.empty()) {  // the first algorithm is im2col, the reference
      want = problem.y;
      for (const float value : want)
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    for (size_t i = 0; i < want.size(); ++i) {
      const double difference = std::abs(static_cast<double>(problem.y[i]) - want[i]);
      if (!(difference <= candidate.error * largest)) candidate.error = difference / largest;
    }
    candidates.push_back(std::move(candidate));
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Candidate& candidate : candidates) {
      // An algorithm that took four times as long as im2col is not timed again.
      if (round > 0 && candidate.best_us > 4 * candidates.front().best_us) continue;
      candidate.best_us = std::min(
          candidate.best_us, TimeOf(problem, candidate, options.milliseconds / options.rounds));
    }
  }
  std::vector<ConvTiming> timings;
  for (const Candidate& candidate : candidates) {
    timings.push_back({candidate.algorithm, candidate.best_us, candidate.error});
  }
  std::stable_sort(timings.begin(), timings.end(), [](const ConvTiming& a, const ConvTiming& b) {
    return a.microseconds < b.microseconds;
  });
  return timings;
}

void TuneConvolutions(
    const std::vector<ConvShape>& shapes, const ConvTuneOptions& options, std::ostream& table,
    const std::function<void(const ConvShape&, const std::vector<ConvTiming>&)>& report) {
  for (const ConvShape& shape : shapes) {
    const std::vector<ConvTiming> timings = TimeConvolution(shape, options);
    if (report) report(shape, timings);
    for (const ConvTiming& timing : timings) {
      if (!(timing.error <= options.tolerance)) continue;
      table << ConvTuningLine({CpuIsa(), shape, timing.algorithm, timing.microseconds})
            << std::flush;
      break;
    }
  }
}

}  // namespace caffe2rt
