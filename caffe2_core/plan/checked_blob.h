#pragma once
// What names denote while a concurrent step is checked for conflicts (plan_races.h), and whether
// that has changed since an earlier check.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/memory_range.h"

namespace caffe2rt {

class Blob;
class Workspace;

// What a name denotes in the workspace of a concurrent step. The pointers serve as identities.
struct SharedBlob {
  const void* blob = nullptr;     // null if no blob has this name
  const void* object = nullptr;   // the object in the blob; null if it is empty
  const void* storage = nullptr;  // the storage of the tensor in the blob; null if there is none
  MemoryRange memory;             // its memory
  // The memory of the tensors in the blobs that the object holds. Shared by copies of this struct;
  // null if there is none.
  std::shared_ptr<const std::vector<MemoryRange>> held;
  // Whether the object synchronizes itself; nullopt if that is unknown.
  std::optional<bool> synchronized = false;
};

// What a name denoted when a step was checked.
struct CheckedBlob {
  std::string name;
  std::shared_ptr<const Blob> blob;  // shared with the nets, which keep using it if it is renamed
  bool is_read = false;              // whether the members below were set
  TypeMeta type;
  SharedBlob found;
};

// What the name of `blob`, which may be null, denotes. Reads the object only if `reads` is true.
CheckedBlob DescribeBlob(const std::string& name, std::shared_ptr<const Blob> blob, bool reads);

// Whether the blobs are as they were. `look_up`: whether each name must still denote the same blob.
// A name that denoted none must still denote none in any case.
bool AreUnchanged(const std::vector<CheckedBlob>& checked, const Workspace& ws, bool look_up);

}  // namespace caffe2rt
