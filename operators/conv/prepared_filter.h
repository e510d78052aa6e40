#pragma once
// The filter of a built-in kernel in the layout that the kernel reads.
//
//   PreparedFilter prepared_{"winograd 64x64", size_in_floats};                    // a member
//   const float* filter = prepared_.Get(W, [&](const float* plain, float* prepared) { ... });
//
// The prepared form is attached to the filter's storage and shared by all operators that name the
// same form. If the filter's data change, it is made again, in memory of this object. Used by one
// thread at a time. In the steady state nothing is allocated and no lock is acquired.

#include <memory>
#include <string>
#include <utility>

#include "caffe2_core/tensor/plain_forms.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

class PreparedFilter {
 public:
  // `form` names layout and sizes.
  PreparedFilter(std::string form, int64_t floats) : form_(std::move(form)), floats_(floats) {}

  // Calls prepare(plain, prepared) if the filter is not prepared. THROWS if the filter has no float
  // data.
  template <class Prepare>
  const float* Get(const Tensor& filter, const Prepare& prepare) {
    const bool same = filter.storage() == storage_ && storage_ != nullptr;
    const float* const plain = filter.data<float>();
    const uint64_t version =
        filter.storage() != nullptr ? filter.storage()->VerifiedVersion(filter.nbytes()) : 0;
    if (!same || version != version_) {
      if (same) {
        if (own_ == nullptr) own_ = NewFilterMemory(floats_);
        prepare(plain, own_.get());
        prepared_ = own_;
      } else {
        prepared_ = PlainForms::Of(filter.storage().get())
                        .Get(form_, static_cast<size_t>(floats_) * sizeof(float), [&] {
                          const std::shared_ptr<float> memory = NewFilterMemory(floats_);
                          prepare(plain, memory.get());
                          return memory;
                        });
      }
      storage_ = filter.storage();
      version_ = version;
    }
    return static_cast<const float*>(prepared_.get());
  }

 private:
  const std::string form_;
  const int64_t floats_;
  std::shared_ptr<const void> prepared_;
  std::shared_ptr<float> own_;        // the memory of `prepared_` if the filter changes
  std::shared_ptr<Storage> storage_;  // of the filter that was prepared, at `version_`
  uint64_t version_ = 0;
};

}  // namespace caffe2rt
