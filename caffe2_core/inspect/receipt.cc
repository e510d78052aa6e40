#include "caffe2_core/inspect/receipt.h"

#include <utility>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
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

// Writes the rows of one operator. Operators that run at the same time write different ones.
class ReceiptRecorder::Watch final : public ObserverBase<OperatorBase> {
 public:
  Watch(OperatorBase* op, int position, std::vector<ReceiptRow>* rows)
      : ObserverBase<OperatorBase>(op), position_(position), rows_(*rows) {}

  void Stop() override {
    rows_.clear();
    const OperatorDef& def = subject_->debug_def();
    for (int i = 0; i < def.output_size(); ++i) {
      ReceiptRow row = ReceiptRowOf(def.output(i), *subject_->Outputs()[static_cast<size_t>(i)]);
      DescribeOperator(def, position_, &row);
      rows_.push_back(std::move(row));
    }
  }

 private:
  const int position_;
  std::vector<ReceiptRow>& rows_;
};

ReceiptRecorder::ReceiptRecorder(NetBase* net) : net_(net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of ReceiptRecorder is null");
  for (OperatorBase* op : net_->GetOperators()) {
    auto& rows = rows_.emplace_back(std::make_unique<std::vector<ReceiptRow>>());
    const int position = static_cast<int>(rows_.size()) - 1;
    observers_.emplace_back(op,
                            op->AttachObserver(std::make_unique<Watch>(op, position, rows.get())));
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
