// A device defined by the test: host memory with counters. It shows that a device needs only one
// folder and one registration.
#include "caffe2_core/device/context.h"

#include <cstdlib>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/opaque_layout.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::context_test {
namespace {

using ::testing::Contains;

constexpr auto kCounting = static_cast<DeviceType>(17);
int g_allocations = 0;
int g_copies_from_cpu = 0;
int g_copies_to_cpu = 0;
int g_finishes = 0;

class CountingStaticContext;
CountingStaticContext* TheCountingStaticContext();

class CountingContext final : public BaseContext {
 public:
  explicit CountingContext(const DeviceOption&) {}
  static constexpr DeviceType GetDeviceType() { return kCounting; }
  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption&, int) { return true; }
  BaseStaticContext* GetStaticContext() const override;
  DeviceType device_type() const override { return kCounting; }
  void SwitchToDevice(int) override {}
  void WaitEvent(const Event&) override {}
  void Record(Event*, const char*) const override {}
  void FinishDeviceComputation() override { ++g_finishes; }
  void CopyBytesSameDevice(size_t n, const void* src, void* dst) override {
    std::memcpy(dst, src, n);
  }
  void CopyBytesFromCPU(size_t n, const void* src, void* dst) override {
    ++g_copies_from_cpu;
    std::memcpy(dst, src, n);
  }
  void CopyBytesToCPU(size_t n, const void* src, void* dst) override {
    ++g_copies_to_cpu;
    std::memcpy(dst, src, n);
  }
};

class CountingStaticContext final : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    ++g_allocations;
    return {std::calloc(nbytes == 0 ? 1 : nbytes, 1), MemoryDeleter(&std::free)};
  }
  std::unique_ptr<BaseContext> CreateContext() override { return CreateContext(DeviceOption()); }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override {
    return std::make_unique<CountingContext>(option);
  }
  DeviceType GetDeviceType() override { return kCounting; }
};

CountingStaticContext* TheCountingStaticContext() {
  static auto* const context = new CountingStaticContext;
  return context;
}
BaseStaticContext* CountingContext::GetStaticContext() const { return TheCountingStaticContext(); }

REGISTER_STATIC_CONTEXT(17, "COUNTING", TheCountingStaticContext());

class DoubleOnCountingOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    Tensor* y = Output(0, x.sizes(), x.dtype());
    for (int64_t i = 0; i < x.numel(); ++i) y->mutable_data<float>()[i] = 2 * x.data<float>()[i];
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(17, DoubleOnCounting, DoubleOnCountingOp);

TEST(ContextTest, ADeviceOfAUserIsKnownByItsRegistrationAlone) {
  EXPECT_THAT(RegisteredDeviceTypes(), Contains(kCounting));
  EXPECT_EQ(GetStaticContext(kCounting), TheCountingStaticContext());
  EXPECT_EQ(DeviceTypeName(17), "COUNTING");
  EXPECT_EQ(GetStaticContext(kCounting)->CreateContext()->GetDevicetype(), kCounting);
}

TEST(ContextTest, ListsTheAvailableDevicesIfOneIsMissing) {
  EXPECT_EQ(FindStaticContext(static_cast<DeviceType>(18)), nullptr);
  test::ExpectThrows([] { GetStaticContext(static_cast<DeviceType>(18)); }, "CPU");
  test::ExpectThrows([] { GetStaticContext(CUDA); }, "CUDA");
}

TEST(ContextTest, RejectsASecondContextForADeviceType) {
  test::ExpectThrows([] { RegisterStaticContext(kCounting, "AGAIN", TheCountingStaticContext()); },
                     "COUNTING");
}

// A registration at namespace scope cannot throw: the next lookup that fails does, once.
TEST(ContextTest, ConflictsOfStaticRegistrationsAreThrownByALookupThatFails) {
  const internal::StaticContextRegisterer fine(static_cast<DeviceType>(21), "LATE",
                                               TheCountingStaticContext());
  EXPECT_EQ(DeviceTypeName(21), "LATE");
  EXPECT_EQ(GetStaticContext(static_cast<DeviceType>(21)), TheCountingStaticContext());
  const internal::StaticContextRegisterer again(kCounting, "AGAIN", TheCountingStaticContext());
  EXPECT_EQ(GetStaticContext(kCounting), TheCountingStaticContext());
  EXPECT_EQ(DeviceTypeName(17), "COUNTING");
  const auto look_up = [] { GetStaticContext(static_cast<DeviceType>(18)); };
  test::ExpectThrows(look_up,
                     "device type 17 is registered twice: as \"COUNTING\" and as \"AGAIN\"");
  test::ExpectThrows(look_up, "is not available; available: CPU");
  const internal::StaticContextRegisterer far(static_cast<DeviceType>(32), "FAR",
                                              TheCountingStaticContext());
  test::ExpectThrows(look_up, "cannot register \"FAR\" as device type 32, want 0 to 31");
}

TEST(ContextTest, TensorsMoveBetweenTwoDevicesThroughTheCpuOnly) {
  Tensor host(CPU);
  host.Resize(2);
  host.mutable_data<float>()[1] = 4;
  const Tensor ideep(host, IDEEP);
  test::ExpectThrows([&] { Tensor(kCounting).CopyFrom(ideep); },
                     "cannot copy from IDEEP to COUNTING directly: copy through the CPU");
  const Tensor device(Tensor(ideep, CPU), kCounting);
  const Tensor twin = device.Clone();
  EXPECT_EQ(twin.GetDeviceType(), kCounting);
  EXPECT_EQ(twin.data<float>()[1], 4);
}

