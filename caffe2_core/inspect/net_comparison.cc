#include "caffe2_core/inspect/net_comparison.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/blob_values.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

using Presence = ComparedValue::Presence;

constexpr std::string_view kOpaque = "_ideep";

// X for a blob X_ideep, else the blob.
std::string PlainName(const std::string& blob) {
  return blob.ends_with(kOpaque) ? blob.substr(0, blob.size() - kOpaque.size()) : blob;
}

// The values of a net, which it visits in a run.
class ValueRun {
 public:
  explicit ValueRun(const NetToCompare& net) : net_(net.net), ws_(net.ws) {
    CAFFE_ENFORCE(ws_ != nullptr, "a workspace of a net to compare is null");
    for (BlobValue& value : ListBlobValues(net_)) {
      if (net.left_out.contains(NetValue(value.position, value.blob))) continue;
      blobs_.insert(value.blob);
      values_.push_back(std::move(value));
    }
    std::map<std::string, int> later;
    from_last_.resize(values_.size());
    for (size_t i = values_.size(); i-- > 0;) {
      const std::string name = CommonName(values_[i].blob);
      const NetValue value(values_[i].position, values_[i].blob);
      const int count = later[name]++;
      const auto as_written = net.from_last.find(value);
      from_last_[i] = as_written != net.from_last.end() ? as_written->second : count;
      is_last_.push_back(count == 0);
      by_writer_[value] = i;
      by_order_.emplace(std::pair(name, from_last_[i]), i);
    }
    std::reverse(is_last_.begin(), is_last_.end());
  }

  const std::vector<BlobValue>& values() const { return values_; }
  bool is_last(size_t i) const { return is_last_[i]; }
  // The name by which the blob is matched: X for a blob X_ideep of a net without X.
  std::string CommonName(const std::string& blob) const {
    const std::string plain = PlainName(blob);
    return blobs_.contains(plain) ? blob : plain;
  }
  // The index of the value that matches value `i` of `other`, or nothing.
  std::optional<size_t> FindMatch(const ValueRun& other, size_t i) const {
    const auto found =
        by_order_.find(std::pair(other.CommonName(other.values_[i].blob), other.from_last_[i]));
    return found == by_order_.end() ? std::nullopt : std::optional(found->second);
  }

  // Runs the net. Calls `visit` with the index of each value and with the blob while it has it.
  void Run(const std::function<void(size_t, const Blob&)>& visit) {
    for (size_t i = 0; i < values_.size() && values_[i].position < 0; ++i) {
      if (const std::shared_ptr<Blob> blob = ws_->FindBlob(values_[i].blob)) visit(i, *blob);
    }
    NetBase* const net = ws_->CreateNet(net_);
    CAFFE_ENFORCE(net != nullptr, "net \"", net_.name(), "\" cannot be created");
    const BlobWatch watch(net_, net, [&](const BlobWrite& write) {
      const auto value = by_writer_.find(NetValue(write.position, write.name));
      if (value != by_writer_.end()) visit(value->second, write.blob);
    });
    CAFFE_ENFORCE(net->Run(), "net \"", net_.name(), "\" failed");
  }

 private:
  const NetDef& net_;
  Workspace* const ws_;
  std::vector<BlobValue> values_;
  std::vector<int> from_last_;  // the number of later values with the same common name
  std::vector<bool> is_last_;
  std::set<std::string> blobs_;
  std::map<NetValue, size_t> by_writer_;
  std::map<std::pair<std::string, int>, size_t> by_order_;
};

std::string TypeText(const Tensor* tensor) {
  if (tensor == nullptr || !tensor->IsShaped() || !tensor->meta().IsSet()) return "";
  return MakeString(DataTypeName(tensor->meta()), " [", absl::StrJoin(tensor->dims(), ", "), "]");
}

bool IsEqual(const TensorDifference& difference) {
  return difference.within() && difference.worst < 0;
}

}  // namespace

namespace {

// The last operator of the written net that an operator of the optimized net stands for, or -1. An
// operator that no pass merged or moved names none.
int LastUserOperator(const NetDef& written, const NetDef& optimized, int i) {
  const std::vector<UserOperator> users = UserOperatorsOf(optimized.op(i));
  const int last = users.empty() ? i : users.back().position;
  if (last >= written.op_size()) return -1;
  return users.empty() && written.op(i).type() != optimized.op(i).type() ? -1 : last;
}

// The last operator of the net that writes the blob, or -1.
int LastWriterOf(const NetDef& net, const std::string& blob) {
  for (int i = net.op_size() - 1; i >= 0; --i) {
    if (HasOutput(net.op(i), blob)) return i;
  }
  return -1;
}

// Whether an operator of an optimized net that stands for operators up to `last` writes the last
// value of the blob, because an operator after `last` that only copied it was removed.
bool WritesCopiedValue(const NetDef& written, int last, const NetDef& optimized, int op,
                       const std::string& blob) {
  return LastWriterOf(written, PlainName(blob)) > last && LastWriterOf(optimized, blob) == op;
}

}  // namespace

std::set<NetValue> ValuesOfPasses(const NetDef& written, const NetDef& optimized) {
  std::set<NetValue> found;
  for (int i = 0; i < optimized.op_size(); ++i) {
    const int last = LastUserOperator(written, optimized, i);
    if (last < 0) continue;
    const auto& names = written.op(last).output();
    for (const std::string& output : optimized.op(i).output()) {
      const bool same = std::find(names.begin(), names.end(), output) != names.end() ||
                        std::find(names.begin(), names.end(), PlainName(output)) != names.end();
      if (!same && !WritesCopiedValue(written, last, optimized, i, output)) {
        found.insert(NetValue(i, output));
      }
    }
  }
  return found;
}

