#include "caffe2_core/tensor/plain_forms.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace caffe2rt {
namespace {

constexpr char kKey[] = "plain forms";

// Releases the whole pages of a mapping.
void DropPages(const Storage& storage) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto data = reinterpret_cast<uintptr_t>(storage.data());
  const uintptr_t begin = (data + page - 1) / page * page;
  const uintptr_t end = (data + storage.capacity_bytes()) / page * page;
  // A failure only means that the pages stay.
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

PlainForms::View PlainForms::Of(Storage* storage) {
  return {storage, std::static_pointer_cast<const PlainForms>(storage->Derived(
                       kKey, [] { return std::make_shared<const PlainForms>(); }))};
}

std::shared_ptr<const void> PlainForms::View::Get(const std::string& key, size_t nbytes,
                                                  const Storage::DerivedMaker& make) const {
  const MutexLock lock(forms_->mutex_);
  Form& form = forms_->forms_[key];
  if (form.data == nullptr || form.nbytes != nbytes) {
    form = {.data = make(), .nbytes = nbytes};
    if (forms_->from_file_ && storage_->read_only()) DropPages(*storage_);
  }
  return form.data;
}

void PlainForms::View::Add(const std::string& key, Form form) const {
  const MutexLock lock(forms_->mutex_);
  Form& old = forms_->forms_[key];
  if (old.data == nullptr) old = std::move(form);
}

std::map<std::string, PlainForms::Form> PlainForms::View::List() const {
  const MutexLock lock(forms_->mutex_);
  std::map<std::string, Form> listed;
  for (const auto& [key, form] : forms_->forms_) {
    if (form.data != nullptr) listed.emplace(key, form);  // null if `make` has thrown
  }
  return listed;
}

void PlainForms::View::SetFromFile() const {
  const MutexLock lock(forms_->mutex_);
  forms_->from_file_ = true;
}

}  // namespace caffe2rt
