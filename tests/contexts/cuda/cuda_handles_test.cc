// Handles of the libraries: how many are created, and which streams they are bound to.
#include "contexts/cuda/cuda_handles.h"

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "contexts/cuda/cublas_library.h"
#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_handles_test {
namespace {

struct Library {
  const char* name;
  bool (*is_available)();
  const char* create;
  const char* bind;
  void* (*handle)(CUDAContext&);
  void (*take)(CudaHandles& handles, CudaStream& stream);
};

class CudaHandlesTest : public CudaTest, public testing::WithParamInterface<Library> {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    SKIP_BELOW_DEVICES(2);
    if (!GetParam().is_available()) GTEST_SKIP() << "no " << GetParam().name;
  }
  static void* Handle(CUDAContext& context) { return GetParam().handle(context); }
  static long Created() { return fakecuda_calls(GetParam().create); }
  static long Bound() { return fakecuda_calls(GetParam().bind); }
};

INSTANTIATE_TEST_SUITE_P(
    Libraries, CudaHandlesTest,
    testing::Values(Library{"cuBLAS", &HasCublas, "cublasCreate", "cublasSetStream",
                            [](CUDAContext& c) -> void* { return c.cublas_handle(); },
                            [](CudaHandles& h, CudaStream& s) { CublasHandle(h, s, false); }},
                    Library{"cuDNN", &HasCudnn, "cudnnCreate", "cudnnSetStream",
                            [](CUDAContext& c) -> void* { return c.cudnn_handle(); },
                            [](CudaHandles& h, CudaStream& s) { CudnnHandle(h, s); }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(CudaHandlesTest, ThreadsThatEndLeaveTheirHandlesToOthers) {
  for (const int device : {0, 1}) {
    std::set<void*> seen;
    long first = 0;
    for (int i = 0; i < 5; ++i) {
      std::thread([&] {
        CUDAContext context(device);
        seen.insert(Handle(context));
      }).join();
      if (i == 0) first = Created();
    }
    EXPECT_EQ(seen.size(), 1u);
    EXPECT_EQ(Created(), first);
  }
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_P(CudaHandlesTest, HasOneForEachThreadAndDevice) {
  std::set<void*> seen;
  const auto take = [&] {
    CUDAContext here(0), there(1);
    seen.insert(Handle(here));
    seen.insert(Handle(there));
    const long created = Created();
    CUDAContext more(1);
    seen.insert(Handle(more));
    EXPECT_EQ(Created(), created);
  };
  take();
  std::thread(take).join();
  EXPECT_EQ(seen.size(), 4u);
}

TEST_P(CudaHandlesTest, IsBoundOnceForAStream) {
  CUDAContext one(1), other(1);
  one.SwitchToDevice(1);
  other.SwitchToDevice(2);
  CaffeCudaSetDevice(0);
  Handle(other);
  for (CUDAContext* const context : {&one, &other}) {
    const long before = Bound();
    Handle(*context);
    EXPECT_EQ(Bound(), before + 1);
    Handle(*context);
    EXPECT_EQ(Bound(), before + 1);
  }
}

TEST_P(CudaHandlesTest, IsBoundAgainAfterAFailure) {
  CUDAContext before, context;
  before.SwitchToDevice(4);
  Handle(before);
  context.SwitchToDevice(5);
  fakecuda_fail(GetParam().bind, 0, 1, cudaErrorUnknown, 0);
  EXPECT_NE(ErrorOf([&] { Handle(context); }), "");
  const long bound = Bound();
  Handle(context);
  EXPECT_EQ(Bound(), bound + 1);
  // Nor is the handle considered bound to its previous stream.
  fakecuda_fail(GetParam().bind, 0, 1, cudaErrorUnknown, 0);
  EXPECT_NE(ErrorOf([&] { Handle(before); }), "");
  Handle(context);
  EXPECT_EQ(Bound(), bound + 3);
}

// A new handle needs more memory than the device has left. What the pool has cached suffices.
TEST_P(CudaHandlesTest, IsCreatedInMemoryThatThePoolHadCached) {
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::NONE) GTEST_SKIP() << "caches nothing";
  constexpr size_t kBytes = size_t{64} << 20;
  ReleaseCachedCudaMemory();
  {
    CUDAContext context(1);
    context.SwitchToDevice(0);
    DataPtr(CUDAContext::New(kBytes)).Reset();
  }
  CaffeCudaSetDevice(0);
  // Use up the stock of handles.
  CudaStream& stream = ThreadStream(1, 0);
  std::vector<CudaHandles> held;
  const auto take = [&] {
    held.emplace_back();
    GetParam().take(held.back(), stream);
  };
  for (const long at_first = Created(); Created() == at_first;) take();
  const size_t before = fakecuda_live_bytes(1);
  ASSERT_GE(before, kBytes);
  fakecuda_set("handle_bytes", kBytes);
  fakecuda_set_limit(1, before + kBytes / 2);
  const long created = Created();
  EXPECT_EQ(ErrorOf(take), "");
  EXPECT_GT(Created(), created);
  for (const CudaHandles& handles : held) GiveHandles(1, handles);
  fakecuda_set("handle_bytes", 0);
  fakecuda_set_limit(1, size_t{1} << 30);
}

using CublasHandleTest = CudaTest;

TEST_F(CublasHandleTest, ItsMathModeIsSetAgainAfterAFailure) {
  if (!HasCublas()) GTEST_SKIP() << CublasProblem();
  GlobalCudaLibraryOptions().allow_tf32 = true;
  std::thread([] { CUDAContext().cublas_handle(); }).join();  // leaves a handle that allows TF32
  GlobalCudaLibraryOptions().allow_tf32 = false;
  std::thread([] {
    CUDAContext context;
    fakecuda_fail("cublasSetMathMode", 0, 1, cudaErrorUnknown, 0);
    EXPECT_NE(ErrorOf([&] { context.cublas_handle(); }), "");
    cublasMath_t mode = CUBLAS_PEDANTIC_MATH;
    CUBLAS_ENFORCE(Cublas().GetMathMode(context.cublas_handle(), &mode));
    EXPECT_EQ(mode, CUBLAS_DEFAULT_MATH);
  }).join();
}

// The parameter is the device.
class CurandHandleTest : public CudaTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    SKIP_BELOW_DEVICES(2);
    if (!HasCurand()) GTEST_SKIP() << CurandProblem();
  }
  void TearDown() override {
    CaffeCudaSetDevice(0);
    CudaTest::TearDown();
  }
  std::unique_ptr<CUDAContext> OnStream(int stream) {
    auto context = std::make_unique<CUDAContext>(GetParam());
    context->SwitchToDevice(stream);
    Synchronize(context->cuda_stream());
    return context;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, CurandHandleTest, testing::Values(0, 1));

TEST_P(CurandHandleTest, MovesToAnotherStreamBehindItsWork) {
  const auto context = OnStream(1);
  context->curand_generator();
  Gate gate(context->cuda_stream());
  Synchronize(ThreadStream(GetParam(), 2).stream);
  context->SwitchToDevice(2);
  context->curand_generator();
  EXPECT_FALSE(IsStreamFree(GetParam(), 2));
  gate.Open();
  context->FinishDeviceComputation();
}

TEST_P(CurandHandleTest, GoesToAnotherContextBehindItsWork) {
  auto first = OnStream(1);
  const curandGenerator_t generator = first->curand_generator();
  Gate gate(first->cuda_stream());
  first.reset();
  std::thread([&] {
    const auto second = OnStream(1);  // a context of another thread
    EXPECT_EQ(second->curand_generator(), generator);
    EXPECT_FALSE(IsStreamFree(GetParam(), 1));
    gate.Open();
    second->FinishDeviceComputation();
  }).join();
}

TEST_P(CurandHandleTest, StaysOnItsStreamWithoutAWait) {
  const auto context = OnStream(1);
  context->curand_generator();
  const long bound = fakecuda_calls("curandSetStream"),
             waits = fakecuda_calls("cudaStreamWaitEvent");
  context->curand_generator();
  EXPECT_EQ(fakecuda_calls("curandSetStream"), bound);
  EXPECT_EQ(fakecuda_calls("cudaStreamWaitEvent"), waits);
}

TEST_P(CurandHandleTest, ContextsThatEndLeaveTheirGeneratorsToOthers) {
  OnStream(1)->curand_generator();
  const long created = fakecuda_calls("curandCreateGenerator");
  for (int i = 0; i < 5; ++i) OnStream(i)->curand_generator();
  EXPECT_EQ(fakecuda_calls("curandCreateGenerator"), created);
}

TEST_P(CurandHandleTest, IsBoundAgainAfterAFailure) {
  const auto get_twice = [](CUDAContext& context) {
    fakecuda_fail("curandSetStream", 0, 1, cudaErrorUnknown, 0);
    EXPECT_NE(ErrorOf([&] { context.curand_generator(); }), "");
    const long bound = fakecuda_calls("curandSetStream");
    context.curand_generator();
    EXPECT_EQ(fakecuda_calls("curandSetStream"), bound + 1);
  };
  const auto moved = OnStream(1);
  moved->curand_generator();
  moved->SwitchToDevice(2);
  get_twice(*moved);
  // Repeat until the stock is empty and a new generator is created.
  std::vector<std::unique_ptr<CUDAContext>> contexts;
  const long created = fakecuda_calls("curandCreateGenerator");
  while (fakecuda_calls("curandCreateGenerator") == created) {
    contexts.push_back(OnStream(7));
    get_twice(*contexts.back());
    ASSERT_LT(contexts.size(), 100u);
  }
}

}  // namespace
}  // namespace caffe2rt::test::cuda_handles_test
