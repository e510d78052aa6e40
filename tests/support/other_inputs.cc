#include "tests/support/other_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {
namespace {

constexpr const char* kChanges[] = {"twice as many rows", "one column less", "one dimension more",
                                    "other values",       "one column more", "one channel more"};

bool IsInPlace(const OperatorDef& op) {
  return std::any_of(op.output().begin(), op.output().end(), [&](const std::string& output) {
    return std::find(op.input().begin(), op.input().end(), output) != op.input().end();
  });
}

// The shape of a changed input. Empty if the change does not apply.
std::vector<int64_t> ChangedDims(const Tensor& x, size_t change) {
  std::vector<int64_t> dims = x.dims();
  if (dims.empty() || x.numel() == 0) return {};
  if (change == 0) dims[0] *= 2;
  if (change == 1 && --dims.back() == 0) return {};
  if (change == 2) dims.push_back(1);
  if (change == 4) ++dims.back();
  if (change == 5) {
    if (dims.size() < 3) return {};
    ++dims[1];
  }
  return dims;
}

// The elements of `x` over and over; as other values, in reverse order.
void WriteChanged(const Tensor& x, size_t change, const std::vector<int64_t>& dims, Tensor* y) {
  y->Resize(dims);
  char* const to = static_cast<char*>(y->raw_mutable_data(x.dtype()));
  const char* const from = static_cast<const char*>(x.raw_data());
  const size_t item = x.dtype().itemsize();
  const int64_t count = x.numel();
  for (int64_t i = 0; i < y->numel(); ++i) {
    const int64_t source = change == 3 ? count - 1 - i : i % count;
    std::memcpy(to + static_cast<size_t>(i) * item, from + static_cast<size_t>(source) * item,
                item);
  }
}

// Other values may be the sizes of large outputs.
void RunWithLittleMemory(NetBase* net) {
  constexpr size_t kBytes = size_t{32} << 20;
  size_t& limit = GlobalCPUMemoryOptions().limit_bytes;
  const size_t before = limit;
  limit = GetCPUMemoryUsage().in_use_bytes + kBytes;
  try {
    (void)net->Run();
  } catch (const EnforceNotMet&) {  // the operator rejects the inputs
  }
  limit = before;
}

}  // namespace

void ExpectSameAfterOtherInputs(Workspace* ws, NetBase* net, const OperatorDef& op,
                                const std::function<void()>& expect) {
  if (IsInPlace(op)) return;
  for (const std::string& name : op.input()) {
    Blob* const blob = ws->GetBlob(name);
    if (!blob->IsTensor(CPU) || !blob->Get<Tensor>().dtype().IsPlainData()) continue;
    const Tensor own(blob->Get<Tensor>(), CPU);
    for (size_t change = 0; change < std::size(kChanges); ++change) {
      const std::vector<int64_t> dims = ChangedDims(own, change);
      if (dims.empty()) continue;
      SCOPED_TRACE(MakeString("after a run with ", kChanges[change], " of \"", name, "\""));
      WriteChanged(own, change, dims, blob->GetMutableTensor(CPU));
      RunWithLittleMemory(net);
      blob->GetMutableTensor(CPU)->CopyFrom(own);
      ASSERT_TRUE(net->Run());
      expect();
      if (testing::Test::HasFailure()) return;
    }
  }
}

void ExpectSameAfterOthersFirst(Workspace* ws, const OperatorDef& op,
                                const std::function<NetBase*()>& create,
                                const std::function<void()>& expect) {
  if (IsInPlace(op)) return;
  std::vector<std::pair<Blob*, Tensor>> own;
  for (const std::string& name : op.input()) {
    Blob* const blob = ws->GetBlob(name);
    if (blob->IsTensor(CPU) && blob->Get<Tensor>().dtype().IsPlainData())
      own.emplace_back(blob, Tensor(blob->Get<Tensor>(), CPU));
  }
  for (const size_t change : {size_t{0}, size_t{4}}) {
    SCOPED_TRACE(MakeString("after a first run with ", kChanges[change], " of all inputs"));
    bool changed = false;
    for (const auto& [blob, before] : own) {
      const std::vector<int64_t> dims = ChangedDims(before, change);
      if (dims.empty()) continue;
      WriteChanged(before, change, dims, blob->GetMutableTensor(CPU));
      changed = true;
    }
    if (!changed) continue;
    NetBase* const net = create();
    RunWithLittleMemory(net);
    for (const auto& [blob, before] : own) blob->GetMutableTensor(CPU)->CopyFrom(before);
    ASSERT_TRUE(net->Run());
    expect();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace caffe2rt::test
