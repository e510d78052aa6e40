#include "caffe2_core/tensor/prepared_weight.h"

#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

size_t PreparedWeight::Add(std::string key, size_t nbytes, FormRestorer restorer) {
  for (size_t i = 0; i < forms_.size(); ++i) {
    if (forms_[i].key == key) return i;
  }
  forms_.push_back({.key = std::move(key), .nbytes = nbytes, .restorer = std::move(restorer)});
  storage_ = nullptr;
  return forms_.size() - 1;
}

void PreparedWeight::Clear() {
  forms_.clear();
  storage_ = nullptr;
}

size_t PreparedWeight::nbytes() const {
  size_t sum = 0;
  for (const Form& form : forms_) sum += form.nbytes;
  return sum;
}

void PreparedWeight::PrepareAgain(Form* form, size_t number, const Prepare& prepare) const {
  if (if_changed_ == IfChanged::kUsePlain) {
    form->data = nullptr;
    return;
  }
  if (form->own == nullptr) form->own = PreparedForms::NewMemory(form->nbytes);
  prepare(number, form->own.get());
  PreparedForms::CountMade();
  form->data = form->own;
}

void PreparedWeight::Renew(const Tensor& weight, const Prepare& prepare) {
  const std::shared_ptr<Storage>& storage = weight.storage();
  CAFFE_ENFORCE(storage != nullptr, "a weight of shape ", weight.sizes(),
                " has no memory, so that it cannot be prepared");
  const bool changes = storage == storage_;
  // Nothing is current if `prepare` throws.
  storage_ = nullptr;
  const uint64_t version = storage->VerifiedVersion(weight.nbytes());
  for (size_t i = 0; i < forms_.size(); ++i) {
    Form& form = forms_[i];
    if (changes) {
      PrepareAgain(&form, i, prepare);
    } else {
      form.data = storage->forms().Get(
          form.key, form.nbytes, [&](void* to) { prepare(i, to); }, form.restorer);
    }
  }
  storage_ = storage;
  version_ = version;
}

}  // namespace caffe2rt