// Elements in reverse order.
class TurnedLayout final : public OpaqueLayout {
 public:
  TurnedLayout() : OpaqueLayout({2}, 2, 2 * sizeof(float)) {}
  std::string Description() const override { return "turned"; }
  void ToPlain(const void* from, void* to) const override {
    for (int i = 0; i < 2; ++i)
      static_cast<float*>(to)[i] = static_cast<const float*>(from)[1 - i];
  }
};

TEST(ContextTest, OpaqueTensorsMoveToTheCpuAndTheirOwnDeviceOnly) {
  Tensor opaque(std::vector<int64_t>{2}, IDEEP);
  auto* const data = static_cast<float*>(
      opaque.mutable_opaque_data(TypeMeta::Make<float>(), std::make_shared<TurnedLayout>()));
  data[0] = 1;
  data[1] = 2;
  test::ExpectThrows([&] { Tensor(kCounting).CopyFrom(opaque); },
                     "cannot copy from IDEEP to COUNTING directly: copy through the CPU");
  for (const DeviceType to : {CPU, IDEEP}) {
    const Tensor plain(opaque, to);
    EXPECT_EQ(plain.opaque_layout(), nullptr);
    EXPECT_EQ(plain.data<float>()[0], 2);
    EXPECT_EQ(plain.data<float>()[1], 1);
  }
}

TEST(ContextTest, TensorsMoveBetweenTheCpuAndTheDevice) {
  Tensor host(CPU);
  host.Resize(3);
  for (int i = 0; i < 3; ++i) host.mutable_data<float>()[i] = static_cast<float>(i);
  const int allocations = g_allocations, from = g_copies_from_cpu, to = g_copies_to_cpu;
  Tensor device(host, kCounting);
  EXPECT_EQ(device.GetDeviceType(), kCounting);
  EXPECT_EQ(g_allocations, allocations + 1);
  EXPECT_EQ(g_copies_from_cpu, from + 1);
  Tensor back(device, CPU);
  EXPECT_EQ(g_copies_to_cpu, to + 1);
  EXPECT_EQ(back.data<float>()[2], 2);
}

TEST(ContextTest, ACopyBetweenDeviceAndCpuIsMadeByTheDeviceWhateverContextIsGiven) {
  Tensor host(CPU);
  host.Resize(1);
  host.mutable_data<float>()[0] = 3;
  CPUContext cpu;
  const int from = g_copies_from_cpu, to = g_copies_to_cpu, finishes = g_finishes;
  Tensor device(kCounting), back(CPU);
  device.CopyFrom(host, &cpu);
  EXPECT_EQ(g_copies_from_cpu, from + 1);
  back.CopyFrom(device, &cpu);
  EXPECT_EQ(g_copies_to_cpu, to + 1);
  EXPECT_EQ(g_finishes, finishes + 2);  // a copy by a context of its own is complete
  EXPECT_EQ(back.data<float>()[0], 3);
}

TEST(ContextTest, StringsCannotLiveOnADeviceWithoutConstructors) {
  Tensor host(CPU);
  host.Resize(1);
  host.mutable_data<std::string>();
  Tensor device(kCounting);
  EXPECT_THROW(device.CopyFrom(host), EnforceNotMet);
}

TEST(ContextTest, CopiesBytesToItsOwnTypeAndTheCpuOnly) {
  CountingContext context{DeviceOption()};
  const float src = 5;
  float dst = 0;
  context.CopyBytesToDevice(sizeof(src), &src, &dst, CPU);
  EXPECT_EQ(dst, 5);
  dst = 0;
  context.CopyBytesToDevice(sizeof(src), &src, &dst, kCounting);
  EXPECT_EQ(dst, 5);
  EXPECT_THROW(context.CopyBytesToDevice(sizeof(src), &src, &dst, CUDA), EnforceNotMet);
  dst = 0;
  context.CopySameDevice<float>(1, &src, &dst);
  EXPECT_EQ(dst, 5);
  const int from = g_copies_from_cpu, to = g_copies_to_cpu;
  const float two[] = {6, 7};
  float copy[] = {0, 0};
  context.CopyFromCPU<float>(2, two, copy);
  EXPECT_EQ(copy[1], 7);
  EXPECT_EQ(g_copies_from_cpu, from + 1);
  context.CopyToCPU<float>(1, two + 1, copy);
  EXPECT_EQ(copy[0], 7);
  EXPECT_EQ(g_copies_to_cpu, to + 1);
}

TEST(ContextTest, OperatorsOfTheDeviceRunInNetsThatWaitOnceAtTheEnd) {
  Workspace ws;
  Tensor* x = ws.CreateBlob("x")->GetMutableTensor(kCounting);
  x->Resize(2);
  x->mutable_data<float>()[1] = 3;
  const NetDef net = test::ParseNet(R"(
    name: "n" device_option { device_type: 17 }
    op { type: "DoubleOnCounting" input: "x" output: "y" }
    op { type: "DoubleOnCounting" input: "y" output: "z" })");
  ws.CreateNet(net);
  const int finishes = g_finishes;
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(ws.GetBlob("z")->Get<Tensor>().data<float>()[1], 12);
  EXPECT_EQ(g_finishes, finishes + 1);  // one for both operators
}

TEST(ContextTest, ExtractsTheDeviceTypeOfMemory) {
  DeviceOption option;
  GetStaticContext(kCounting)->ExtractDeviceOption(&option, nullptr);
  EXPECT_EQ(option.device_type(), 17);
}

}  // namespace
}  // namespace caffe2rt::context_test
