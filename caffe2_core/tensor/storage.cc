#include "caffe2_core/tensor/storage.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/tensor/data_source.h"

namespace caffe2rt {

// How to restore the released data of a storage.
class ReleasedData {
 public:
  Mutex mutex;
  std::vector<RestorablePart> parts ABSL_GUARDED_BY(mutex);
};

namespace {

// Less memory is not worth the time.
constexpr size_t kLeastReleased = size_t{64} << 10;

// Those of the parts that are needed to restore bytes 0 to `nbytes` - 1; empty if they cannot.
std::vector<RestorablePart> PartsCovering(size_t nbytes, std::vector<RestorablePart> parts) {
  std::sort(parts.begin(), parts.end(), [](const RestorablePart& a, const RestorablePart& b) {
    return a.restorer.offset != b.restorer.offset ? a.restorer.offset < b.restorer.offset
                                                  : a.restorer.nbytes > b.restorer.nbytes;
  });
  std::vector<RestorablePart> covering;
  size_t covered = 0;
  for (RestorablePart& part : parts) {
    const size_t end = part.restorer.offset + part.restorer.nbytes;
    if (part.restorer.offset > covered) return {};
    if (end <= covered) continue;
    covered = end;
    covering.push_back(std::move(part));
  }
  return covered == nbytes ? std::move(covering) : std::vector<RestorablePart>();
}

bool IsRounded(const RestorablePart& part) {
  return part.restorer.restore.target<RoundedRestore>() != nullptr;
}
bool CannotRestore(const RestorablePart& part) {
  return part.restorer.restore.target<NoRestore>() != nullptr;
}
bool IsExact(const RestorablePart& part) { return !IsRounded(part) && !CannotRestore(part); }

// All data, from their source.
RestorablePart FromSource(std::shared_ptr<DataSource> source, size_t nbytes) {
  return {.restorer = {.offset = 0,
                       .nbytes = nbytes,
                       .restore = [source = std::move(source)](const void*,
                                                               void* data) { source->Read(data); }},
          .form = nullptr};
}

template <class Predicate>
std::vector<RestorablePart> Those(const std::vector<RestorablePart>& parts, Predicate which) {
  std::vector<RestorablePart> those;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(those), which);
  return those;
}

// From what the first `nbytes` bytes of the storage are restored: from exact forms, or else from their source
// if forms are all that is used of them, or else from rounded forms. Empty if they cannot be restored.
std::vector<RestorablePart> HowToRestore(const Storage& storage, size_t nbytes,
                                         const std::vector<RestorablePart>& forms) {
  std::vector<RestorablePart> exact = PartsCovering(nbytes, Those(forms, IsExact));
  if (!exact.empty() || PartsCovering(nbytes, forms).empty()) return exact;
  std::shared_ptr<DataSource> source = SourceOf(storage);
  if (source != nullptr && source->Keep()) return {FromSource(std::move(source), nbytes)};
  return PartsCovering(nbytes, Those(forms, std::not_fn(CannotRestore)));
}

// Once in a process: a net has many such weights.
void WarnOfRounding(size_t nbytes) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING)
      << "a weight of " << nbytes
      << " bytes, whose memory was released, is read again: it has the rounded numbers that "
         "the net computes with, because it comes from no file that could be read again "
         "(PredictorOptions::release_weights = false keeps it)";
}

}  // namespace

constinit thread_local int TransientWrites::depth_ = 0;

Storage::Storage(void* data, size_t capacity_bytes, MemoryDeleter deleter, DeviceType device,
                 TypeMeta meta, int64_t count)
    : data_(data),
      capacity_bytes_(capacity_bytes),
      device_(device),
      deleter_(deleter),
      meta_(meta),
      constructed_(meta.dtor() != nullptr ? count : 0) {}

Storage::~Storage() {
  if (data_ == nullptr) return;
  if (constructed_ > 0) meta_.dtor()(data_, static_cast<size_t>(constructed_));
  deleter_(data_);
}

size_t Storage::ReleaseData() {
  const bool may_change = !read_only() || exposed_.load(std::memory_order_relaxed);
  if (may_change || unreadable() || device_ != CPU || !meta_.IsPlainData() ||
      capacity_bytes_ < kLeastReleased || !forms_.any()) {
    return 0;
  }
  std::vector<RestorablePart> parts = HowToRestore(*this, capacity_bytes_, forms_.Restorable());
  if (parts.empty()) return 0;
  if (released_ == nullptr) released_ = std::make_unique<ReleasedData>();
  const MutexLock lock(released_->mutex);
  released_->parts = std::move(parts);
  unreadable_.store(true, std::memory_order_release);
  ReleasePages(data_, capacity_bytes_);
  return capacity_bytes_;
}

void Storage::RestoreData() {
  if (!released()) return;
  bool is_rounded = false;
  {
    const MutexLock lock(released_->mutex);
    if (!released()) return;
    for (const RestorablePart& part : released_->parts) {
      is_rounded = is_rounded || IsRounded(part);
      part.restorer.restore(part.form.get(), static_cast<char*>(data_) + part.restorer.offset);
    }
    released_->parts.clear();
    unreadable_.store(false, std::memory_order_release);
  }
  if (is_rounded) WarnOfRounding(capacity_bytes_);  // a log sink may read the weight
}

void Storage::VerifyContent(size_t nbytes) {
  const uint64_t sum = ContentSum(data_, std::min(nbytes, capacity_bytes_));
  if (content_sum_.load(std::memory_order_acquire) == sum) return;
  // Increment the version first: a thread that reads the new checksum must also read the new
  // version.
  MoveVersion();
  content_sum_.store(sum, std::memory_order_release);
}

}  // namespace caffe2rt
