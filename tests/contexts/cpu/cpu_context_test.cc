#include "contexts/cpu/cpu_context.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_graph.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::cpu_context_test {
namespace {

TEST(CPUContextTest, IsRegisteredForItsDeviceType) {
  EXPECT_EQ(GetStaticContext(CPU), GetCPUStaticContext());
  EXPECT_EQ(GET_STATIC_CONTEXT(CPU)->GetDeviceType(), CPU);
  EXPECT_EQ(GetStaticContext(CPU)->CreateContext()->GetDevicetype(), CPU);
  DeviceOption option;
  EXPECT_EQ(GetStaticContext(CPU)->CreateContext(option)->device_type(), CPU);
  GetStaticContext(CPU)->ExtractDeviceOption(&option, nullptr);
  EXPECT_EQ(option.device_type(), 0);
}

TEST(CPUContextTest, RejectsOtherDevices) {
  DeviceOption option;
  option.set_device_type(CUDA);
  EXPECT_THROW(CPUContext context(option), EnforceNotMet);
}

TEST(CPUContextTest, SeedMakesTheGenerator) {
  DeviceOption option;
  option.set_random_seed(7);
  CPUContext a(option), b(option);
  EXPECT_EQ(a.RandGenerator()(), b.RandGenerator()());
  std::mt19937 same(7);
  EXPECT_EQ(a.RandGenerator()(), (same(), same()));
  EXPECT_NE(RandomNumberSeed(), RandomNumberSeed());
}

TEST(CPUContextTest, CopiesBytesAndElements) {
  CPUContext context;
  const std::vector<float> src = {1, 2, 3};
  std::vector<float> dst(3);
  context.Copy<float, CPUContext, CPUContext>(3, src.data(), dst.data());
  EXPECT_EQ(dst, src);
  std::vector<float> bytes(3);
  context.CopyBytes<CPUContext, CPUContext>(12, src.data(), bytes.data());
  EXPECT_EQ(bytes, src);
  const std::vector<std::string> names = {"a", std::string(100, 'b')};
  std::vector<std::string> copy(2);
  context.CopySameDevice(2, names.data(), copy.data());
  EXPECT_EQ(copy, names);
  context.CopyBytesToDevice(12, src.data(), bytes.data(), CPU);
  EXPECT_THROW(context.CopyBytesToDevice(12, src.data(), bytes.data(), CUDA), EnforceNotMet);
  EXPECT_THROW(context.CopyBytesSameDevice(1, nullptr, bytes.data()), EnforceNotMet);
  context.CopyBytesSameDevice(0, nullptr, nullptr);
}

TEST(CPUContextTest, HasNoAsyncPart) {
  EXPECT_FALSE(CPUContext::HasAsyncPartDefault());
  EXPECT_FALSE(CPUContext::SupportsAsyncScheduling());
  EXPECT_TRUE(CPUContext::IsStreamFree(DeviceOption(), 3));
}

TEST(StaticContextRegistryTest, MissingDeviceListsTheRegisteredOnesAndTheRemedy) {
  try {
    GetStaticContext(CUDA);
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("device CUDA (type 1) is not available"), std::string::npos);
    EXPECT_NE(error.message().find("available: CPU"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("run on the CPU"), std::string::npos);
  }
  EXPECT_EQ(FindStaticContext(HIP), nullptr);
}

TEST(StaticContextRegistryTest, RejectsASecondContextAndNumbersOutOfRange) {
  GetStaticContext(CPU);  // registers the built-in contexts
  EXPECT_THROW(RegisterStaticContext(CPU, "again", GetCPUStaticContext()), EnforceNotMet);
  EXPECT_THROW(RegisterStaticContext(static_cast<DeviceType>(32), "far", GetCPUStaticContext()),
               EnforceNotMet);
}

TEST(DeviceTypeTest, NamesAndChecksNumbers) {
  EXPECT_EQ(DeviceTypeName(CPU), "CPU");
  EXPECT_EQ(DeviceTypeName(IDEEP), "IDEEP");
  EXPECT_EQ(DeviceTypeName(17), "device type 17");
  EXPECT_EQ(DeviceTypeName(20901701), "device type 20901701");
  EXPECT_EQ(CheckedDeviceType(5), IDEEP);
  EXPECT_THROW(CheckedDeviceType(20901701), EnforceNotMet);
  EXPECT_THROW(CheckedDeviceType(-1), EnforceNotMet);
}

TEST(CPUContextTest, ContextsWithoutASeedDiffer) {
  const DeviceOption none;
  EXPECT_NE(CPUContext(none).random_seed(), CPUContext(none).random_seed());
  EXPECT_NE(CPUContext().random_seed(), CPUContext().random_seed());
  DeviceOption zero;
  zero.set_random_seed(0);  // a seed like any other
  EXPECT_EQ(CPUContext(zero).RandGenerator()(), std::mt19937(0)());
}

// A context goes on with its numbers when the seed of its net is removed.
TEST(CPUContextTest, NumbersGoOnWithoutTheSeed) {
  RandomRuns runs;
  RandomPlace place;
  place.Set(&runs, 7);
  runs.SetSeed(5);
  CPUContext context, same;
  context.SetRandomPlace(&place);
  same.SetRandomPlace(&place);
  const auto first = same.RandGenerator()(), second = same.RandGenerator()();
  EXPECT_EQ(context.RandGenerator()(), first);
  runs.SetSeed(std::nullopt);
  EXPECT_EQ(context.RandGenerator()(), second);
  runs.SetSeed(5);
  EXPECT_EQ(context.RandGenerator()(), first);
}

TEST(CPUContextTest, TheSeedOfADeviceOptionIsNotThatOfThePlace) {
  RandomRuns runs;
  RandomPlace place;
  place.Set(&runs, 7);
  runs.SetSeed(5);
  DeviceOption seeded;
  seeded.set_random_seed(3);
  CPUContext own(seeded), none{DeviceOption()}, plain;
  for (CPUContext* const context : {&own, &none, &plain}) context->SetRandomPlace(&place);
  std::mt19937 same(3);
  EXPECT_EQ(own.RandGenerator()(), same());
  const auto of_place = none.RandGenerator()();
  EXPECT_EQ(plain.RandGenerator()(), of_place);
  EXPECT_NE(own.RandGenerator()(), of_place);
  // A later run is another stream; the context with a seed of its own goes on.
  runs.SetSeed(6);
  EXPECT_NE(none.RandGenerator()(), of_place);
  (void)same();
  EXPECT_EQ(own.RandGenerator()(), same());
}

TEST(CPUContextTest, HasNoGraphs) {
  EXPECT_EQ(GetCPUStaticContext()->CreateGraph(DeviceOption()), nullptr);
}

}  // namespace
}  // namespace caffe2rt::cpu_context_test
