#include <map>
#include <set>
#include <string>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/inspect/receipt.h"

namespace caffe2rt {
namespace {

// Finds rows by their blob, and by how often it was written before.
class Rows {
 public:
  using Key = std::pair<std::string, int>;

  explicit Rows(const std::vector<ReceiptRow>& rows) {
    std::map<std::string, int> writes;
    for (const ReceiptRow& row : rows) {
      const Key key(row.blob, writes[row.blob]++);
      keys_.push_back(key);
      by_key_[key] = &row;
    }
  }
  const std::vector<Key>& keys() const { return keys_; }  // in the order of the rows
  const ReceiptRow* Find(const Key& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Key> keys_;
  std::map<Key, const ReceiptRow*> by_key_;
};

// The rows that differ, in the order of the first list; then those that only the second one has.
std::vector<ReceiptDifference> DifferencesOf(const std::vector<ReceiptRow>& first,
                                             const std::vector<ReceiptRow>& second) {
  const Rows a(first), b(second);
  std::vector<ReceiptDifference> found;
  for (const Rows::Key& key : a.keys()) {
    const ReceiptRow* const here = a.Find(key);
    const ReceiptRow* const there = b.Find(key);
    if (there == nullptr || !here->SameValue(*there)) found.push_back({here, there});
  }
  for (const Rows::Key& key : b.keys()) {
    if (a.Find(key) == nullptr) found.push_back({nullptr, b.Find(key)});
  }
  return found;
}

class Conditions {
 public:
  template <class T>
  void Add(const char* what, const T& first, const T& second) {
    if (!(first == second)) list_.push_back(MakeString(what, ": ", first, " and ", second));
  }
  void Add(std::string line) { list_.push_back(std::move(line)); }
  std::vector<std::string> Take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

std::string SeedText(const std::optional<uint64_t>& seed) {
  return seed.has_value() ? MakeString(*seed) : std::string("none");
}

std::string PassesText(const std::vector<std::string>& passes) {
  std::string text;
  for (const std::string& pass : passes) text += (text.empty() ? "" : " ") + pass;
  return text.empty() ? "none" : text;
}

}  // namespace

ReceiptComparison CompareReceipts(const Receipt& first, const Receipt& second) {
  ReceiptComparison result;
  result.outputs = DifferencesOf(first.outputs, second.outputs);
  result.has_operators = !first.operators.empty() && !second.operators.empty();
  if (result.has_operators) result.operators = DifferencesOf(first.operators, second.operators);
  Conditions conditions;
  conditions.Add("net", first.net, second.net);
  conditions.Add("seed", SeedText(first.seed), SeedText(second.seed));
  conditions.Add("runs", first.runs, second.runs);
  for (const ReceiptDifference& input : DifferencesOf(first.inputs, second.inputs)) {
    const ReceiptRow& row = input.first != nullptr ? *input.first : *input.second;
    const char* const only = input.first == nullptr    ? ", only in the second"
                             : input.second == nullptr ? ", only in the first"
                                                       : "";
    conditions.Add(MakeString("input \"", row.blob, "\"", only));
  }
  if (!first.weights.SameValue(second.weights)) conditions.Add("weights");
  conditions.Add("version", first.version, second.version);
  conditions.Add("instruction set", first.instruction_set, second.instruction_set);
  conditions.Add("threads", first.threads, second.threads);
  conditions.Add("executor", first.executor, second.executor);
  conditions.Add("deterministic", first.deterministic, second.deterministic);
  conditions.Add("passes", PassesText(first.passes), PassesText(second.passes));
  result.conditions = conditions.Take();
  return result;
}

}  // namespace caffe2rt
