#include "cudnn/convolution.h"

#include <algorithm>

namespace fakecuda {
namespace {

// The forward and both backward functions visit the same triples (input, weight, output) and differ
// only in which of the three they accumulate. The triples are grouped into runs along the last
// dimension, so that the inner loops have no branches. Padding is skipped, not multiplied. The cost
// is one multiply-add per triple.

// Outputs along the last dimension that use the same weight: output `y + i` depends on input
// `x + i * step`, for i < count. `x`, `y` and `w` are indices into the arrays.
struct Run {
  size_t x, y, w;
  size_t count, step;
};

size_t Product(const std::array<int, 3>& sizes) {
  return static_cast<size_t>(sizes[0]) * static_cast<size_t>(sizes[1]) *
         static_cast<size_t>(sizes[2]);
}

// The outputs [begin, end) of dimension d whose input for kernel position `at` is inside x, not in
// the padding.
void Inside(const Convolution& conv, size_t d, int at, int* begin, int* end) {
  const int offset = at * conv.dilation[d] - conv.pad[d];
  const int step = conv.stride[d];
  *begin = offset >= 0 ? 0 : (-offset + step - 1) / step;
  const int last = conv.in[d] - 1 - offset;
  *end = last < 0 ? 0 : std::min(conv.out[d], last / step + 1);
}

// Calls function(run) for all runs of one image, one pair of channels and one kernel position.
template <class Function>
void ForEachRow(const Convolution& conv, const std::array<int, 3>& at, Run run,
                const Function& function) {
  int begin[3], end[3], offset[3];
  for (size_t d = 0; d < 3; ++d) {
    Inside(conv, d, at[d], &begin[d], &end[d]);
    if (begin[d] >= end[d]) return;
    offset[d] = at[d] * conv.dilation[d] - conv.pad[d];
  }
  const Run start = run;
  run.count = static_cast<size_t>(end[2] - begin[2]);
  run.step = static_cast<size_t>(conv.stride[2]);
  for (int i = begin[0]; i < end[0]; ++i) {
    const int xi = i * conv.stride[0] + offset[0];
    for (int j = begin[1]; j < end[1]; ++j) {
      const int xj = j * conv.stride[1] + offset[1];
      const int xk = begin[2] * conv.stride[2] + offset[2];
      run.x = start.x + static_cast<size_t>((xi * conv.in[1] + xj) * conv.in[2] + xk);
      run.y = start.y + static_cast<size_t>((i * conv.out[1] + j) * conv.out[2] + begin[2]);
      function(run);
    }
  }
}

template <class Function>
void ForEachRun(const Convolution& conv, const Function& function) {
  const int c_group = conv.c / conv.groups, k_group = conv.k / conv.groups;
  const size_t in = Product(conv.in), out = Product(conv.out), taps = Product(conv.kernel);
  for (int n = 0; n < conv.n; ++n) {
    for (int k = 0; k < conv.k; ++k) {
      for (int c = 0; c < c_group; ++c) {
        Run run = {};
        const int x_channel = k / k_group * c_group + c;
        run.x = static_cast<size_t>(n * conv.c + x_channel) * in;
        run.y = static_cast<size_t>(n * conv.k + k) * out;
        const size_t w = static_cast<size_t>(k * c_group + c) * taps;
        std::array<int, 3> at;
        size_t tap = 0;
        for (at[0] = 0; at[0] < conv.kernel[0]; ++at[0]) {
          for (at[1] = 0; at[1] < conv.kernel[1]; ++at[1]) {
            for (at[2] = 0; at[2] < conv.kernel[2]; ++at[2], ++tap) {
              run.w = w + (conv.flipped ? taps - 1 - tap : tap);
              ForEachRow(conv, at, run, function);
            }
          }
        }
      }
    }
  }
}

}  // namespace

Values ConvolutionForward(const Convolution& conv, const Values& x, const Values& w) {
  Values y(static_cast<size_t>(conv.n) * static_cast<size_t>(conv.k) * Product(conv.out));
  ForEachRun(conv, [&](const Run& run) {
    const double weight = w[run.w];
    for (size_t i = 0; i < run.count; ++i) y[run.y + i] += weight * x[run.x + i * run.step];
  });
  return y;
}

Values ConvolutionBackwardData(const Convolution& conv, const Values& dy, const Values& w) {
  Values dx(static_cast<size_t>(conv.n) * static_cast<size_t>(conv.c) * Product(conv.in));
  ForEachRun(conv, [&](const Run& run) {
    const double weight = w[run.w];
    for (size_t i = 0; i < run.count; ++i) dx[run.x + i * run.step] += weight * dy[run.y + i];
  });
  return dx;
}

Values ConvolutionBackwardFilter(const Convolution& conv, const Values& x, const Values& dy) {
  Values dw(static_cast<size_t>(conv.k) * static_cast<size_t>(conv.c / conv.groups) *
            Product(conv.kernel));
  ForEachRun(conv, [&](const Run& run) {
    double sum = 0;
    for (size_t i = 0; i < run.count; ++i) sum += x[run.x + i * run.step] * dy[run.y + i];
    dw[run.w] += sum;
  });
  return dw;
}

}  // namespace fakecuda
