#include "contexts/cuda/cudnn_library.h"

#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cudnn_library_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CudnnTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
  }
};

TEST_F(CudnnTest, FollowsTheStreamOfTheContext) {
  CUDAContext context;
  const cudnnHandle_t handle = context.cudnn_handle();
  context.SwitchToDevice(3);
  EXPECT_EQ(context.cudnn_handle(), handle);
  cudaStream_t stream = nullptr;
  CUDNN_ENFORCE(Cudnn().GetStream(handle, &stream));
  EXPECT_EQ(stream, context.cuda_stream());
}

TEST_F(CudnnTest, NamesLibraryDeviceCallAndStatus) {
  EXPECT_THAT(ErrorOf([] { CUDNN_ENFORCE(Cudnn().SetStream(nullptr, nullptr), "of a test"); }),
              AllOf(HasSubstr("cuDNN on CUDA 0: SetStream: CUDNN_STATUS_"), HasSubstr("(status "),
                    HasSubstr("of a test")));
}

TEST_F(CudnnTest, IsOfAVersionThatCanBeUsed) {
  EXPECT_EQ(cudnnRuntimeVersion() / 10000, cudnnCompileTimeVersion() / 10000);
  CheckCuDNNVersions();
}

TEST(CudnnVersionTest, RequiresTheSameMajorVersionFromTheFirstReleaseForCuda13) {
  const auto problem = [](size_t cudnn, size_t cudart) {
    return internal::CudnnVersionProblem({cudnn, cudart});
  };
  EXPECT_EQ(problem(91200, 13000), "");
  EXPECT_EQ(problem(91300, 13000), "");
  EXPECT_EQ(problem(99900, 13020), "");
  const std::string want =
      " was found and cannot be used, want 9.12.0 or later of the same major version";
  EXPECT_EQ(problem(80905, 13000), "cuDNN 8.9.5" + want);
  EXPECT_EQ(problem(91102, 13000), "cuDNN 9.11.2" + want);
  EXPECT_EQ(problem(100000, 13000), "cuDNN 10.0.0" + want);
  EXPECT_EQ(problem(91300, 12090),
            "cuDNN 9.13.0 for CUDA 12 was found and cannot be used, want one for CUDA 13");
}

}  // namespace
}  // namespace caffe2rt::test::cudnn_library_test
