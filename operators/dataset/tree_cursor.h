#pragma once
// Datasets of nested lists. A dataset consists of fields, each of which is a tensor whose dimension
// 0 counts rows. The names of the fields describe how they belong together:
//
//   dense                  one row for each record
//   floats:lengths         one row for each record, int32: how many rows of floats:* belong to it
//   floats:values          as many rows as the sum of floats:lengths
//   lists:lengths          one row for each record
//   lists:values:lengths   as many rows as the sum of lists:lengths
//   lists:values:values    as many rows as the sum of lists:values:lengths
//
// A field whose name ends with ":lengths" splits the fields whose names begin with what is before
// that: the fields "P" and "P:..." are split by "P:lengths", for the longest such P. Fields that
// are split by the same lengths have the same number of rows: they form a domain. Domain 0 consists
// of the fields that no lengths split; its rows are the records of the dataset.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<std::string> kDatasetFields{
    "fields",
    "names of the fields, such as \"floats:lengths\"; lengths come before what they split"};

// The structure of a dataset. Immutable.
class DatasetFields {
 public:
  // THROWS if a field comes before the lengths that split it.
  explicit DatasetFields(std::vector<std::string> names);

  size_t size() const { return names_.size(); }
  const std::string& name(size_t field) const { return names_[field]; }
  const std::vector<std::string>& names() const { return names_; }
  // The domain of the field.
  size_t domain(size_t field) const { return domains_[field]; }
  // Domain 0, and one for each field of lengths. A domain comes after that of its lengths.
  size_t num_domains() const { return lengths_.size() + 1; }
  // The field of lengths that splits the domain. REQUIRES: domain > 0.
  size_t lengths_of(size_t domain) const { return lengths_[domain - 1]; }

 private:
  std::vector<std::string> names_;
  std::vector<size_t> domains_;
  std::vector<size_t> lengths_;  // fields
};

// A position in a dataset: the number of rows before it, for each domain. Empty means the begin.
using DatasetOffsets = std::vector<int64_t>;

// The tensors of a dataset. Keeps its vectors between runs.
class DatasetRows {
 public:
  // Uses the inputs of `op` from `first_input` on, one for each field. THROWS if an input is not a
  // tensor on the CPU, or has no dimension unless `scalars` allows it (it then has no rows), or if
  // lengths that have rows are not int32. REQUIRES: `fields` and the inputs outlive the use of this
  // object.
  void Bind(const DatasetFields& fields, const Operator<CPUContext>& op, int first_input,
            bool scalars = false);

  const Tensor& tensor(size_t field) const { return *tensors_[field]; }
  // The number of rows of a domain: the lowest of its fields.
  int64_t rows(size_t domain) const { return rows_[domain]; }
  // Moves `offsets` forward by `records` records, or to the end, and sets `counts` to the number of
  // rows between the old and the new offsets, for each domain. Empty offsets are the begin. THROWS
  // if the offsets are those of another structure, or if lengths reach beyond the rows of their
  // domain; `offsets` and `counts` are then unspecified.
  void Advance(int64_t records, DatasetOffsets* offsets, std::vector<int64_t>* counts) const;
  // Copies rows [begin, begin + count) of a field. THROWS if they are out of range.
  void CopyRows(size_t field, int64_t begin, int64_t count, CPUContext* context, Tensor* out) const;

 private:
  const DatasetFields* fields_ = nullptr;
  std::vector<const Tensor*> tensors_;
  std::vector<int64_t> rows_;  // by domain
};

// The position of readers that share it, and the structure of their dataset. Thread safe if
// `offsets` is only used under the lock.
struct TreeCursor {
  explicit TreeCursor(DatasetFields of) : fields(std::move(of)) {}
  const DatasetFields fields;
  Mutex mutex;
  DatasetOffsets offsets ABSL_GUARDED_BY(mutex);
};

// The content of a blob.
using TreeCursorBlob = std::unique_ptr<TreeCursor>;

// The cursor in input 0. THROWS if there is none, or if the operator does not have one input for
// each field after its first `others` inputs.
TreeCursor& CursorInput(const OperatorBase& op, int others);

}  // namespace caffe2rt
