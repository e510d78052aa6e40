// The default arithmetic for devices that have none of their own: in pieces, through CPU memory.
#include "contexts/synced/synced_math.h"

#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_math_test {
namespace {

// More than two pieces of float, and an odd remainder.
constexpr size_t kMany = 600001;
const TypeMeta kFloat = TypeMeta::Make<float>();

class DefaultMathTest : public testing::Test {
 protected:
  DataPtr New(const std::vector<float>& values) {
    DataPtr memory(TheCountingStaticContext()->New(values.size() * sizeof(float)));
    context_.CopyFromCPU(values.size(), values.data(), static_cast<float*>(memory.get()));
    context_.FinishDeviceComputation();
    return memory;
  }
  static std::vector<float> ValuesOf(const DataPtr& memory, size_t n) {
    return OnDevice(static_cast<const float*>(memory.get()), n);
  }
  CountingContext context_;
  const SyncedMath math_{};
};

TEST_F(DefaultMathTest, SumsInDouble) {
  // In float the ones would be lost, because 2^24 + 1 = 2^24.
  std::vector<float> values(kMany, -1.f);
  values[0] = 16777216.f;
  const DataPtr memory = New(values);
  EXPECT_EQ(math_.Asum(context_, kFloat, kMany, memory.get()), 16777216.0 + 600000.0);
  EXPECT_EQ(math_.Sumsq(context_, kFloat, kMany, memory.get()), 281474976710656.0 + 600000.0);
  EXPECT_EQ(math_.Asum(context_, kFloat, 0, nullptr), 0.0);
}

TEST_F(DefaultMathTest, ScalesEveryElementOnce) {
  const DataPtr memory = New(std::vector<float>(kMany, 3.f));
  math_.Scale(context_, kFloat, kMany - 1, 0.5, memory.get());
  context_.FinishDeviceComputation();
  std::vector<float> want(kMany, 1.5f);
  want.back() = 3.f;
  EXPECT_EQ(ValuesOf(memory, kMany), want);
}

TEST_F(DefaultMathTest, SubtractsEveryElementOnce) {
  std::vector<float> x(kMany), y(kMany), want(kMany);
  for (size_t i = 0; i < kMany; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = 7;
    want[i] = 7 - x[i];
  }
  const DataPtr from = New(x), to = New(y);
  math_.Subtract(context_, kFloat, kMany, from.get(), to.get());
  context_.FinishDeviceComputation();
  EXPECT_EQ(ValuesOf(to, kMany), want);
}

TEST_F(DefaultMathTest, ZeroesBytes) {
  const DataPtr memory = New(std::vector<float>(kMany, 3.f));
  math_.Zero(context_, (kMany - 1) * sizeof(float), memory.get());
  std::vector<float> want(kMany, 0.f);
  want.back() = 3.f;
  EXPECT_EQ(ValuesOf(memory, kMany), want);
  math_.Zero(context_, 0, nullptr);
}

TEST_F(DefaultMathTest, RejectsOtherElementTypes) {
  const DataPtr memory = New({1});
  for (const TypeMeta type : {TypeMeta::Make<int>(), TypeMeta()}) {
    ExpectThrows([&] { math_.Asum(context_, type, 1, memory.get()); }, "for float and double");
    ExpectThrows([&] { math_.Scale(context_, type, 1, 2, memory.get()); }, "for float and double");
    ExpectThrows([&] { internal::HostSumsq(type, 1, memory.get()); }, "for float and double");
  }
}

TEST(SyncedMathRegistryTest, DeviceWithoutMathGetsTheDefaults) {
  const SyncedMath& defaults = SyncedMathOf(HIP);
  EXPECT_EQ(&SyncedMathOf(FPGA), &defaults);
  auto own = std::make_unique<SyncedMath>();
  const SyncedMath* const address = own.get();
  RegisterSyncedMath(FPGA, std::move(own));
  EXPECT_EQ(&SyncedMathOf(FPGA), address);
  EXPECT_EQ(&SyncedMathOf(HIP), &defaults);
  ExpectThrows([] { RegisterSyncedMath(FPGA, std::make_unique<SyncedMath>()); },
               "device FPGA already has math");
  ExpectThrows([] { RegisterSyncedMath(HIP, nullptr); }, "no math is given");
  ExpectThrows([] { RegisterSyncedMath(static_cast<DeviceType>(32), nullptr); }, "want 0 to 31");
}

}  // namespace
}  // namespace caffe2rt::test::synced_math_test
