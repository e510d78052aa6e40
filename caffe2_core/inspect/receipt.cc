#include "caffe2_core/inspect/receipt.h"

#include <map>
#include <utility>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/running_net.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

uint64_t SumOfStrings(const std::string* strings, int64_t count) {
  uint64_t sum = static_cast<uint64_t>(count);
  for (int64_t i = 0; i < count; ++i) {
    sum = MixRandomKeys(sum, ContentSum(strings[i].data(), strings[i].size()));
  }
  return sum;
}

// The sum of a tensor on the CPU; nullopt for elements that are objects.
std::optional<uint64_t> SumOf(const Tensor& tensor) {
  if (tensor.IsType<std::string>()) {
    return SumOfStrings(tensor.data<std::string>(), tensor.numel());
  }
  if (tensor.dtype().copy() != nullptr) return std::nullopt;
  return ContentSum(tensor.numel() == 0 ? nullptr : tensor.raw_data(), tensor.nbytes());
}

void DescribeOperator(const OperatorDef& def, int position, ReceiptRow* row) {
  row->position = position;
  row->debug_info = def.debug_info();
  const std::vector<UserOperator> users = UserOperatorsOf(def);
  for (const UserOperator& user : users) {
    row->op += MakeString(row->op.empty() ? "" : ", ", user.position, " ", user.text);
  }
  if (users.empty()) row->op = MakeString(position, " ", OperatorText(def));
}

}  // namespace

ReceiptRow ReceiptRowOf(const std::string& name, const Blob& blob) {
  ReceiptRow row = {.blob = name, .type = blob.TypeName()};
  Blob copy;
  if (!CopyBlobToCpu(blob, &copy)) return row;
  if (copy.IsType<std::string>()) {
    row.sum = SumOfStrings(&copy.Get<std::string>(), 1);
    return row;
  }
  const Tensor& tensor = *FindTensor(copy);
  row.type = DataTypeName(tensor.dtype());
  row.shape.assign(tensor.dims().begin(), tensor.dims().end());
  row.sum = SumOf(tensor);
  if (copy.IsType<Int8TensorCPU>()) {
    const auto& quantized = copy.Get<Int8TensorCPU>();
    row.type = "quantized " + row.type;
    row.sum = MixRandomKeys(*row.sum, ContentSum(&quantized.scale, sizeof(quantized.scale)));
    row.sum = MixRandomKeys(*row.sum, static_cast<uint64_t>(quantized.zero_point));
  }
  return row;
}

ReceiptRow MergedReceiptRows(const std::string& name, const std::vector<ReceiptRow>& rows) {
  ReceiptRow merged = {.blob = name, .type = MakeString(rows.size(), " blobs")};
  uint64_t sum = rows.size();
  for (const ReceiptRow& row : rows) {
    sum = MixRandomKeys(sum, RandomKeyOf(MakeString(row.blob, " ", row.type, " ", row.shape)));
    sum = MixRandomKeys(sum, row.sum.value_or(0));
  }
  merged.sum = sum;
  return merged;
}

// Thread safe.
class NestedReceipts::Records {
 public:
  using Path = std::vector<size_t>;  // positions, outermost first

  // Merges the rows of a run of the operator at `path` with those since the outermost operator began.
  void Add(const Path& path, std::vector<ReceiptRow> rows) {
    const MutexLock lock(mutex_);
    std::vector<ReceiptRow>& kept = rows_[path];
    for (size_t i = 0; i < rows.size() && i < kept.size(); ++i) {
      rows[i].sum = MixRandomKeys(kept[i].sum.value_or(0), rows[i].sum.value_or(0));
    }
    kept = std::move(rows);
  }
  // Moves the rows inside the operator at `position` of the outermost net to the end of `to`.
  void Take(size_t position, std::vector<ReceiptRow>* to) {
    const MutexLock lock(mutex_);
    const auto begin = rows_.lower_bound({position}), end = rows_.lower_bound({position + 1});
    for (auto entry = begin; entry != end; ++entry) {
      for (ReceiptRow& row : entry->second) to->push_back(std::move(row));
    }
    rows_.erase(begin, end);
  }

