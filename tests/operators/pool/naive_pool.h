#pragma once
// Pooling by its definition, one window at a time, as a reference. NCHW with up to three axes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace caffe2rt::test {

// The size, kernel, stride and pads of one axis.
struct NaiveAxis {
  int in = 1, kernel = 1, stride = 1, head = 0, tail = 0;
  int out() const { return (in + head + tail - kernel) / stride + 1; }
};

// Pools `planes` planes of depth x height x width: the mean if `mean` is set, the maximum
// otherwise. The mean is over the part of the window inside the input, or over the whole window
// with `include_pad`.
inline std::vector<float> NaivePool(const std::vector<float>& x, int planes, const NaiveAxis& d,
                                    const NaiveAxis& h, const NaiveAxis& w, bool mean,
                                    bool include_pad = false) {
  std::vector<float> y;
  for (int p = 0; p < planes; ++p) {
    for (int od = 0; od < d.out(); ++od) {
      for (int oh = 0; oh < h.out(); ++oh) {
        for (int ow = 0; ow < w.out(); ++ow) {
          double sum = 0, count = 0;
          float largest = -std::numeric_limits<float>::infinity();
          for (int kd = 0; kd < d.kernel; ++kd) {
            for (int kh = 0; kh < h.kernel; ++kh) {
              for (int kw = 0; kw < w.kernel; ++kw) {
                const int z = od * d.stride - d.head + kd;
                const int r = oh * h.stride - h.head + kh;
                const int c = ow * w.stride - w.head + kw;
                if (z < 0 || z >= d.in || r < 0 || r >= h.in || c < 0 || c >= w.in) continue;
                const float value = x[((p * d.in + z) * h.in + r) * w.in + c];
                sum += value;
                count += 1;
                largest = std::max(largest, value);
              }
            }
          }
          if (include_pad) count = d.kernel * h.kernel * w.kernel;
          y.push_back(mean ? static_cast<float>(sum / count) : largest);
        }
      }
    }
  }
  return y;
}

// The gradient of NaivePool: that of a maximum goes to all elements that are equal to it.
inline std::vector<float> NaivePoolGradient(const std::vector<float>& x,
                                            const std::vector<float>& dy, int planes,
                                            const NaiveAxis& d, const NaiveAxis& h,
                                            const NaiveAxis& w, bool mean,
                                            bool include_pad = false) {
  std::vector<double> dx(x.size());
  size_t window = 0;
  for (int p = 0; p < planes; ++p) {
    for (int i = 0; i < d.out() * h.out() * w.out(); ++i, ++window) {
      std::vector<size_t> inside;
      for (int k = 0; k < d.kernel * h.kernel * w.kernel; ++k) {
        const int z = i / w.out() / h.out() * d.stride - d.head + k / w.kernel / h.kernel;
        const int r = i / w.out() % h.out() * h.stride - h.head + k / w.kernel % h.kernel;
        const int c = i % w.out() * w.stride - w.head + k % w.kernel;
        if (z < 0 || z >= d.in || r < 0 || r >= h.in || c < 0 || c >= w.in) continue;
        inside.push_back(static_cast<size_t>(((p * d.in + z) * h.in + r) * w.in + c));
      }
      float largest = -std::numeric_limits<float>::infinity();
      for (const size_t at : inside) largest = std::max(largest, x[at]);
      const double size = include_pad ? d.kernel * h.kernel * w.kernel : inside.size();
      for (const size_t at : inside) {
        if (mean) dx[at] += dy[window] / size;
        if (!mean && x[at] == largest) dx[at] += dy[window];
      }
    }
  }
  return std::vector<float>(dx.begin(), dx.end());
}

// Converts [N, C, P] to [N, P, C]. With P instead of C as `channels`, converts back.
inline std::vector<float> ToChannelsLast(const std::vector<float>& x, int batch, int channels) {
  std::vector<float> y(x.size());
  const int positions = static_cast<int>(x.size()) / batch / channels;
  for (int n = 0; n < batch; ++n) {
    for (int c = 0; c < channels; ++c) {
      for (int p = 0; p < positions; ++p) {
        y[(n * positions + p) * channels + c] = x[(n * channels + c) * positions + p];
      }
    }
  }
  return y;
}

// Turns the text of a pool from X to Y into that of its gradient.
inline std::string GradientOf(std::string text) {
  const std::string ends = "\" input: \"X\" output: \"Y\"";
  return text.replace(text.find(ends), ends.size(),
                      "Gradient\" input: \"X\" input: \"Y\" input: \"dY\" output: \"dX\"");
}

// Returns the operator as text, with an argument list for each property of the axes.
inline std::string PoolOp(const std::string& type, const std::vector<NaiveAxis>& axes,
                          const std::string& order) {
  std::string text = "type: \"" + type +
                     "\" input: \"X\" output: \"Y\" arg { name: \"order\" s: \"" + order + "\" }";
  const auto list = [&](const char* name, auto... fields) {
    text += std::string(" arg { name: \"") + name + "\"";
    const auto add = [&](auto field) {
      for (const NaiveAxis& axis : axes) text += " ints: " + std::to_string(axis.*field);
    };
    (add(fields), ...);
    text += " }";
  };
  list("kernels", &NaiveAxis::kernel);
  list("strides", &NaiveAxis::stride);
  list("pads", &NaiveAxis::head, &NaiveAxis::tail);
  return text;
}

// [batch, channels, sizes..] or [batch, sizes.., channels] of the inputs or outputs of the axes.
inline std::vector<int64_t> PoolDims(const std::vector<NaiveAxis>& axes, int batch, int channels,
                                     bool last, bool out) {
  std::vector<int64_t> dims{batch};
  if (!last) dims.push_back(channels);
  for (const NaiveAxis& axis : axes) dims.push_back(out ? axis.out() : axis.in);
  if (last) dims.push_back(channels);
  return dims;
}

// Shapes that cover every code path: whole vectors and parts of them, strides with and without a
// buffer, and long windows.
inline std::vector<std::vector<NaiveAxis>> PoolShapes() {
  return {
      {{7, 2, 2, 0, 1}},
      {{40, 3, 1, 1, 1}},
      {{5, 3, 2, 1, 1}, {37, 3, 2, 1, 1}},
      {{111, 3, 2, 0, 0}, {111, 3, 2, 0, 0}},
      {{6, 2, 2, 0, 0}, {70, 2, 2, 0, 0}},
      {{5, 2, 2, 0, 0}, {27, 2, 2, 0, 0}},
      {{9, 3, 3, 0, 0}, {50, 3, 3, 1, 0}},
      {{20, 17, 1, 5, 9}, {21, 18, 1, 4, 3}},
      {{4, 4, 1, 3, 0}, {19, 1, 2, 0, 0}},
      {{12, 2, 1, -2, -3}, {40, 3, 2, -1, 1}},
      {{5, 2, 1, 1, 0}, {6, 3, 2, 0, 2}, {33, 2, 2, 1, 1}},
  };
}

}  // namespace caffe2rt::test
