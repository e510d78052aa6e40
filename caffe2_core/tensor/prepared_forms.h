#pragma once
// PreparedForms: the data of a storage, prepared for its users, such as a filter in another layout
// or a packed matrix.
//
//   std::shared_ptr<const void> prepared =
//       storage->forms().Get("layout 16x4", nbytes, [&](void* to) { Reorder(data, to); });
//
// A form consists of plain bytes: it has no pointers and is safe to use with any content. Forms can
// therefore be stored in files and used where the file is mapped (io/pack_file.h). The key of a
// form names everything that its bytes depend on besides the data, such as layout, sizes, the part
// of the data and the version of a library, because the file may come from another process.
//
// The forms are shared by all nets of the process that use the storage. The storage drops them when
// its data change. An operator keeps its forms in a PreparedWeight (prepared_weight.h).
//
// Thread safe. Every call acquires a lock, and a maker runs under it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/mutex.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// How to make the data of a storage, or a part of them, from a form.
struct FormRestorer {
  size_t offset = 0, nbytes = 0;  // of the part, in bytes
  // Writes the part, byte for byte, to `data`; a filter in int8 writes the numbers that its bytes stand for
  // (operators/conv/onednn_filters.h). It uses no operator or storage, and may be called by
  // any thread. Empty: the form cannot restore them, because it is rounded or lacks some.
  std::function<void(const void* form, void* data)> restore = nullptr;
};
struct RestorablePart {
  FormRestorer restorer;
  std::shared_ptr<const void> form;
};

class PreparedForms {
 public:
  struct Form {
    std::shared_ptr<const void> data;
    size_t nbytes = 0;
  };
  // Writes the form.
  using Maker = std::function<void(void* form)>;

  PreparedForms() = default;
  PreparedForms(const PreparedForms&) = delete;
  PreparedForms& operator=(const PreparedForms&) = delete;

  // The form under `key`. If there is none, or if it has another size, which is possible if it was
  // added from a damaged file, `make` writes it, once even if several threads call. `restorer` belongs
  // to what `make` writes, and is not used for forms that were added.
  std::shared_ptr<const void> Get(const std::string& key, size_t nbytes, const Maker& make,
                                  const FormRestorer& restorer = {});
  // Adds a form from a file, unless there is one under `key`.
  void Add(const std::string& key, Form form);
  std::map<std::string, Form> List() const;
  // The parts of the data that forms can restore. They may overlap.
  std::vector<RestorablePart> Restorable() const;

  // Whether there may be forms. Clear removes them, and keeps the mapping.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void Clear();

  // States that the data are a read-only private mapping of a file. When a form has been made from
  // them, and in ReleasePages, their pages are released; the system reads them from the file again
  // if they are used.
  void SetMapping(const void* data, size_t nbytes);
  // Does nothing if the data are not mapped.
  void ReleasePages() const;

  // Memory for a form on the CPU.
  static std::shared_ptr<void> NewMemory(size_t nbytes);

  // The number of forms that this process has made, also in memory of operators, and the number of
  // those from files that were used instead.
  struct Counts {
    int64_t made = 0, mapped = 0;
  };
  static Counts Count();
  // Counts a form that was made elsewhere.
  static void CountMade();

 private:
  struct Entry {
    Form form;
    bool unused = false;  // it was added from a file, and nobody has asked for it yet
    FormRestorer restorer = {};
  };

  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  const void* mapping_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t mapping_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
