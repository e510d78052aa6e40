#pragma once
// PreparedWeight: what an operator keeps of the prepared forms of a weight (prepared_forms.h).
//
//   PreparedWeight prepared_;                                  // a member
//   const size_t form = prepared_.Add("layout 16x4", nbytes);  // when the operator plans
//   prepared_.Update(W, [&](size_t form, void* to) { ... });   // in each run: does nothing if
//   Multiply(x, prepared_.data(form));                         // the weight has not changed
//
// Read W only inside the function: then its memory can be released (Storage::ReleaseData) if the forms
// were added with a way to restore it.
//
// The forms are attached to the weight's storage and shared by all operators that name the same
// key. If the weight's data change in the same storage, as in training, they are made again in
// memory of this object.
//
// Used by one thread at a time. In the steady state Update acquires no lock and allocates nothing,
// even if the weight changes before every run.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class PreparedWeight {
 public:
  // What Update does if the data of the storage have changed.
  enum class IfChanged {
    kPrepare,   // prepares them
    kUsePlain,  // leaves the forms null: preparing them costs more than it saves
  };
  // Writes form number `form`.
  using Prepare = std::function<void(size_t form, void* to)>;

  explicit PreparedWeight(IfChanged if_changed = IfChanged::kPrepare) : if_changed_(if_changed) {}

  // Adds a form and returns its number. Equal keys get the same number.
  size_t Add(std::string key, size_t nbytes, FormRestorer restorer = {});
  size_t size() const { return forms_.size(); }
  // Removes the forms.
  void Clear();
  // The memory of all forms.
  size_t nbytes() const;

  // Prepares the forms of the weight's current data, unless that was done. THROWS if the weight has
  // no memory.
  template <class Function>
  void Update(const Tensor& weight, const Function& prepare) {
    if (!IsCurrent(weight)) Renew(weight, std::cref(prepare));
  }
  // REQUIRES: Update was called after the last Add. Valid until it is called again.
  const void* data(size_t form) const { return forms_[form].data.get(); }
  template <class T>
  const T* data(size_t form) const {
    return static_cast<const T*>(data(form));
  }

 private:
  struct Form {
    std::string key;
    size_t nbytes = 0;
    FormRestorer restorer = {};
    std::shared_ptr<const void> data = nullptr;  // shared with the storage and other operators
    std::shared_ptr<void> own = nullptr;         // the memory of `data` if the weight changes
  };

  bool IsCurrent(const Tensor& weight) const {
    return storage_ != nullptr && weight.storage() == storage_ &&
           storage_->VerifiedVersion(weight.nbytes()) == version_;
  }
  void Renew(const Tensor& weight, const Prepare& prepare);
  void PrepareAgain(Form* form, size_t number, const Prepare& prepare) const;

  const IfChanged if_changed_;
  std::vector<Form> forms_;
  // Of the weight that was prepared, at `version_`. Shared, so that no other gets its address.
  std::shared_ptr<Storage> storage_;
  uint64_t version_ = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
