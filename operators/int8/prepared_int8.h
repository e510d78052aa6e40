#pragma once
// PreparedInt8: the prepared form of a filter, made once and shared by all operators that use the
// same memory in the same way (tensor/prepared_weight.h).
//
//   const void* form = prepared_.Get(*filter.tensor, {.zero_point = z, .nbytes = nbytes},
//                                    [&](void* to) { PackInt8Weights(..., to); });
//
// Steady state: no lock and no allocation.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// What a form depends on besides the elements and the shape of the filter.
struct Int8FormOptions {
  int32_t zero_point = 0;
  int64_t group = 1;
  size_t nbytes = 0;  // the size of the form
  bool operator==(const Int8FormOptions&) const = default;
};

class PreparedInt8 {
 public:
  // `name` distinguishes what `make` writes, with the instruction set that it writes it for.
  explicit PreparedInt8(std::string name) : name_(std::move(name)) {}

  // REQUIRES: the filter has elements. The result is valid until the next call.
  template <class Make>
  const char* Get(const Tensor& filter, const Int8FormOptions& options, const Make& make) {
    if (prepared_.size() == 0 || options != options_ || filter.dims() != dims_) {
      options_ = options;
      dims_ = filter.dims();
      prepared_.Clear();
      prepared_.Add(MakeString(name_, " of ", filter.sizes(), " in ", options.group,
                               " groups with zero point ", options.zero_point),
                    options.nbytes);
    }
    prepared_.Update(filter, [&](size_t, void* to) { make(to); });
    return prepared_.data<char>(0);
  }

 private:
  const std::string name_;
  PreparedWeight prepared_;
  Int8FormOptions options_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
