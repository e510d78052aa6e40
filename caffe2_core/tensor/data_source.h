#pragma once
// DataSource: where the data of a storage can be read again byte for byte, such as the file of a weight.
//
//   Tensor weight = WithSource(std::move(values), std::make_shared<PartOfFile>(...));
//
// Storage::ReleaseData uses it if the prepared forms of the data are rounded, as filters in int8 and bf16 are:
// whoever reads the weight later gets the exact numbers.

#include <cstddef>
#include <functional>
#include <memory>

#include "caffe2_core/device/memory.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Thread safe.
class DataSource {
 public:
  virtual ~DataSource() = default;
  // Makes sure that Read can be called as long as this object exists, for example by opening the file.
  // Returns false if the data cannot be read any more.
  virtual bool Keep() = 0;
  // Writes all data. REQUIRES: Keep returned true. THROWS if they have changed meanwhile.
  virtual void Read(void* data) const = 0;
};

// A tensor with the elements and the memory of `values`, whose storage has the source until it is written.
// REQUIRES: `values` is on the CPU, its elements are plain data, and nobody else uses its memory.
Tensor WithSource(Tensor values, std::shared_ptr<DataSource> source);

// The source of the data; null if there is none, or if the data have changed.
std::shared_ptr<DataSource> SourceOf(const Storage& storage);

// Whether the memory belongs to a tensor of WithSource.
bool IsSourced(const MemoryDeleter& deleter);

// Two functions for FormRestorer::restore that do not write the data byte for byte. RoundedRestore writes the
// numbers that the form stands for. With NoRestore, the form is all that its operator reads, but only a source
// can make the data again.
struct RoundedRestore {
  std::function<void(const void* form, void* data)> restore;
  void operator()(const void* form, void* data) const { restore(form, data); }
};
struct NoRestore {
  void operator()(const void* form, void* data) const;  // THROWS
};

}  // namespace caffe2rt
#pragma GCC visibility pop
