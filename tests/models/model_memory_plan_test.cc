// Trained nets compute their recorded outputs in planned memory. Between operators, all memory that
// holds no value according to the plan is overwritten. The peak that a report predicts is not
// exceeded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/memory_report.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/models/golden_case.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::model_memory_plan_test {
namespace {

class ModelMemoryPlanTest : public testing::TestWithParam<GoldenCase> {
 protected:
  const GoldenCase& golden() const { return GetParam(); }
  std::string File(const std::string& name) const { return golden().folder + "/" + name; }

  std::set<std::string> Recorded() const {
    std::set<std::string> names;
    for (const GoldenCase::Output& output : golden().outputs) names.insert(output.blob);
    return names;
  }
  void Load(Workspace* ws) const {
    ASSERT_TRUE(ws->RunNetOnce(LoadNetForCPU(File(golden().init))));
    for (const auto& [blob, file] : golden().inputs) {
      *ws->CreateBlob(blob)->GetMutableTensor(CPU) = ReadNpy(File(file));
    }
  }
  void ExpectGolden(Workspace* ws, const char* way) const {
    for (const GoldenCase::Output& output : golden().outputs) {
      const Tensor& got = ws->GetBlob(output.blob)->Get<Tensor>();
      EXPECT_LE(RelativeError(Crop(got, output.crop), ReadNpy(File(output.file))),
                golden().tolerance)
          << way << ", " << output.blob;
    }
  }
};

// Fills all planned memory that is not in use after operator `op` with bytes that are NaN as float.
void Poison(const std::vector<NetMemory::PlannedBlob>& blobs, uint32_t op) {
  std::vector<std::pair<char*, char*>> in_use;  // the beginnings and ends of memory
  std::vector<char*> all;
  for (const NetMemory::PlannedBlob& blob : blobs) {
    char* const begin = static_cast<char*>(blob.data);
    all.insert(all.end(), {begin, begin + blob.bytes});
    if (blob.first_op <= op && blob.last_op > op) in_use.emplace_back(begin, begin + blob.bytes);
  }
  if (all.empty()) return;
  std::sort(in_use.begin(), in_use.end());
  char* free = *std::min_element(all.begin(), all.end());
  const auto fill_until = [&free](char* end) {
    if (end > free) std::memset(free, 0xff, static_cast<size_t>(end - free));
  };
  for (const auto& [begin, end] : in_use) {
    fill_until(begin);
    free = std::max(free, end);
  }
  fill_until(*std::max_element(all.begin(), all.end()));
}

TEST_P(ModelMemoryPlanTest, ReadsOnlyWhatThePlanKeeps) {
  Workspace ws(golden().folder);
  ASSERT_NO_FATAL_FAILURE(Load(&ws));
  NetBase* const net = ws.CreateNet(LoadNetForCPU(File(golden().predict)));
  ASSERT_NE(net, nullptr);
  const auto stock = std::make_shared<ArenaStock>();
  NetMemory memory(net, Recorded(), stock);
  ASSERT_TRUE(memory.Run());
  ExpectGolden(&ws, "first run");
  for (int run = 0; run < 2; ++run) {
    memory.Begin();
    const std::vector<NetMemory::PlannedBlob> blobs = memory.planned();
    const std::vector<OperatorBase*> operators = net->GetOperators();
    for (uint32_t op = 0; op < operators.size(); ++op) {
      ASSERT_TRUE(operators[op]->Run());
      Poison(blobs, op);
    }
    memory.End(true);
    ExpectGolden(&ws, "poisoned run");
  }
  std::printf("%s: %zu blobs in %zu bytes, %d plans\n", golden().Name().c_str(),
              memory.planned_blobs(), memory.planned_bytes(), memory.plans_made());
}

TEST_P(ModelMemoryPlanTest, NeedsNoMoreThanReported) {
  const NetDef predict = LoadNetForCPU(File(golden().predict));
  Workspace ws(golden().folder);
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  ASSERT_NO_FATAL_FAILURE(Load(&ws));
  ShapeMap seeds;
  std::set<std::string> parameters;
  for (const std::string& name : ws.LocalBlobs()) {
    const Blob& blob = *ws.GetBlob(name);
    if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsShaped()) continue;
    const Tensor& tensor = blob.Get<Tensor>();
    seeds[name] = CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype()));
    if (!golden().inputs.contains(name)) parameters.insert(name);
  }
  const MemoryReport report = ReportMemory({}, predict, seeds, parameters, Recorded(), 1);
  const size_t loaded = GetCPUMemoryUsage().in_use_bytes - before;
  NetBase* const net = ws.CreateNet(predict);
  ASSERT_NE(net, nullptr);
  NetMemory memory(net, Recorded(), std::make_shared<ArenaStock>());
  ResetCPUMemoryPeak();
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(memory.Run());
  const size_t peak = GetCPUMemoryUsage().peak_bytes - before;
  // Blobs that the net does not read are loaded as well.
  const size_t unused =
      loaded -
      std::min<size_t>(loaded, static_cast<size_t>(report.weight_bytes + report.input_bytes));
  std::printf("%s: peak %zu, reported %lld, %zu blobs of unknown size\n", golden().Name().c_str(),
              peak, static_cast<long long>(report.peak_bytes), report.unknown.size());
  if (!report.unknown.empty())
    GTEST_SKIP() << "blob " << report.unknown[0].name << ": " << report.unknown[0].problem;
  EXPECT_LE(peak, static_cast<size_t>(report.peak_bytes) + unused);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelMemoryPlanTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ModelMemoryPlanTest);

}  // namespace
}  // namespace caffe2rt::test::model_memory_plan_test
