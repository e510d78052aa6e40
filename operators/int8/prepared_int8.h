#pragma once
// PreparedInt8: the prepared form of a filter, made once and shared by all operators that use the
// same memory in the same way (Storage::Derived).
//
//   const Form& form = prepared_.Get(*filter.tensor, zero_point, [&] { return Form(...); });
//
// Steady state: no lock and no allocation, as long as the filter is not written.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

template <class Form>
class PreparedInt8 {
 public:
  // `name` distinguishes what `make` computes from the elements, the shape and the zero point.
  explicit PreparedInt8(std::string name) : name_(std::move(name)) {}

  // REQUIRES: the filter has elements.
  template <class Make>
  const Form& Get(const Tensor& filter, int32_t zero_point, const Make& make) {
    if (form_ != nullptr && filter.storage() == storage_ && zero_point == zero_point_ &&
        filter.dims() == dims_ && storage_->VerifiedVersion(filter.nbytes()) == version_) {
      return *form_;
    }
    form_ = nullptr;
    storage_ = filter.storage();
    version_ = storage_->VerifiedVersion(filter.nbytes());
    zero_point_ = zero_point;
    dims_ = filter.dims();
    const std::string key =
        MakeString(name_, " of ", filter.sizes(), " with zero point ", zero_point);
    form_ = std::static_pointer_cast<const Form>(
        storage_->Derived(key, [&] { return std::make_shared<const Form>(make()); }));
    return *form_;
  }

 private:
  const std::string name_;
  std::shared_ptr<Storage> storage_;  // shared, so that no other gets its address
  std::shared_ptr<const Form> form_;  // shared with the storage and other operators
  std::vector<int64_t> dims_;
  uint64_t version_ = 0;
  int32_t zero_point_ = 0;
};

}  // namespace caffe2rt
