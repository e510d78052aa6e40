// How plans of cuDNN's legacy API choose algorithms and workspaces.
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/window_arguments.h"
#include "operators/conv/cuda_conv.h"
#include "tests/support/devices_agree.h"

extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);
extern "C" __attribute__((weak)) void fakecuda_set(const char* value, long number);
extern "C" __attribute__((weak)) void fakecuda_set_limit(int device, size_t bytes);
extern "C" __attribute__((weak)) size_t fakecuda_live_bytes(int device);

namespace caffe2rt::test::conv_cudnn_test {
namespace {

class ConvCudnnTest : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
    GlobalCudaLibraryOptions().cudnn_graph = false;
  }
  void TearDown() override { GlobalCudaLibraryOptions().cudnn_graph = true; }
};

ConvShape Square(int64_t size) {
  const OperatorDef def = ParseOp(R"(type: "Conv" arg { name: "kernels" ints: 3 ints: 3 })");
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kConv);
  return {MakeWindowGeometry(window, {1, 1, size, size}), 1, window.group, false};
}

// A convolution of one image of size x size. Its fastest algorithm needs 36 * size * size bytes of
// workspace.
class OneConv {
 public:
  OneConv(const CudnnConvOptions& options, int64_t size, int device = 0) : context_(device) {
    const DeviceGuard guard(device);
    const ConvShape shape = Square(size);
    for (Tensor* const tensor : {&x_, &w_, &y_}) {
      tensor->Resize(tensor == &w_ ? 9 : size * size);
      tensor->mutable_data<float>();
    }
    std::string reason;
    plan_ = NewCudnnConv(context_, shape, options, &scratch_, &reason);
    EXPECT_NE(plan_, nullptr) << reason;
  }
  bool Run(std::string* reason) {
    const bool ran = plan_->Run(context_, x_.data<float>(), w_.data<float>(), nullptr,
                                y_.mutable_data<float>(), reason);
    context_.FinishDeviceComputation();
    return ran;
  }
  CUDAContext& context() { return context_; }

 private:
  CUDAContext context_;
  Tensor x_{CUDA}, w_{CUDA}, y_{CUDA}, scratch_{CUDA};
  std::unique_ptr<CudaConvPlan> plan_;
};

TEST_F(ConvCudnnTest, UsesASmallerWorkspaceWhereMemoryIsShort) {
  if (&fakecuda_set_limit == nullptr) GTEST_SKIP() << "memory is limited on the fake CUDA";
  OneConv conv({}, 1024);  // 36 MiB
  ReleaseCachedCudaMemory();
  const size_t live = fakecuda_live_bytes(0);
  fakecuda_set_limit(0, live + (size_t{8} << 20));
  std::string reason;
  EXPECT_TRUE(conv.Run(&reason)) << reason;
  EXPECT_LE(fakecuda_live_bytes(0), live + (size_t{8} << 20));
  fakecuda_set_limit(0, size_t{1} << 30);
}

TEST_F(ConvCudnnTest, AForcedAlgorithmIsNotReplacedWhereMemoryIsShort) {
  if (&fakecuda_set_limit == nullptr) GTEST_SKIP() << "memory is limited on the fake CUDA";
  constexpr int kImplicitPrecompGemm = 1;
  OneConv conv({.algorithm = kImplicitPrecompGemm}, 1024);  // 36 MiB
  ReleaseCachedCudaMemory();
  fakecuda_set_limit(0, fakecuda_live_bytes(0) + (size_t{8} << 20));
  std::string reason;
  EXPECT_THROW(conv.Run(&reason), OutOfMemory);
  fakecuda_set_limit(0, size_t{1} << 30);
  constexpr int kImplicitGemm = 0;  // needs no workspace
  OneConv small({.algorithm = kImplicitGemm}, 1024);
  ReleaseCachedCudaMemory();
  fakecuda_set_limit(0, fakecuda_live_bytes(0));
  EXPECT_TRUE(small.Run(&reason)) << reason;
  fakecuda_set_limit(0, size_t{1} << 30);
}

TEST_F(ConvCudnnTest, SearchesOnceForAShapeInAProcess) {
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "calls are counted by the fake CUDA";
  const auto searches = [] { return fakecuda_calls("cudnnFindConvolutionForwardAlgorithmEx"); };
  const CudnnConvOptions options{.exhaustive_search = true};
  const long before = searches();
  std::string reason;
  for (const int64_t size : {17, 18, 17, 18}) {
    OneConv conv(options, size);
    for (int run = 0; run < 2; ++run) EXPECT_TRUE(conv.Run(&reason)) << reason;
  }
  EXPECT_EQ(searches(), before + 2);
  GlobalCudaLibraryOptions().allow_tf32 = true;
  EXPECT_TRUE(OneConv(options, 17).Run(&reason)) << reason;
  GlobalCudaLibraryOptions().allow_tf32 = false;
  EXPECT_EQ(searches(), before + 3);
  if (NumCudaDevices() < 2) return;
  const DeviceGuard guard(1);
  for (int run = 0; run < 2; ++run) EXPECT_TRUE(OneConv(options, 17, 1).Run(&reason)) << reason;
  EXPECT_EQ(searches(), before + 4);
}

TEST(DefaultWorkspaceTest, IsASixteenthOfTheDevice) {
  constexpr size_t kMiB = size_t{1} << 20, kGiB = size_t{1} << 30;
  EXPECT_EQ(DefaultWorkspaceLimit(kGiB / 2), 64 * kMiB);
  EXPECT_EQ(DefaultWorkspaceLimit(kGiB), 64 * kMiB);
  EXPECT_EQ(DefaultWorkspaceLimit(2 * kGiB), 128 * kMiB);
  EXPECT_EQ(DefaultWorkspaceLimit(16 * kGiB), kGiB);
  EXPECT_EQ(DefaultWorkspaceLimit(80 * kGiB), 5 * kGiB);
}

TEST_F(ConvCudnnTest, FindsAnAlgorithmAmongMoreThanTheHeadersKnow) {
  if (&fakecuda_set == nullptr) GTEST_SKIP() << "algorithms are added by the fake cuDNN";
  fakecuda_set("cudnn_algorithms", 30);
  std::string reason;
  EXPECT_TRUE(OneConv({}, 19).Run(&reason)) << reason;
  EXPECT_TRUE(OneConv({.exhaustive_search = true}, 19).Run(&reason)) << reason;
  fakecuda_set("cudnn_algorithms", 0);
}

}  // namespace
}  // namespace caffe2rt::test::conv_cudnn_test
