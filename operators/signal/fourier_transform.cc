#include "operators/signal/fourier_transform.h"

#include <algorithm>
#include <numbers>

#include "operators/common/element_type.h"

namespace caffe2rt {

void FourierTransform::Make(int64_t n) {
  CAFFE_ENFORCE(n >= 1 && n <= (int64_t{1} << 26), "length of a Fourier transform is ", n,
                ", want 1 to 2^26");
  if (n == n_) return;
  n_ = 0;
  padded_ = 1;
  const bool power = (n & (n - 1)) == 0;
  while (padded_ < (power ? n : 2 * n - 1)) padded_ *= 2;
  const double pi = std::numbers::pi;
  roots_.resize(static_cast<size_t>(padded_ / 2));
  for (size_t k = 0; k < roots_.size(); ++k) {
    roots_[k] = std::polar(1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(padded_));
  }
  if (!power) {
    chirp_.resize(static_cast<size_t>(n));
    filter_.assign(static_cast<size_t>(padded_), Complex(0));
    work_.resize(static_cast<size_t>(padded_));
    for (int64_t k = 0; k < n; ++k) {
      const int64_t square = k * k % (2 * n);  // keeps the angle exact
      const Complex c = std::polar(1.0, -pi * static_cast<double>(square) / static_cast<double>(n));
      chirp_[static_cast<size_t>(k)] = c;
      filter_[static_cast<size_t>(k)] = std::conj(c);
      if (k > 0) filter_[static_cast<size_t>(padded_ - k)] = std::conj(c);
    }
    RunPowerOfTwo(filter_.data(), padded_, false);
  }
  n_ = n;
}

void FourierTransform::Run(std::complex<double>* values, bool inverse) {
  if (padded_ == n_) {
    RunPowerOfTwo(values, n_, inverse);
  } else {
    RunBluestein(values, inverse);
  }
  if (!inverse) return;
  const double factor = 1.0 / static_cast<double>(n_);
  for (int64_t i = 0; i < n_; ++i) values[i] *= factor;
}

void FourierTransform::RunPowerOfTwo(Complex* values, int64_t n, bool inverse) const {
  for (int64_t i = 1, j = 0; i < n; ++i) {  // order of reversed bits
    int64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (int64_t half = 1; half < n; half *= 2) {
    const int64_t step = n / (2 * half);
    for (int64_t i = 0; i < n; i += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        const Complex root = roots_[static_cast<size_t>(k * step)];
        const double re = root.real(), im = inverse ? -root.imag() : root.imag();
        const Complex b = values[i + k + half], a = values[i + k];
        const Complex c(b.real() * re - b.imag() * im, b.real() * im + b.imag() * re);
        values[i + k] = a + c;
        values[i + k + half] = a - c;
      }
    }
  }
}

// The inverse transform of x is the conjugate of the transform of its conjugate.
void FourierTransform::RunBluestein(Complex* values, bool inverse) {
  std::fill(work_.begin(), work_.end(), Complex(0));
  for (int64_t i = 0; i < n_; ++i) {
    const size_t at = static_cast<size_t>(i);
    work_[at] = (inverse ? std::conj(values[i]) : values[i]) * chirp_[at];
  }
  RunPowerOfTwo(work_.data(), padded_, false);
  for (size_t i = 0; i < work_.size(); ++i) work_[i] *= filter_[i];
  RunPowerOfTwo(work_.data(), padded_, true);
  const double factor = 1.0 / static_cast<double>(padded_);
  for (int64_t i = 0; i < n_; ++i) {
    const size_t at = static_cast<size_t>(i);
    const Complex result = work_[at] * factor * chirp_[at];
    values[i] = inverse ? std::conj(result) : result;
  }
}

void CheckScalarInput(const Tensor& tensor, const char* subject) {
  RequireElementsOf<int64_t, int32_t>(tensor, subject);
  CAFFE_ENFORCE_EQ(tensor.numel(), 1, "elements of ", subject, " of shape ", tensor.sizes());
}

int64_t ScalarInput(const Tensor& tensor, const char* subject) {
  CheckScalarInput(tensor, subject);
  return tensor.IsType<int64_t>() ? *tensor.data<int64_t>() : *tensor.data<int32_t>();
}

}  // namespace caffe2rt
