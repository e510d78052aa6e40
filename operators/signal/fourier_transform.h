#pragma once
// Discrete Fourier transforms of any length, in double.
//
//   FourierTransform transform;                  // a member
//   transform.Make(n);                           // when the length changes
//   transform.Run(values, /*inverse=*/false);    // in place, n values
//
// A power of two is transformed by Cooley and Tukey's algorithm, any other length by Bluestein's, as
// a convolution whose length is a power of two. An object may be used by one thread at a time. Runs do
// not allocate.

#include <complex>
#include <cstdint>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class FourierTransform {
 public:
  // THROWS for lengths below 1 and above 2^26.
  void Make(int64_t n);
  int64_t size() const { return n_; }
  // The inverse transform divides by the length.
  void Run(std::complex<double>* values, bool inverse);

 private:
  using Complex = std::complex<double>;

  void RunPowerOfTwo(Complex* values, int64_t n, bool inverse) const;
  void RunBluestein(Complex* values, bool inverse);

  int64_t n_ = 0;
  int64_t padded_ = 0;           // the length of the convolution, or n_
  std::vector<Complex> roots_;   // exp(-2 pi i k / padded_), k < padded_ / 2
  std::vector<Complex> chirp_;   // exp(-pi i k^2 / n_)
  std::vector<Complex> filter_;  // the transformed conjugate chirp
  std::vector<Complex> work_;
};

// The only element of a tensor of int32 or int64. THROWS if it is another tensor.
int64_t ScalarInput(const Tensor& tensor, const char* subject);
// The same without reading the element.
void CheckScalarInput(const Tensor& tensor, const char* subject);

}  // namespace caffe2rt