 private:
  Mutex mutex_;
  std::map<Path, std::vector<ReceiptRow>> rows_ ABSL_GUARDED_BY(mutex_);
};

// Observes the operators of every net, and records those that run inside another operator.
class NestedReceipts::Watch final : public ObserverBase<OperatorBase> {
 public:
  Watch(OperatorBase* op, std::weak_ptr<Records> records)
      : ObserverBase<OperatorBase>(op), records_(std::move(records)) {}

  void Stop() override {
    const std::shared_ptr<Records> records = records_.lock();
    const std::vector<size_t> path = RunningNet::Positions();
    if (records == nullptr || path.size() < 2) return;
    const OperatorDef& def = subject_->debug_def();
    std::string text;
    for (const size_t position : path) text += MakeString(text.empty() ? "" : ".", position);
    std::vector<ReceiptRow> rows;
    for (int i = 0; i < def.output_size(); ++i) {
      ReceiptRow row = ReceiptRowOf(def.output(i), *subject_->Outputs()[static_cast<size_t>(i)]);
      row.position = static_cast<int>(path[0]);
      row.debug_info = def.debug_info();
      row.op = MakeString(text, " ", OperatorText(def));
      rows.push_back(std::move(row));
    }
    records->Add(path, std::move(rows));
  }

 private:
  const std::weak_ptr<Records> records_;
};

NestedReceipts::NestedReceipts() : records_(std::make_shared<Records>()) {
  // Creators cannot be removed: without the records, this one does nothing.
  AddGlobalNetObserverCreator([weak = std::weak_ptr(records_)](NetBase* net) {
    if (!weak.expired()) {
      for (OperatorBase* op : net->GetOperators())
        op->AttachObserver(std::make_unique<Watch>(op, weak));
    }
    return std::unique_ptr<ObserverBase<NetBase>>();
  });
}

NestedReceipts::~NestedReceipts() = default;

// Writes the rows of one operator. Operators that run at the same time write different ones.
class ReceiptRecorder::Watch final : public ObserverBase<OperatorBase> {
 public:
  Watch(OperatorBase* op, int position, std::shared_ptr<NestedReceipts::Records> nested,
        std::vector<ReceiptRow>* rows)
      : ObserverBase<OperatorBase>(op),
        position_(position),
        nested_(std::move(nested)),
        rows_(*rows) {}

  void Start() override { TakeNested(); }  // of an earlier run, also one that failed
  void Stop() override {
    TakeNested();
    const OperatorDef& def = subject_->debug_def();
    for (int i = 0; i < def.output_size(); ++i) {
      ReceiptRow row = ReceiptRowOf(def.output(i), *subject_->Outputs()[static_cast<size_t>(i)]);
      DescribeOperator(def, position_, &row);
      rows_.push_back(std::move(row));
    }
  }

 private:
  void TakeNested() {
    rows_.clear();
    if (nested_ != nullptr) nested_->Take(static_cast<size_t>(position_), &rows_);
  }

  const int position_;
  const std::shared_ptr<NestedReceipts::Records> nested_;  // shared with those inside; may be null
  std::vector<ReceiptRow>& rows_;
};

ReceiptRecorder::ReceiptRecorder(NetBase* net, NestedReceipts* nested)
    : net_(net), nested_(nested == nullptr ? nullptr : nested->records_) {
  CAFFE_ENFORCE(net != nullptr, "argument net of ReceiptRecorder is null");
  for (OperatorBase* op : net_->GetOperators()) {
    auto& rows = rows_.emplace_back(std::make_unique<std::vector<ReceiptRow>>());
    const int position = static_cast<int>(rows_.size()) - 1;
    observers_.emplace_back(
        op, op->AttachObserver(std::make_unique<Watch>(op, position, nested_, rows.get())));
  }
}

ReceiptRecorder::~ReceiptRecorder() {
  for (const auto& [op, observer] : observers_) op->DetachObserver(observer);
}

std::vector<ReceiptRow> ReceiptRecorder::Take() {
  std::vector<ReceiptRow> all;
  for (const auto& rows : rows_) {
    for (ReceiptRow& row : *rows) all.push_back(std::move(row));
    rows->clear();
  }
  return all;
}

}  // namespace caffe2rt
