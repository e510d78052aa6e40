#include "tests/support/other_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {
namespace {

enum class Change {  // in the order of their use
  kRows,
  kColumnLess,
  kDimension,
  kValues,
  kColumnMore,
  kChannel,
  kTurned,
  kType,
  kNoRows
};

struct NamedChange {
  Change change;
  const char* name;
};
constexpr NamedChange kChanges[] = {
    {Change::kRows, "twice as many rows"},
    {Change::kColumnLess, "one column less"},
    {Change::kDimension, "one dimension more"},
    {Change::kValues, "other values"},
    {Change::kColumnMore, "one column more"},
    {Change::kChannel, "one channel more"},
    {Change::kTurned, "the dimensions in reverse"},
    {Change::kType, "another element type"},
    {Change::kNoRows, "no rows"},
};

// With more elements, only the first changes are made, to save time.
constexpr int64_t kFewElements = 64;

// Inputs that are changed for a run, and what they hold then.
struct Variation {
  std::string label;
  bool keeps_count;  // of elements: an operator may take the inputs for those before
  std::vector<std::pair<std::string, Tensor>> inputs;
};

// The shape of a changed input. Empty if the change does not apply.
std::vector<int64_t> ChangedDims(const Tensor& x, Change change) {
  std::vector<int64_t> dims = x.dims();
  if (dims.empty() || x.numel() == 0) return {};
  if (change == Change::kRows) dims[0] *= 2;
  if (change == Change::kNoRows) dims[0] = 0;
  if (change == Change::kColumnLess && --dims.back() == 0) return {};
  if (change == Change::kDimension) dims.push_back(1);
  if (change == Change::kColumnMore) ++dims.back();
  if (change == Change::kChannel) {
    if (dims.size() < 3) return {};
    ++dims[1];
  }
  if (change == Change::kTurned) {
    std::reverse(dims.begin(), dims.end());
    if (dims == x.dims()) return {};
  }
  return dims;
}

template <class To, class From>
void ConvertTo(const Tensor& x, Tensor* y) {
  const From* const from = x.data<From>();
  std::transform(from, from + x.numel(), y->mutable_data<To>(),
                 [](From value) { return static_cast<To>(value); });
}

// Floats and doubles, and integers of 4 and 8 bytes, stand in for each other.
bool WriteOtherType(const Tensor& x, Tensor* y) {
  if (x.IsType<float>())
    ConvertTo<double, float>(x, y);
  else if (x.IsType<double>())
    ConvertTo<float, double>(x, y);
  else if (x.IsType<int32_t>())
    ConvertTo<int64_t, int32_t>(x, y);
  else if (x.IsType<int64_t>())
    ConvertTo<int32_t, int64_t>(x, y);
  else
    return false;
  return true;
}

// Writes the elements of `x` over and over; as other values, in reverse order. Returns false if the change does not
// apply.
bool WriteChanged(const Tensor& x, Change change, Tensor* y) {
  const std::vector<int64_t> dims = ChangedDims(x, change);
  if (dims.empty()) return false;
  y->Resize(dims);
  if (change == Change::kType) return WriteOtherType(x, y);
  char* const to = static_cast<char*>(y->raw_mutable_data(x.dtype()));
  const char* const from = static_cast<const char*>(x.raw_data());
  const size_t item = x.dtype().itemsize();
  const int64_t count = x.numel();
  for (int64_t i = 0; i < y->numel(); ++i) {
    const int64_t source = change == Change::kValues ? count - 1 - i : i % count;
    std::memcpy(to + static_cast<size_t>(i) * item, from + static_cast<size_t>(source) * item,
                item);
  }
  return true;
}

class Variations {
 public:
  Variations(const Workspace& ws, const OperatorDef& op) {
    std::set<std::string> seen;
    for (const std::string& name : op.input()) {
      const Blob* const blob = ws.GetBlob(name);
      if (blob->IsTensor(CPU) && blob->Get<Tensor>().dtype().IsPlainData() &&
          seen.insert(name).second)
        own_.emplace_back(name, Tensor(blob->Get<Tensor>(), CPU));
    }
    all_are_tensors_ =
        own_.size() == std::set<std::string>(op.input().begin(), op.input().end()).size();
    int64_t elements = 0;
    for (const auto& [name, tensor] : own_) elements += tensor.numel();
    const bool few = elements <= kFewElements;
    for (size_t i = 0; i < own_.size(); ++i) {
      for (const NamedChange& change : kChanges) {
        if (few || change.change < Change::kTurned) Add(change, [&](size_t k) { return k == i; });
        if (few) AddGroups(change, i);
      }
    }
  }
  const std::vector<std::pair<std::string, Tensor>>& own() const { return own_; }
  const std::vector<Variation>& all() const { return all_; }