std::map<NetValue, int> CountsFromLast(const NetDef& written, const NetDef& optimized) {
  std::map<NetValue, int> counts, found;
  for (const BlobValue& value : ListBlobValues(written)) {
    counts[NetValue(value.position, value.blob)] = value.from_last;
    if (value.position < 0) found[NetValue(-1, value.blob)] = value.from_last;
  }
  for (int i = 0; i < optimized.op_size(); ++i) {
    const int last = LastUserOperator(written, optimized, i);
    if (last < 0) continue;
    for (const std::string& output : optimized.op(i).output()) {
      auto count = counts.find(NetValue(last, output));
      if (count == counts.end()) count = counts.find(NetValue(last, PlainName(output)));
      if (count != counts.end()) {
        found[NetValue(i, output)] = count->second;
      } else if (WritesCopiedValue(written, last, optimized, i, output)) {
        found[NetValue(i, output)] = 0;
      }
    }
  }
  return found;
}

std::vector<ComparedValue> CompareNets(const NetToCompare& first, const NetToCompare& second,
                                       const Tolerance& tolerance) {
  ValueRun a(first), b(second);
  std::vector<ComparedValue> found;
  std::vector<bool> left_out(a.values().size(), false);
  std::map<size_t, size_t> partners;  // values of `a`, by those of `b`
  for (size_t i = 0; i < a.values().size(); ++i) {
    const BlobValue& value = a.values()[i];
    ComparedValue& compared = found.emplace_back(
        ComparedValue{.name = value.Title(), .blob = value.blob, .presence = Presence::kFirstOnly});
    compared.first = value.position;
    compared.last = a.is_last(i);
    const std::optional<size_t> partner = b.FindMatch(a, i);
    if (!partner.has_value() || partners.contains(*partner)) continue;
    compared.presence = Presence::kBoth;
    compared.second = b.values()[*partner].position;
    partners[*partner] = i;
  }
  std::vector<Blob> kept(a.values().size());
  a.Run([&](size_t i, const Blob& blob) {
    if (found[i].presence != Presence::kBoth) return;
    found[i].type = TypeText(FindTensor(blob));
    CopyBlobToCpu(blob, &kept[i]);
  });
  b.Run([&](size_t i, const Blob& blob) {
    const auto partner = partners.find(i);
    if (partner == partners.end()) return;
    Blob& copy = kept[partner->second];
    if (Blob current; !copy.meta().IsSet() && !CopyBlobToCpu(blob, &current)) return;
    ComparedValue& compared = found[partner->second];
    compared.difference = CompareBlobs(copy, blob, tolerance);
    left_out[partner->second] =
        compared.first < 0 && compared.second < 0 && IsEqual(compared.difference);
    copy.Reset();
  });
  std::vector<ComparedValue> result;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!left_out[i]) result.push_back(std::move(found[i]));
  }
  for (size_t i = 0; i < b.values().size(); ++i) {
    if (partners.contains(i)) continue;
    const BlobValue& value = b.values()[i];
    result.push_back(
        {.name = value.Title(), .blob = value.blob, .presence = Presence::kSecondOnly});
    result.back().second = value.position;
    result.back().last = b.is_last(i);
  }
  return result;
}

std::vector<ComparedValue> CompareWithTensors(const NetToCompare& net, const NamedTensors& expected,
                                              const Tolerance& tolerance) {
  ValueRun run(net);
  std::map<std::string, const Tensor*> by_key;
  for (const auto& [name, tensor] : expected) by_key[name] = &tensor;
  std::vector<ComparedValue> found;
  run.Run([&](size_t i, const Blob& blob) {
    const BlobValue& value = run.values()[i];
    const auto wanted = by_key.find(value.key);
    if (wanted == by_key.end()) return;
    ComparedValue& compared =
        found.emplace_back(ComparedValue{.name = value.Title(), .blob = value.blob});
    compared.first = value.position;
    const Tensor* const tensor = FindTensor(blob);
    if (tensor != nullptr) {
      compared.type = TypeText(tensor);
      compared.difference = CompareTensors(*tensor, *wanted->second, tolerance);
    } else {
      compared.difference.mismatch = "no tensor instead of a tensor";
    }
    by_key.erase(wanted);
  });
  for (const auto& [name, tensor] : by_key) {
    found.push_back({.name = name, .blob = name, .presence = Presence::kSecondOnly});
  }
  return found;
}

std::vector<ComparedValue> CompareTensorLists(const NamedTensors& first, const NamedTensors& second,
                                              const Tolerance& tolerance) {
  std::map<std::string, const Tensor*> rest;
  for (const auto& [name, tensor] : second) rest[name] = &tensor;
  std::vector<ComparedValue> found;
  for (const auto& [name, tensor] : first) {
    ComparedValue& compared = found.emplace_back(
        ComparedValue{.name = name, .blob = name, .presence = Presence::kFirstOnly});
    compared.type = TypeText(&tensor);
    const auto partner = rest.find(name);
    if (partner == rest.end()) continue;
    compared.presence = Presence::kBoth;
    compared.difference = CompareTensors(tensor, *partner->second, tolerance);
    rest.erase(partner);
  }
  for (const auto& [name, tensor] : second) {
    if (!rest.contains(name)) continue;
    found.push_back({.name = name, .blob = name, .presence = Presence::kSecondOnly});
  }
  return found;
}

}  // namespace caffe2rt
