#pragma once
// Receipt: what a run of a net was given, on what it ran, and a checksum of each of its results. Two
// receipts show whether two runs gave the same bytes, and the first operator that did not.
//
//   Receipt receipt = {.net = def.name()};
//   NestedReceipts nested;                   // optional, before the net is created: nets inside operators
//   ReceiptRecorder recorder(&net, &nested); // optional: the results of every operator
//   net.Run();
//   receipt.outputs.push_back(ReceiptRowOf("y", *ws.GetBlob("y")));
//   receipt.operators = recorder.Take();
//   WriteFileAtomically("a.json", ReceiptAsJson(receipt));
//
//   const ReceiptComparison found = CompareReceipts(ReceiptFromJson(a), ReceiptFromJson(b));
//
// Checksums are those of content_sum.h: they show changes by accident, not forgeries.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A blob at some time.
struct ReceiptRow {
  std::string blob;
  std::string type;  // of the elements; of the object if it is not a tensor
  std::vector<int64_t> shape = {};
  std::optional<uint64_t> sum = {};  // of the elements; none for objects that are not tensors
  // Of a blob that an operator has just written: its position in the net that ran, its text (the
  // user's operators, if it stands for several), and its debug_info.
  int position = -1;
  std::string op = {}, debug_info = {};

  bool SameValue(const ReceiptRow& other) const {
    return type == other.type && shape == other.shape && sum == other.sum;
  }
};

// The row of a blob on any device. The sum of an int8 blob covers its scale and zero point too.
ReceiptRow ReceiptRowOf(const std::string& name, const Blob& blob);

struct Receipt {
  std::string net;                    // its name
  std::optional<uint64_t> seed = {};  // of the random numbers (Workspace::SetRandomSeed)
  uint64_t runs = 1;                  // the results are those of the last one
  std::vector<ReceiptRow> inputs = {};
  ReceiptRow weights = {};  // the sum of the sums of all other blobs that the net read at its start
  std::string version = {}, instruction_set = {}, executor = {};
  int threads = 1;
  bool deterministic = false;
  std::vector<std::string> passes = {};
  std::vector<ReceiptRow> outputs = {};
  // What every operator wrote, in the order of the net. Empty if it was not recorded.
  std::vector<ReceiptRow> operators = {};
};

// One row for several, for Receipt::weights: its sum is that of their names and values.
ReceiptRow MergedReceiptRows(const std::string& name, const std::vector<ReceiptRow>& rows);

// Records what operators of nets inside operators write: of those nets that are created while it
// exists, as they run. An operator that runs several times in a run of the outer net has one row, whose sum is that of
// all its results in turn. The operator of a row is named by the positions on the way to it: "6.0 UniformFill".
class NestedReceipts {
 public:
  NestedReceipts();
  ~NestedReceipts();
  NestedReceipts(const NestedReceipts&) = delete;
  NestedReceipts& operator=(const NestedReceipts&) = delete;

 private:
  friend class ReceiptRecorder;
  class Records;
  class Watch;
  const std::shared_ptr<Records>
      records_;  // shared with the observers, which may outlive this object
};

// Records what the operators of a net write in its last run. Works with every executor.
class ReceiptRecorder {
 public:
  // Without `nested`, operators of nets inside operators are not recorded. REQUIRES: both outlive this
  // object, and the net is not running.
  explicit ReceiptRecorder(NetBase* net, NestedReceipts* nested = nullptr);
  ~ReceiptRecorder();
  ReceiptRecorder(const ReceiptRecorder&) = delete;
  ReceiptRecorder& operator=(const ReceiptRecorder&) = delete;
  // In the order of the net; rows of nested operators come before those of the operator around them.
  // REQUIRES: the net is not running.
  std::vector<ReceiptRow> Take();

 private:
  class Watch;
  NetBase* const net_;
  const std::shared_ptr<NestedReceipts::Records> nested_;       // may be null
  std::vector<std::unique_ptr<std::vector<ReceiptRow>>> rows_;  // by operator
  std::vector<std::pair<OperatorBase*, const ObserverBase<OperatorBase>*>> observers_;
};

// A JSON object, ending in a newline, with a format number. ReceiptFromJson THROWS if `json` is not a
// receipt; `subject` names it in the error.
std::string ReceiptAsJson(const Receipt& receipt);
Receipt ReceiptFromJson(const std::string& json, const std::string& subject);

// A row that differs. A row that only one receipt has is null in the other.
struct ReceiptDifference {
  const ReceiptRow* first = nullptr;
  const ReceiptRow* second = nullptr;
};

// Refers to the receipts.
struct ReceiptComparison {
  std::vector<ReceiptDifference> outputs;    // in the order of the first receipt
  std::vector<ReceiptDifference> operators;  // in the order of the net
  bool has_operators = false;                // both receipts have recorded them
  // What else differs, one line each: "seed: 1 and 2", "input \"x\"". It may be the cause.
  std::vector<std::string> conditions;

  bool equal() const { return outputs.empty() && operators.empty(); }
};

ReceiptComparison CompareReceipts(const Receipt& first, const Receipt& second);
ReceiptComparison CompareReceipts(Receipt&&, const Receipt&) = delete;
ReceiptComparison CompareReceipts(const Receipt&, Receipt&&) = delete;

}  // namespace caffe2rt
#pragma GCC visibility pop
