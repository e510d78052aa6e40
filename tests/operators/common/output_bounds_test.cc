// Operators write nothing behind their outputs, and keep nothing of what the outputs held before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::output_bounds_test {
namespace {

constexpr int64_t kBehind = 32;  // elements behind each output
constexpr unsigned char kMark = 0x5a;

std::vector<unsigned char> BytesOf(const Tensor& t) {
  const auto* const data = static_cast<const unsigned char*>(t.raw_data());
  return {data, data + t.nbytes()};
}

// Returns for how many outputs the memory behind them was compared.
int ExpectKeepsWhatIsBehind(const LongCall& call) {
  int compared = 0;
  Workspace first, second;
  for (Workspace* ws : {&first, &second}) FeedInputs(call, ws);
  const std::vector<OperatorDef> ops = OperatorsOf(call);
  for (const OperatorDef& op : ops) EXPECT_TRUE(first.RunOperatorOnce(op));
  std::vector<std::string> marked;
  for (const OperatorDef& op : ops) {
    for (const std::string& name : op.output()) {
      const Blob* const blob = first.GetBlob(name);
      if (second.HasBlob(name) || !blob->IsType<Tensor>()) continue;
      const Tensor& y = blob->Get<Tensor>();
      if (y.numel() == 0 || y.dtype().Match<std::string>()) continue;
      auto* const z = BlobGetMutableTensor(second.CreateBlob(name), CPU);
      z->Resize(y.numel() + kBehind);
      std::memset(z->raw_mutable_data(y.dtype()), kMark, z->nbytes());
      marked.push_back(name);
    }
  }
  for (const OperatorDef& op : ops) EXPECT_TRUE(second.RunOperatorOnce(op));
  for (const std::string& name : marked) {
    const Tensor& y = first.GetBlob(name)->Get<Tensor>();
    const Tensor& z = second.GetBlob(name)->Get<Tensor>();
    EXPECT_EQ(z.sizes(), y.sizes()) << name;
    if (call.tolerance == 0) EXPECT_EQ(BytesOf(z), BytesOf(y)) << name;
    const size_t behind = static_cast<size_t>(kBehind) * z.itemsize();
    if (z.capacity_nbytes() < z.nbytes() + behind) continue;  // other memory
    ++compared;
    const auto* const end = static_cast<const unsigned char*>(z.raw_data()) + z.nbytes();
    EXPECT_EQ(std::count(end, end + behind, kMark), static_cast<std::ptrdiff_t>(behind)) << name;
  }
  return compared;
}

TEST(OutputBoundsTest, NothingIsWrittenBehindAnOutput) {
  int compared = 0;
  for (const LongCall& call : LongCalls()) {
    SCOPED_TRACE(call.operators);
    compared += ExpectKeepsWhatIsBehind(call);
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace caffe2rt::test::output_bounds_test
