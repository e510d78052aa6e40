#pragma once
// Mean and variance of float runs and columns, and the normalization y = (x - mean) * scale + bias.
//
// A run is processed in blocks that fit the first-level cache. Each block is read twice, for its
// mean and for the squared differences, and the blocks are merged in double, so that neither long
// runs nor large means lose precision. Columns are read twice from memory, with sums in double. The
// functions are pure and thread safe.

#include <cstdint>

namespace caffe2rt {

struct Moments {
  int64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of (x - mean)^2

  // The biased variance, or 0 if count is 0.
  double variance() const { return count > 0 ? squares / static_cast<double>(count) : 0; }
  // Combines the moments of two sets of values (Chan, Golub and LeVeque 1979).
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

// Computes the moments of each of `channels` columns of a [rows, channels] matrix. `scratch` must
// have space for 2 * `channels` floats.
void ColumnMoments(const float* x, int64_t rows, int64_t channels, float* scratch,
                   Moments* moments);

// y[i] = (x[i] - mean) * scale + bias. x may be y.
void NormalizeRow(const float* x, int64_t n, float mean, float scale, float bias, float* y);
// y[r][c] = (x[r][c] - mean[c]) * scale[c] + bias[c]. x may be y.
void NormalizeColumns(const float* x, int64_t rows, int64_t channels, const float* mean,
                      const float* scale, const float* bias, float* y);

}  // namespace caffe2rt
