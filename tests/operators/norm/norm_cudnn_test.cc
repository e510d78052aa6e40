// The normalization operators run their native kernels if cuDNN does not support a call.

#include "contexts/cuda/cudnn_library.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::norm_cudnn_test {
namespace {

int refusals = 0;

template <class... Args>
cudnnStatus_t Refuse(Args...) {
  ++refusals;
  return CUDNN_STATUS_NOT_SUPPORTED;
}

// Replaces a function of cuDNN by one that supports nothing.
template <class... Args>
class Refusing {
 public:
  using Function = cudnnStatus_t (*)(Args...);
  explicit Refusing(Function CudnnFunctions::*member)
      : entry_(const_cast<CudnnFunctions&>(Cudnn()).*member), function_(entry_) {
    entry_ = Refuse<Args...>;
    refusals = 0;
  }
  ~Refusing() { entry_ = function_; }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;

 private:
  Function& entry_;
  const Function function_;
};
template <class... Args>
Refusing(cudnnStatus_t (*CudnnFunctions::*)(Args...)) -> Refusing<Args...>;

class NormCudnnTest : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (!IsSkipped() && !HasCudnn()) GTEST_SKIP() << CudnnProblem();
  }
  template <class Member>
  void ExpectNativeKernels(Member member, const std::string& text) {
    SCOPED_TRACE(text);
    const Refusing refusing(member);
    ExpectDevicesAgree(&ws_, text, {.tolerance = 1e-5, .engines = {"", "CUDNN"}});
    EXPECT_GT(refusals, 0);
  }
};

TEST_F(NormCudnnTest, SoftmaxRunsNativeKernels) {
  FeedRandom(&ws_, "X", {3, 7}, -2, 2);
  FeedRandom(&ws_, "Y", {3, 7}, 0, 1, 2);
  FeedRandom(&ws_, "dY", {3, 7}, -1, 1, 3);
  const std::string forward = R"(type: "Softmax" input: "X" output: "P")";
  const std::string gradient = R"(type: "SoftmaxGradient" input: "Y" input: "dY" output: "dX")";
  ExpectNativeKernels(&CudnnFunctions::SoftmaxForward, forward);
  ExpectNativeKernels(&CudnnFunctions::SoftmaxBackward, gradient);
  ExpectNativeKernels(&CudnnFunctions::SetTensor4dDescriptor, forward);
}

TEST_F(NormCudnnTest, LRNRunsNativeKernels) {
  FeedRandom(&ws_, "X", {2, 7, 3, 3}, -2, 2);
  FeedRandom(&ws_, "dY", {2, 7, 3, 3}, -1, 1, 2);
  const std::string arguments = R"( arg { name: "size" i: 5 } arg { name: "alpha" f: 0.5 }
                                    arg { name: "beta" f: 0.7 } arg { name: "bias" f: 1.5 })";
  const std::string forward = R"(type: "LRN" input: "X" output: "Y")" + arguments;
  RunOp(&ws_, forward);
  ExpectNativeKernels(&CudnnFunctions::LRNCrossChannelForward, forward);
  ExpectNativeKernels(&CudnnFunctions::SetLRNDescriptor, forward);
  ExpectNativeKernels(
      &CudnnFunctions::LRNCrossChannelBackward,
      R"(type: "LRNGradient" input: "X" input: "Y" input: "dY" output: "dX")" + arguments);
}

TEST_F(NormCudnnTest, SpatialBNRunsNativeKernels) {
  FeedRandom(&ws_, "X", {2, 3, 4, 4}, -2, 2);
  FeedRandom(&ws_, "dY", {2, 3, 4, 4}, -1, 1, 2);
  for (const char* name : {"s", "b", "m", "v"}) FeedRandom(&ws_, name, {3}, 0.5f, 2);
  const std::string inputs = R"(input: "X" input: "s" input: "b" input: "m" input: "v" )";
  ExpectNativeKernels(
      &CudnnFunctions::BatchNormalizationForwardInference,
      R"(type: "SpatialBN" )" + inputs + R"(output: "Y" arg { name: "is_test" i: 1 })");
  ExpectNativeKernels(
      &CudnnFunctions::DeriveBNTensorDescriptor,
      R"(type: "SpatialBN" )" + inputs + R"(output: "Y" arg { name: "is_test" i: 1 })");
  ExpectNativeKernels(&CudnnFunctions::BatchNormalizationForwardTraining,
                      R"(type: "SpatialBN" )" + inputs +
                          R"(output: "Y" output: "m" output: "v" output: "sm" output: "sv"
                             arg { name: "is_test" i: 0 })");
  ExpectNativeKernels(&CudnnFunctions::BatchNormalizationBackward,
                      R"(type: "SpatialBNGradient" input: "X" input: "s" input: "dY" input: "m"
                         input: "v" output: "dX" output: "ds" output: "db")");
}

}  // namespace
}  // namespace caffe2rt::test::norm_cudnn_test
