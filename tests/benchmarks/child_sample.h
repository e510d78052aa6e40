#pragma once
// Measurements in a child process, which starts without threads and with little memory.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

// Returns what `measure` returns in a child process: a struct of numbers. THROWS if the child fails;
// `what` names it.
template <class Measure>
auto MeasureInChild(const std::string& what, Measure measure) {
  using Sample = decltype(measure());
  static_assert(std::is_trivially_copyable_v<Sample>);
  int ends[2];
  CAFFE_ENFORCE(pipe(ends) == 0, "cannot create a pipe");
  const pid_t child = fork();
  CAFFE_ENFORCE(child >= 0, "cannot start a process");
  if (child == 0) {
    const Sample sample = measure();
    _exit(write(ends[1], &sample, sizeof(sample)) == sizeof(sample) ? 0 : 1);
  }
  close(ends[1]);
  Sample sample;
  const bool read_all = read(ends[0], &sample, sizeof(sample)) == sizeof(sample);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CAFFE_ENFORCE(read_all && status == 0, what, " failed");
  return sample;
}

// REQUIRES: there are samples.
template <class Sample>
double Median(std::vector<Sample> samples, double Sample::*field) {
  std::sort(samples.begin(), samples.end(),
            [&](const Sample& a, const Sample& b) { return a.*field < b.*field; });
  return samples[samples.size() / 2].*field;
}

}  // namespace caffe2rt
