// Trained nets compute their recorded outputs, in a workspace and through the predictor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/models/golden_case.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::golden_test {
namespace {

class GoldenTest : public testing::TestWithParam<GoldenCase> {
 protected:
  const GoldenCase& golden() const { return GetParam(); }
  std::string File(const std::string& name) const { return golden().folder + "/" + name; }
  NetDef InitNet() const { return LoadNetForCPU(File(golden().init)); }
  NetDef PredictNet() const { return LoadNetForCPU(File(golden().predict)); }

  void FeedInputs(Workspace* ws) const {
    for (const auto& [blob, file] : golden().inputs) {
      *ws->CreateBlob(blob)->GetMutableTensor(CPU) = ReadNpy(File(file));
    }
  }
  // Optimizes the net without some passes, runs it twice, and compares the outputs. Returns them.
  std::map<std::string, Tensor> RunWithout(const std::set<std::string>& passes, const char* way,
                                           Workspace* ws) const {
    PreparationOptions options{.without_passes = passes};
    for (const auto& [blob, file] : golden().inputs) options.inputs.insert(blob);
    for (const GoldenCase::Output& output : golden().outputs) options.kept.insert(output.blob);
    const Preparation optimized = OptimizeNet(PredictNet(), options, ws);
    std::printf("%s: %d operators (%s)\n", golden().Name().c_str(), optimized.net.op_size(), way);
    NetBase* const net = ws->CreateNet(optimized.net, true);
    std::map<std::string, Tensor> outputs;
    for (int i = 0; i < 2; ++i) {
      FeedInputs(ws);
      EXPECT_TRUE(net->Run());
    }
    for (const GoldenCase::Output& output : golden().outputs) {
      const Tensor& got = ws->GetBlob(output.blob)->Get<Tensor>();
      ExpectGolden(got, output, way);
      outputs.emplace(output.blob, got.Clone());
    }
    return outputs;
  }
  void ExpectGolden(const Tensor& got, const GoldenCase::Output& output, const char* way) const {
    const Tensor want = ReadNpy(File(output.file));
    const double error = RelativeError(Crop(got, output.crop), want);
    EXPECT_LE(error, golden().tolerance) << way << ", " << output.blob << ": " << got.DebugString()
                                         << ", want " << want.DebugString();
    std::printf("%s, %s: %.2g of the largest value (%s)\n", golden().Name().c_str(),
                output.blob.c_str(), error, way);
  }
};

TEST_P(GoldenTest, RunsInAWorkspace) {
  Workspace ws(golden().folder);
  ASSERT_TRUE(ws.RunNetOnce(InitNet()));
  FeedInputs(&ws);
  const NetDef predict = PredictNet();
  NetBase* net = ws.CreateNet(predict);
  ASSERT_NE(net, nullptr);
  for (const char* way : {"first run", "second run"}) {
    ASSERT_TRUE(net->Run());
    for (const GoldenCase::Output& output : golden().outputs) {
      ExpectGolden(ws.GetBlob(output.blob)->Get<Tensor>(), output, way);
    }
  }
}

TEST_P(GoldenTest, RunsThroughThePredictor) {
  NetDef predict = PredictNet();
  // Adds recorded outputs that the net does not declare as external outputs.
  auto* names = predict.mutable_external_output();
  for (const GoldenCase::Output& output : golden().outputs) {
    if (std::find(names->begin(), names->end(), output.blob) == names->end())
      *names->Add() = output.blob;
  }
  PredictorOptions options;
  options.file_access = FileAccess::Free();  // one of the nets reads a database
  Predictor predictor(InitNet(), predict, nullptr, options);
  Predictor::TensorMap inputs;
  for (const auto& [blob, file] : golden().inputs) inputs.emplace(blob, ReadNpy(File(file)));
  Predictor::TensorMap outputs;
  ASSERT_TRUE(predictor(inputs, &outputs));
  for (const GoldenCase::Output& output : golden().outputs) {
    ASSERT_TRUE(outputs.contains(output.blob)) << output.blob;
    ExpectGolden(outputs.at(output.blob), output, "predictor");
  }
}

// With all graph passes, without any, and with each alone.
TEST_P(GoldenTest, RunsWithGraphPasses) {
  Workspace ws(golden().folder);
  ASSERT_TRUE(ws.RunNetOnce(InitNet()));
  FeedInputs(&ws);
  std::set<std::string> all;
  for (const NetPassInfo& pass : NetPasses()) all.insert(pass.name);
  const std::map<std::string, Tensor> plain = RunWithout(all, "no pass", &ws);
  RunWithout({}, "all passes", &ws);
  for (const NetPassInfo& pass : NetPasses()) {
    std::set<std::string> others = all;
    others.erase(pass.name);
    const std::map<std::string, Tensor> alone = RunWithout(others, pass.name, &ws);
    for (const auto& [name, value] : alone) {
      const Tensor& want = plain.at(name);
      ASSERT_EQ(value.nbytes(), want.nbytes());
      const bool same = std::memcmp(value.raw_data(), want.raw_data(), want.nbytes()) == 0;
      EXPECT_TRUE(same || !pass.same_bits) << pass.name << ", " << name;
    }
  }
}

TEST_P(GoldenTest, AllocatesAndLocksNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace the allocator";
  Workspace ws(golden().folder);
  ASSERT_TRUE(ws.RunNetOnce(InitNet()));
  FeedInputs(&ws);
  NetBase* net = ws.CreateNet(PredictNet());
  ASSERT_NE(net, nullptr);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  const AllocationCounts counts = counter.Counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenTest);

TEST(GoldenCasesTest, AreAllRead) {
  SKIP_WITHOUT_SHARED("models/CASES.tsv");
  EXPECT_GE(ReadGoldenCases().size(), 13u);
}

TEST(SqueezenetTest, SeesATigerCat) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet");
  const std::string folder = SharedPath("models/c2_squeezenet");
  Predictor predictor(LoadNetForCPU(folder + "/init_net.pb"),
                      LoadNetForCPU(folder + "/predict_net.pb"));
  Predictor::TensorList outputs;
  ASSERT_TRUE(predictor({ReadNpy(folder + "/golden/in__data.npy")}, &outputs));
  const float* p = outputs[0].data<float>();
  const auto n = outputs[0].size(1);
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 2, order.end(),
                    [&](int a, int b) { return p[a] > p[b]; });
  EXPECT_EQ(order[0], 282);  // tiger cat, 0.439
  EXPECT_EQ(order[1], 281);  // tabby, 0.395
  EXPECT_NEAR(p[282], 0.439, 1e-3);
  EXPECT_NEAR(p[281], 0.395, 1e-3);
}

}  // namespace
}  // namespace caffe2rt::test::golden_test
