#pragma once
// TensorDifference: how far two tensors are apart, element by element.
//
//   const TensorDifference found = CompareTensors(got, want, {.absolute = 1e-5, .relative = 1e-3});
//   if (!found.within()) std::cerr << found.max_absolute;
//
// Two numbers are within the tolerance if |first - second| <= absolute + relative * |second|, two
// integers or bools if |first - second| <= absolute. Equal infinities are within it, and infinities
// and NaN are otherwise beyond it. Strings must be equal.

#include <cstdint>
#include <string>

#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Tolerance {
  double absolute = 1e-4;
  double relative = 1e-4;
  bool nan_equals_nan = false;
  // Numbers of different types are compared by their values. If false, other types are a mismatch.
  bool any_type = false;
};

struct TensorDifference {
  // Why the elements cannot be compared, such as "shape [2] instead of [3]"; empty if they can be.
  std::string mismatch = {};
  int64_t count = 0;   // elements
  int64_t beyond = 0;  // elements beyond the tolerance, or strings that differ
  // Index of the first element with the largest absolute difference, NaN before all numbers; of
  // strings, of the first that differs. -1 if all elements are equal.
  int64_t worst = -1;
  // The largest |first - second|, and the largest |first - second| / |second| of the elements whose
  // second is not 0. NaN if one of two elements is NaN, or both and NaN does not equal NaN. 0 for
  // strings.
  double max_absolute = 0;
  double max_relative = 0;
  // The largest finite |second|; 0 for strings. A difference is small if it is small beside this.
  double largest = 0;
  // The sums of second^2 and of (first - second)^2 over all elements; 0 for strings.
  double signal = 0;
  double noise = 0;

  // The ratio of signal to noise in dB: 10 log10(signal / noise). 20 dB more are one more correct
  // decimal digit. Infinity if all elements are equal, -infinity if only the second are all 0,
  // otherwise NaN if an element is not finite.
  double SnrDb() const;
  bool within() const { return mismatch.empty() && beyond == 0; }
};

// Compares tensors on any devices. Cost: one pass, and a copy of each tensor that is not on the CPU.
TensorDifference CompareTensors(const Tensor& first, const Tensor& second,
                                const Tolerance& tolerance);
// The same for the tensors in two blobs. Of two quantized tensors, the numbers that the elements
// stand for are compared. It is a mismatch if only one is quantized, or if only one is a tensor.
// Two strings must be equal. Two blobs of the same other type count as equal.
TensorDifference CompareBlobs(const Blob& first, const Blob& second, const Tolerance& tolerance);

}  // namespace caffe2rt
#pragma GCC visibility pop
