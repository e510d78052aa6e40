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

TEST_F(CudnnTest, IsOfTheVersionOfItsHeaders) {
  EXPECT_EQ(cudnnRuntimeVersion() / 10000, cudnnCompileTimeVersion() / 10000);
  CheckCuDNNVersions();
}

TEST(CudnnVersionTest, WantsTheMajorVersionOfTheBuildAndNothingOlder) {
  internal::CheckCudnnVersions(91300, 91300);
  internal::CheckCudnnVersions(91300, 91401);
  EXPECT_THAT(ErrorOf([] { internal::CheckCudnnVersions(91300, 80905); }),
              HasSubstr("major version of cuDNN: found 80905, built with 91300"));
  EXPECT_THAT(ErrorOf([] { internal::CheckCudnnVersions(91300, 100000); }),
              HasSubstr("found 100000, built with 91300"));
  EXPECT_THAT(ErrorOf([] { internal::CheckCudnnVersions(91300, 91200); }),
              HasSubstr("want the one of the build or later"));
}

}  // namespace
}  // namespace caffe2rt::test::cudnn_library_test