 private:
  const Tensor& Own(size_t i) const { return own_[i].second; }

  // Inputs that must agree are changed together: those of one shape, those of one number of rows, and those of one
  // type.
  void AddGroups(const NamedChange& change, size_t i) {
    const auto dims_of = [&](size_t k) { return Own(k).dims(); };
    const auto rows_of = [&](size_t k) { return Own(k).dim() > 0 ? Own(k).dim(0) : -1; };
    const auto type_of = [&](size_t k) { return Own(k).dtype(); };
    const auto group = [&](const auto& of) {
      const auto same = [&](size_t k) { return of(k) == of(i); };
      for (size_t k = 0; k < i; ++k) {
        if (same(k)) return;  // the group was added before
      }
      Add(change, same);
    };
    if (change.change == Change::kType) return group(type_of);
    group(dims_of);
    if (change.change == Change::kRows || change.change == Change::kNoRows) group(rows_of);
  }

  template <class F>
  void Add(const NamedChange& change, const F& contains) {
    const bool keeps_count =
        all_are_tensors_ && (change.change == Change::kTurned || change.change == Change::kType ||
                             change.change == Change::kValues);
    Variation variation{change.name, keeps_count, {}};
    std::set<std::string> names;
    for (size_t k = 0; k < own_.size(); ++k) {
      if (!contains(k)) continue;
      Tensor changed(CPU);
      if (!WriteChanged(Own(k), change.change, &changed)) return;
      variation.label += " of \"" + own_[k].first + "\"";
      variation.inputs.emplace_back(own_[k].first, std::move(changed));
    }
    if (labels_.insert(variation.label).second) all_.push_back(std::move(variation));
  }

