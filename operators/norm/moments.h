#pragma once
// Mean and variance of float runs, and the step that uses them: y = (x - mean) * scale + bias.
//
// One pass over memory: blocks that fit the first cache are summed twice (mean, then squared
// differences) and merged in double, so that neither long runs nor large means lose digits. Plain
// functions, thread safe.

#include <cstdint>

namespace caffe2rt {

struct Moments {
  int64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of (x - mean)^2

  // Biased; 0 for nothing.
  double variance() const { return count > 0 ? squares / static_cast<double>(count) : 0; }
  // Adds what `other` saw (Chan, Golub and LeVeque 1979).
  void Merge(const Moments& other) {
    if (other.count == 0) return;
    const double total = static_cast<double>(count + other.count);
    const double delta = other.mean - mean;
    const double share = static_cast<double>(other.count) / total;
    squares += other.squares + delta * delta * static_cast<double>(count) * share;
    mean += delta * share;
    count += other.count;
  }
};

Moments MomentsOf(const float* x, int64_t n);
Moments MomentsOf(const double* x, int64_t n);

// Moments of each of `channels` columns of a [rows, channels] matrix. `scratch` has room for 2 *
// `channels` floats.
void ColumnMoments(const float* x, int64_t rows, int64_t channels, float* scratch,
                   Moments* moments);

// y[i] = (x[i] - mean) * scale + bias. x may be y.
void NormalizeRow(const float* x, int64_t n, float mean, float scale, float bias, float* y);
// y[r][c] = (x[r][c] - mean[c]) * scale[c] + bias[c]. x may be y.
void NormalizeColumns(const float* x, int64_t rows, int64_t channels, const float* mean,
                      const float* scale, const float* bias, float* y);

}  // namespace caffe2rt
