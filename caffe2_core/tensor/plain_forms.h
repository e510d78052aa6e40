#pragma once
// PlainForms: derived forms of a storage that consist of plain bytes, such as a filter in another
// layout. They can be stored in files and used where the file is mapped (io/pack_file.h).
//
//   std::shared_ptr<const void> prepared =
//       PlainForms::Of(weights.storage().get()).Get("layout 16x4", nbytes, make);
//
// A plain form has no pointers and is safe to use with any content. Its key must name everything
// that determines its layout, such as the version of a library, because the file may come from
// another process. The forms of a storage are one of its derived forms, so they are dropped when
// the data changes.
//
// Thread safe. Every call acquires a lock: keep the result, as that of Storage::Derived.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/tensor/storage.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class PlainForms {
 public:
  struct Form {
    std::shared_ptr<const void> data;
    size_t nbytes = 0;
  };

  // The forms of the storage's current data. Keeps no reference to the storage.
  class View {
   public:
    // The form under `key`. If there is none, or if it has another size, which is possible if it
    // was added from a damaged file, `make` creates it, once even if several threads call.
    std::shared_ptr<const void> Get(const std::string& key, size_t nbytes,
                                    const Storage::DerivedMaker& make) const;
    // Adds a form from a file, unless there is one under `key`.
    void Add(const std::string& key, Form form) const;
    std::map<std::string, Form> List() const;
    // States that the data are a read-only private mapping of a file. When a form has been made
    // from them, their pages are released; the system reads them from the file again if they are
    // used.
    void SetFromFile() const;

   private:
    friend class PlainForms;
    View(const Storage* storage, std::shared_ptr<const PlainForms> forms)
        : storage_(storage), forms_(std::move(forms)) {}
    const Storage* const storage_;
    const std::shared_ptr<const PlainForms> forms_;  // shared with the storage
  };

  // REQUIRES: the storage outlives the view.
  static View Of(Storage* storage);

 private:
  mutable Mutex mutex_;
  mutable std::map<std::string, Form> forms_ ABSL_GUARDED_BY(mutex_);
  mutable bool from_file_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
