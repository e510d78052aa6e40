#include "tests/oracle/accepted_calls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/op_schema.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/isolate.h"

namespace caffe2rt::test {
namespace {

using Calls = std::vector<oracle::OperatorCase>;
using Dims = std::vector<int64_t>;

// The dims with axes of size 1 added, or taken away, or joined, at either end.
std::vector<Dims> DimsOfRank(const Dims& dims, size_t rank) {
  std::vector<Dims> all(2, dims);
  if (rank >= dims.size()) {
    all[0].insert(all[0].begin(), rank - dims.size(), 1);
    all[1].resize(rank, 1);
    return all;
  }
  const auto gone = static_cast<int64_t>(dims.size() - rank);
  all[0].erase(all[0].begin(), all[0].begin() + gone);
  all[1].resize(rank);
  if (rank > 0) {
    all.push_back(all[0]);
    for (int64_t i = 0; i < gone; ++i) all.back()[0] *= dims[static_cast<size_t>(i)];
  }
  return all;
}

// What an input accepts, as far as it is known.
class Accepted {
 public:
  Accepted(const Calls& calls, int input) : input_(input) {
    for (const oracle::OperatorCase& call : calls) {
      const TensorProto tensor = RecordedTensor(call.input(input));
      if (tensor.data_type() == TensorProto::UNDEFINED) continue;
      types_.insert(tensor.data_type());
      ranks_.insert(tensor.dims_size());
    }
  }
  bool empty() const { return types_.empty(); }

  // Runs the call with each type and rank that is not known to be accepted: of this input, and of all
  // inputs that are like it.
  void Try(const oracle::OperatorCase& call) {
    const TensorProto tensor = RecordedTensor(call.input(input_));
    if (tensor.data_type() == TensorProto::UNDEFINED) return;
    const Dims dims = DimsOf(tensor);
    for (const TensorProto_DataType type : TriedTypes()) {
      if (call.input(input_).has_int8() || types_.contains(type)) continue;
      if (Runs(WithInput(call, input_, dims, type)) || Runs(WithTypes(call, type)))
        types_.insert(type);
    }
    for (int rank = 0; rank <= kMostTriedRank; ++rank) {
      for (const Dims& other : DimsOfRank(dims, static_cast<size_t>(rank))) {
        if (ranks_.contains(rank)) break;
        if (Runs(WithInput(call, input_, other, tensor.data_type())) ||
            Runs(WithDims(call, other))) {
          ranks_.insert(rank);
        }
      }
    }
  }

  AcceptedInput Result() const {
    AcceptedInput result{{}, {ranks_.begin(), ranks_.end()}};
    for (const TensorProto_DataType type : TriedTypes()) {
      if (types_.contains(type)) result.types.push_back(type);
    }
    std::erase_if(result.ranks, [](int rank) { return rank > kMostTriedRank; });
    return result;
  }

 private:
  static bool Runs(const oracle::OperatorCase& call) { return RunError(call).empty(); }

  // The call with another type of all inputs that have the type of this one.
  oracle::OperatorCase WithTypes(const oracle::OperatorCase& call,
                                 TensorProto_DataType type) const {
    const TensorProto_DataType old = RecordedTensor(call.input(input_)).data_type();
    oracle::OperatorCase changed = call;
    for (int i = 0; i < call.input_size(); ++i) {
      const TensorProto tensor = RecordedTensor(call.input(i));
      if (tensor.data_type() != old || call.input(i).has_int8()) continue;
      changed = WithInput(changed, i, DimsOf(tensor), type);
    }
    return changed;
  }
  // The call with other dims of all inputs that have the dims of this one.
  oracle::OperatorCase WithDims(const oracle::OperatorCase& call, const Dims& dims) const {
    const Dims old = DimsOf(RecordedTensor(call.input(input_)));
    oracle::OperatorCase changed = call;
    for (int i = 0; i < call.input_size(); ++i) {
      const TensorProto tensor = RecordedTensor(call.input(i));
      if (tensor.data_type() == TensorProto::UNDEFINED || DimsOf(tensor) != old) continue;
      changed = WithInput(changed, i, dims, tensor.data_type());
    }
    return changed;
  }

  const int input_;
  std::set<int> types_, ranks_;
};

std::string RowOf(const std::string& type, int input, Calls calls, size_t most_calls) {
  std::erase_if(calls,
                [&](const oracle::OperatorCase& call) { return call.input_size() <= input; });
  Accepted accepted(calls, input);
  if (accepted.empty()) return "";
  const size_t step = (calls.size() + most_calls - 1) / most_calls;
  for (size_t i = 0; i < calls.size(); i += step) accepted.Try(calls[i]);
  return AcceptedInputRow(type, input, accepted.Result());
}

// Inputs that the schema names.
int NamedInputs(const std::string& type) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  return schema == nullptr ? 0 : static_cast<int>(schema->input_docs().size());
}

}  // namespace

std::vector<std::string> FindAcceptedInputs(const ChangedCalls& calls, size_t most_calls) {
  std::vector<CaseEntry> entries;
  for (const auto& [type, recorded] : calls.recorded()) {
    for (int input = 0; input < NamedInputs(type); ++input) {
      const auto row = [type = type, input, &recorded = recorded, most_calls] {
        return CaseResult::Failed(RowOf(type, input, recorded, most_calls));
      };
      entries.push_back({MakeString(type, '\t', input), type, row});
    }
  }
  std::vector<std::string> rows;
  const std::vector<CaseResult> results = RunCases(entries, {.timeout_s = 120});
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& row = results[i].what;
    if (!row.empty())
      rows.push_back(row.starts_with(entries[i].id) ? row : entries[i].id + '\t' + row);
  }
  return rows;
}

}  // namespace caffe2rt::test
