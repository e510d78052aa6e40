#include "operators/dataset/tree_cursor.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace caffe2rt {
namespace {

constexpr std::string_view kLengths = "lengths";

// Far above the number of rows of any tensor. Positions from files may be larger.
constexpr int64_t kMostRows = int64_t{1} << 62;

// Whether the field contains lengths. `*prefix` is then the prefix of the fields that they split.
bool IsLengths(const std::string& name, std::string* prefix) {
  if (name == kLengths) {
    prefix->clear();
    return true;
  }
  if (!name.ends_with(":lengths")) return false;
  *prefix = name.substr(0, name.size() - kLengths.size() - 1);
  return true;
}

}  // namespace

DatasetFields::DatasetFields(std::vector<std::string> names) : names_(std::move(names)) {
  std::map<std::string, size_t> by_prefix;  // of the fields that lengths split
  std::map<size_t, size_t> domain_of_lengths;
  std::string prefix;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!IsLengths(names_[i], &prefix)) continue;
    by_prefix[prefix] = i;
    lengths_.push_back(i);
    domain_of_lengths[i] = lengths_.size();
  }
  for (size_t i = 0; i < names_.size(); ++i) {
    size_t domain = 0;
    // From the whole name to its shortest prefix.
    for (size_t end = names_[i].size(); end != std::string::npos && !names_[i].empty();) {
      const auto lengths = by_prefix.find(names_[i].substr(0, end));
      if (lengths != by_prefix.end() && lengths->second != i) {
        CAFFE_ENFORCE_LT(lengths->second, i, "position of field \"", names_[lengths->second],
                         "\", want it before field \"", names_[i], "\", which it splits");
        domain = domain_of_lengths[lengths->second];
        break;
      }
      end = end == 0 ? std::string::npos : names_[i].rfind(':', end - 1);
    }
    domains_.push_back(domain);
  }
}

void DatasetRows::Bind(const DatasetFields& fields, const Operator<CPUContext>& op, int first_input,
                       bool scalars) {
  fields_ = &fields;
  tensors_.clear();
  rows_.assign(fields.num_domains(), INT64_MAX);
  for (size_t i = 0; i < fields.size(); ++i) {
    const int input = first_input + static_cast<int>(i);
    const Tensor& tensor = op.Input(input);
    CAFFE_ENFORCE(scalars || tensor.dim() > 0, "input ", input, " (", fields.name(i),
                  ") has no dimension, want one for its rows");
    int64_t& rows = rows_[fields.domain(i)];
    rows = std::min(rows, tensor.dim() > 0 ? tensor.dim(0) : 0);
    tensors_.push_back(&tensor);
  }
  for (int64_t& rows : rows_) rows = rows == INT64_MAX ? 0 : rows;  // a domain without fields
  for (size_t domain = 1; domain < fields.num_domains(); ++domain) {
    const size_t field = fields.lengths_of(domain);
    // As in Caffe2, the type of lengths without rows does not matter.
    CAFFE_ENFORCE(tensors_[field]->numel() <= 0 || tensors_[field]->IsType<int32_t>(), "input ",
                  first_input + static_cast<int>(field), " (", fields.name(field), ") is ",
                  tensors_[field]->dtype().name(), ", want int32");
  }
}

void DatasetRows::Advance(int64_t records, DatasetOffsets* offsets,
                          std::vector<int64_t>* counts) const {
  const size_t domains = fields_->num_domains();
  if (offsets->empty()) offsets->assign(domains, 0);
  CAFFE_ENFORCE_EQ(offsets->size(), domains,
                   "numbers in the position of the cursor, want one for each domain: the dataset "
                   "has another structure, or ReadRandomBatch moved the cursor");
  counts->assign(domains, 0);
  CAFFE_ENFORCE_GE((*offsets)[0], 0, "position of the cursor");
  (*counts)[0] = std::clamp<int64_t>(rows_[0] - (*offsets)[0], 0, std::max<int64_t>(records, 0));
  for (size_t domain = 1; domain < domains; ++domain) {
    const size_t field = fields_->lengths_of(domain), outer = fields_->domain(field);
    const int64_t begin = (*offsets)[outer], count = (*counts)[outer];
    int64_t total = 0;
    if (count > 0) {
      CAFFE_ENFORCE(begin >= 0 && begin <= tensors_[field]->numel() - count, "rows ", begin, " to ",
                    begin + count, " of field \"", fields_->name(field), "\" are read, want 0 to ",
                    tensors_[field]->numel(), ": the lengths that split it do not fit");
      const int32_t* const lengths = tensors_[field]->data<int32_t>() + begin;
      for (int64_t i = 0; i < count; ++i) total += lengths[i];
    }
    const int64_t position = (*offsets)[domain];
    CAFFE_ENFORCE(position >= -kMostRows && position <= kMostRows, "position of the cursor is ",
                  position, " in what field \"", fields_->name(field), "\" splits, want 0 to ",
                  rows_[domain]);
    CAFFE_ENFORCE(position + total <= rows_[domain], "lengths in field \"", fields_->name(field),
                  "\" reach row ", position + total, " of what they split, which has ",
                  rows_[domain], " rows");
    (*counts)[domain] = total;
  }
  for (size_t domain = 0; domain < domains; ++domain) (*offsets)[domain] += (*counts)[domain];
}

void DatasetRows::CopyRows(size_t field, int64_t begin, int64_t count, CPUContext* context,
                           Tensor* out) const {
  const Tensor& in = *tensors_[field];
  CAFFE_ENFORCE(in.dim() > 0 && begin >= 0 && count >= 0 && count <= in.dim(0) - begin, "rows ",
                begin, " to ", begin + count, " of field \"", fields_->name(field),
                "\" are read, which has shape ", in.sizes());
  std::vector<int64_t> dims = in.dims();
  dims[0] = count;
  out->Resize(dims);
  if (!in.dtype().IsSet()) return;
  void* const to = out->raw_mutable_data(in.dtype());
  if (out->numel() == 0) return;
  const size_t row_bytes = static_cast<size_t>(in.size_from_dim(1)) * in.itemsize();
  context->CopyItemsSameDevice(
      in.dtype(), static_cast<size_t>(out->numel()),
      static_cast<const char*>(in.raw_data()) + static_cast<size_t>(begin) * row_bytes, to);
}

TreeCursor& CursorInput(const OperatorBase& op, int others) {
  const auto& cursor = op.Input<TreeCursorBlob>(0);
  CAFFE_ENFORCE(cursor != nullptr, "input 0 (cursor) holds no cursor");
  CAFFE_ENFORCE_EQ(static_cast<size_t>(op.InputSize() - others), cursor->fields.size(),
                   "inputs for the fields of the dataset, want one for each field of the cursor");
  return *cursor;
}

}  // namespace caffe2rt
