#include "contexts/cuda/cudnn_backend.h"

#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cudnn_backend_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CudnnDescriptorTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
    if (!HasCudnnBackend()) GTEST_SKIP() << "this cuDNN lacks the backend API";
  }
};

constexpr int64_t kDims[] = {2, 3, 4, 5}, kStrides[] = {60, 20, 5, 1};

CudnnDescriptor NewTensor() {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t{7});
  tensor.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{16});
  tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  tensor.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(kDims));
  tensor.Set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(kStrides));
  return tensor;
}

TEST_F(CudnnDescriptorTest, ReturnsTheAttributesOfAFinalizedDescriptor) {
  CudnnDescriptor tensor = NewTensor();
  EXPECT_TRUE(tensor.Finalize()) << CudnnStatusText(tensor.status());
  EXPECT_THAT(tensor.Get<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, 8), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(tensor.Get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 1), ElementsAre(7));
}

TEST_F(CudnnDescriptorTest, KeepsTheStatusOfTheFirstFailure) {
  CudnnDescriptor tensor = NewTensor();
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, 1.0f);
  EXPECT_EQ(tensor.status(), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t{1});
  EXPECT_FALSE(tensor.Finalize());
  EXPECT_THAT(tensor.Get<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, 8), IsEmpty());
  EXPECT_EQ(tensor.status(), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
}

TEST_F(CudnnDescriptorTest, TakesOverTheFailureOfADescriptorThatItRefersTo) {
  CudnnDescriptor tensor = NewTensor();
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, 1.0f);
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
  EXPECT_EQ(operation.status(), CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
}

TEST_F(CudnnDescriptorTest, DoesNotChangeOnceFinalized) {
  CudnnDescriptor tensor = NewTensor();
  ASSERT_TRUE(tensor.Finalize());
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t{8});
  EXPECT_FALSE(tensor.ok());
}

TEST_F(CudnnDescriptorTest, CanBeMoved) {
  CudnnDescriptor tensor = NewTensor();
  const cudnnBackendDescriptor_t raw = tensor.get();
  CudnnDescriptor moved = std::move(tensor);
  EXPECT_EQ(moved.get(), raw);
  CudnnDescriptor other(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  other = std::move(moved);
  EXPECT_EQ(other.get(), raw);
  EXPECT_TRUE(other.Finalize());
}

}  // namespace
}  // namespace caffe2rt::test::cudnn_backend_test
