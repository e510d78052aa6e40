#pragma once
// Declares the types of objects that hold blobs of their own, such as the scope of Do. Operators
// may make these blobs share memory with blobs of a workspace, so the check for conflicts between
// concurrent steps visits them (caffe2_core/plan/plan_races.h). Such an object belongs to the
// workspace in which it was made: a queue does not accept it.
//
//   DeclareBlobHolder<Scope>([](const Scope& scope, const BlobVisitor& visit) {
//     for (const auto& blob : scope.blobs) visit(*blob);
//   });
//
// A declaration is never removed. The functions of this header are thread safe.

#include <functional>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

using BlobVisitor = std::function<void(const Blob&)>;

namespace internal {
void DeclareHolder(TypeMeta type, void (*visit)(const void* object, const BlobVisitor& visitor));
}

// Declares T. `Visit` is called with an object and a visitor, which it calls for each blob that
// others do not reach by a name. Declaring a type again has no effect.
template <class T, class Visit>
void DeclareBlobHolder(Visit) {
  static_assert(std::is_empty_v<Visit>, "want a lambda without captures");
  internal::DeclareHolder(TypeMeta::Make<T>(), [](const void* object, const BlobVisitor& visitor) {
    Visit()(*static_cast<const T*>(object), visitor);
  });
}

// Whether the blob holds an object of a declared type.
bool IsBlobHolder(const Blob& blob);
// Visits the blobs that the object in `blob` holds, and those that objects in these hold, up to
// kMaxNetDepth levels.
void VisitHeldBlobs(const Blob& blob, const BlobVisitor& visit);

}  // namespace caffe2rt
#pragma GCC visibility pop