  std::vector<std::pair<std::string, Tensor>> own_;
  std::vector<Variation> all_;
  bool all_are_tensors_ = false;  // with plain elements
  std::set<std::string> labels_;
};

void HoldInputs(Workspace* ws, const std::vector<std::pair<std::string, Tensor>>& inputs) {
  for (const auto& [name, tensor] : inputs)
    ws->GetBlob(name)->GetMutableTensor(CPU)->CopyFrom(tensor);
}

enum class RunResult { kSucceeds, kRejects, kLacksMemory };

// Other values may be the sizes of large outputs.
RunResult RunWithLittleMemory(const std::function<bool()>& run) {
  constexpr size_t kBytes = size_t{32} << 20;
  size_t& limit = GlobalCPUMemoryOptions().limit_bytes;
  const size_t before = limit;
  limit = GetCPUMemoryUsage().in_use_bytes + kBytes;
  RunResult result = RunResult::kRejects;
  try {
    if (run()) result = RunResult::kSucceeds;
  } catch (const OutOfMemory&) {
    result = RunResult::kLacksMemory;
  } catch (const EnforceNotMet&) {
  }
  limit = before;
  return result;
}

// Whether the blob holds elements that can be compared.
bool HasPlainElements(const Blob* blob) {
  if (blob == nullptr || !blob->IsTensor(CPU)) return false;
  const Tensor& tensor = blob->Get<Tensor>();
  return tensor.dtype().IsSet() && tensor.dtype().IsPlainData() && tensor.HasData();
}

bool IsNearOrSame(const Tensor& a, const Tensor& b) {
  if (a.dims() != b.dims() || a.dtype() != b.dtype()) return false;
  if (a.numel() == 0) return true;
  if (!a.IsType<float>()) return std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
  return std::equal(a.data<float>(), a.data<float>() + a.numel(), b.data<float>(),
                    [](float x, float y) {
                      return x == y || (std::isnan(x) && std::isnan(y)) ||
                             std::abs(x - y) <= 1e-4f * std::max(1.0f, std::abs(y));
                    });
}

// Expects of the run on other inputs, whose outputs are in `ws`, what an operator gives that has not run before.
void ExpectLikeFirstRun(const Workspace& ws, const OperatorDef& op, Workspace* fresh,
                        bool succeeded) {
  const bool succeeds =
      RunWithLittleMemory([&] { return fresh->RunOperatorOnce(op); }) == RunResult::kSucceeds;
  EXPECT_EQ(succeeded, succeeds) << "whether an operator that has run before accepts the inputs";
  for (const std::string& name : op.output()) {
    const Blob *const got = ws.GetBlob(name), *const want = fresh->GetBlob(name);
    if (!succeeded || !succeeds || !HasPlainElements(got) || !HasPlainElements(want)) continue;
    EXPECT_TRUE(IsNearOrSame(got->Get<Tensor>(), want->Get<Tensor>()))
        << "output \"" << name << "\" differs from that of a first run";
  }
}

}  // namespace

void ExpectSameAfterOtherInputs(Workspace* ws, NetBase* net, const OperatorDef& op,
                                const std::function<void()>& expect) {
  const Variations variations(*ws, op);
  for (const Variation& variation : variations.all()) {
    SCOPED_TRACE("after a run with " + variation.label);
    HoldInputs(ws, variations.own());  // outputs may be in their places
    HoldInputs(ws, variation.inputs);
    Workspace fresh;
    if (variation.keeps_count) {
      for (const std::string& name : op.input())
        fresh.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(ws->GetBlob(name)->Get<Tensor>());
    }
    const RunResult result = RunWithLittleMemory([&] { return net->Run(); });
    if (variation.keeps_count) ExpectLikeFirstRun(*ws, op, &fresh, result == RunResult::kSucceeds);
    HoldInputs(ws, variations.own());
    if (result == RunResult::kRejects) {
      HoldInputs(ws, variation.inputs);
      EXPECT_TRUE(RunWithLittleMemory([&] { return net->Run(); }) != RunResult::kSucceeds)
          << "inputs are rejected once only";
      HoldInputs(ws, variations.own());
    }
    ASSERT_TRUE(net->Run());
    expect();
    if (testing::Test::HasFailure()) return;
  }
}

void ExpectSameAfterOthersFirst(Workspace* ws, const OperatorDef& op,
                                const std::function<NetBase*()>& create,
                                const std::function<void()>& expect) {
  const Variations variations(*ws, op);
  if (std::ranges::any_of(op.output(), [&](const auto& name) { return HasInput(op, name); }))
    return;
  for (const NamedChange& change : kChanges) {
    if (change.change != Change::kRows && change.change != Change::kColumnMore) continue;
    SCOPED_TRACE(std::string("after a first run with ") + change.name + " of all inputs");
    bool changed = false;
    for (const auto& [name, before] : variations.own()) {
      Tensor other(CPU);
      if (!WriteChanged(before, change.change, &other)) continue;
      ws->GetBlob(name)->GetMutableTensor(CPU)->CopyFrom(other);
      changed = true;
    }
    if (!changed) continue;
    NetBase* const net = create();
    RunWithLittleMemory([&] { return net->Run(); });
    HoldInputs(ws, variations.own());
    ASSERT_TRUE(net->Run());
    expect();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace caffe2rt::test
