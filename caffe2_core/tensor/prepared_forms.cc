#include "caffe2_core/tensor/prepared_forms.h"

#include <utility>

#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

std::atomic<int64_t> made_count{0}, mapped_count{0};

}  // namespace

std::shared_ptr<void> PreparedForms::NewMemory(size_t nbytes) {
  // A tensor, so that the memory counts toward the limits of the CPU's allocator.
  const auto memory = std::make_shared<Tensor>(CPU);
  memory->Resize(static_cast<int64_t>(nbytes));
  return {memory, memory->mutable_data<uint8_t>()};
}

std::shared_ptr<const void> PreparedForms::Get(const std::string& key, size_t nbytes,
                                               const Maker& make, const FormRestorer& restorer) {
  const MutexLock lock(mutex_);
  if (const auto found = entries_.find(key);
      found != entries_.end() && found->second.form.nbytes == nbytes) {
    if (std::exchange(found->second.unused, false)) {
      mapped_count.fetch_add(1);
      MapPagesForReading(found->second.form.data.get(), nbytes);
    }
    return found->second.form.data;
  }
  const std::shared_ptr<void> memory = NewMemory(nbytes);
  make(memory.get());
  CountMade();
  entries_[key] = {.form = {.data = memory, .nbytes = nbytes}, .restorer = restorer};
  any_.store(true, std::memory_order_relaxed);
  if (mapping_ != nullptr) caffe2rt::ReleasePages(mapping_, mapping_bytes_);
  return memory;
}

void PreparedForms::Add(const std::string& key, Form form) {
  const MutexLock lock(mutex_);
  entries_.try_emplace(key, Entry{.form = std::move(form), .unused = true});
  any_.store(true, std::memory_order_relaxed);
}

std::map<std::string, PreparedForms::Form> PreparedForms::List() const {
  const MutexLock lock(mutex_);
  std::map<std::string, Form> listed;
  for (const auto& [key, entry] : entries_) listed.emplace(key, entry.form);
  return listed;
}

std::vector<RestorablePart> PreparedForms::Restorable() const {
  const MutexLock lock(mutex_);
  std::vector<RestorablePart> parts;
  for (const auto& [key, entry] : entries_) {
    if (entry.restorer.restore == nullptr) continue;
    parts.push_back({.restorer = entry.restorer, .form = entry.form.data});
  }
  return parts;
}

void PreparedForms::Clear() {
  const MutexLock lock(mutex_);
  entries_.clear();
  any_.store(false, std::memory_order_relaxed);
}

void PreparedForms::SetMapping(const void* data, size_t nbytes) {
  const MutexLock lock(mutex_);
  mapping_ = data;
  mapping_bytes_ = nbytes;
}

void PreparedForms::ReleasePages() const {
  const MutexLock lock(mutex_);
  if (mapping_ != nullptr) caffe2rt::ReleasePages(mapping_, mapping_bytes_);
}

PreparedForms::Counts PreparedForms::Count() {
  return {.made = made_count.load(), .mapped = mapped_count.load()};
}

void PreparedForms::CountMade() { made_count.fetch_add(1); }

}  // namespace caffe2rt
