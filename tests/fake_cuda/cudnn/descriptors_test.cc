// Descriptors of the fake cuDNN. The expected statuses and shapes were recorded from NVIDIA's
// cuDNN 9.19, whose descriptors work on a machine without a GPU.

#include "cudnn/testing.h"

namespace cudnn_test {
namespace {

TEST_F(CudnnTest, RejectsInvalidShapes) {
  TensorDescriptor t;
  const auto set = [&](int n, int c, int h, int w) {
    return cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w);
  };
  EXPECT_EQ(set(0, 1, 1, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(-1, 1, 1, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(2, 1024, 1024, 1024), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(set(2, 1024, 1024, 1023), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnSetTensor4dDescriptor(nullptr, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetTensor4dDescriptorEx(t, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 60, 20, 5, 0),
            CUDNN_STATUS_BAD_PARAM);
  const std::vector<int> nine(9, 1);
  EXPECT_EQ(cudnnSetTensorNdDescriptor(t, CUDNN_DATA_FLOAT, 9, nine.data(), nine.data()),
            CUDNN_STATUS_NOT_SUPPORTED);
}

TEST_F(CudnnTest, ReportsStridesOfBothFormats) {
  TensorDescriptor t(2, 3, 4, 5, CUDNN_TENSOR_NHWC);
  cudnnDataType_t type;
  int n, c, h, w, ns, cs, hs, ws;
  ASSERT_DNN(cudnnGetTensor4dDescriptor(t, &type, &n, &c, &h, &w, &ns, &cs, &hs, &ws));
  EXPECT_EQ((std::vector<int>{n, c, h, w, ns, cs, hs, ws}),
            (std::vector<int>{2, 3, 4, 5, 60, 1, 15, 3}));
  size_t bytes = 0;
  ASSERT_DNN(cudnnGetTensorSizeInBytes(t, &bytes));
  EXPECT_EQ(bytes, 480u);
}

TEST_F(CudnnTest, DerivesTheParametersOfBatchNorm) {
  TensorDescriptor x(2, 6, 7, 9), derived;
  cudnnDataType_t type;
  int n, c, h, w, ns, cs, hs, ws;
  ASSERT_DNN(cudnnDeriveBNTensorDescriptor(derived, x, CUDNN_BATCHNORM_SPATIAL));
  ASSERT_DNN(cudnnGetTensor4dDescriptor(derived, &type, &n, &c, &h, &w, &ns, &cs, &hs, &ws));
  EXPECT_EQ((std::vector<int>{n, c, h, w}), (std::vector<int>{1, 6, 1, 1}));
  ASSERT_DNN(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 2, 6, 7, 9));
  ASSERT_DNN(cudnnDeriveBNTensorDescriptor(derived, x, CUDNN_BATCHNORM_PER_ACTIVATION));
  ASSERT_DNN(cudnnGetTensor4dDescriptor(derived, &type, &n, &c, &h, &w, &ns, &cs, &hs, &ws));
  EXPECT_EQ((std::vector<int>{n, c, h, w}), (std::vector<int>{1, 6, 7, 9}));
  EXPECT_EQ(type, CUDNN_DATA_FLOAT);
}

TEST_F(CudnnTest, ComputesShapesOfConvolutions) {
  cudnnConvolutionDescriptor_t conv;
  cudnnFilterDescriptor_t w;
  ASSERT_DNN(cudnnCreateConvolutionDescriptor(&conv));
  ASSERT_DNN(cudnnCreateFilterDescriptor(&w));
  const auto set = [&](int pad, int stride, int dilation) {
    return cudnnSetConvolution2dDescriptor(conv, pad, 0, stride, 1, dilation, 2,
                                           CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  };
  EXPECT_EQ(set(-1, 1, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(0, 0, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(0, 1, 0), CUDNN_STATUS_BAD_PARAM);
  ASSERT_DNN(set(1, 2, 1));
  EXPECT_EQ(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 0, 1, 1, 1),
            CUDNN_STATUS_BAD_PARAM);
  ASSERT_DNN(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 3, 3, 2));
  TensorDescriptor x(2, 3, 7, 9);
  int dims[4];
  ASSERT_DNN(
      cudnnGetConvolution2dForwardOutputDim(conv, x, w, &dims[0], &dims[1], &dims[2], &dims[3]));
  EXPECT_EQ(std::vector<int>(dims, dims + 4), (std::vector<int>{2, 6, 4, 7}));
  EXPECT_EQ(cudnnSetConvolutionGroupCount(conv, 0), CUDNN_STATUS_BAD_PARAM);
  ASSERT_DNN(cudnnSetConvolutionGroupCount(conv, 2));  // now x needs 6 channels
  EXPECT_EQ(
      cudnnGetConvolution2dForwardOutputDim(conv, x, w, &dims[0], &dims[1], &dims[2], &dims[3]),
      CUDNN_STATUS_BAD_PARAM);
  TensorDescriptor small(2, 6, 1, 1);  // the kernel does not fit
  EXPECT_EQ(
      cudnnGetConvolution2dForwardOutputDim(conv, small, w, &dims[0], &dims[1], &dims[2], &dims[3]),
      CUDNN_STATUS_BAD_PARAM);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyConvolutionDescriptor(conv);
}

TEST_F(CudnnTest, ComputesShapesOfPools) {
  cudnnPoolingDescriptor_t pool;
  ASSERT_DNN(cudnnCreatePoolingDescriptor(&pool));
  const auto set = [&](int window, int pad, int stride) {
    return cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, window, 3,
                                       pad, 1, stride, 2);
  };
  EXPECT_EQ(set(0, 0, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set(3, 0, 0), CUDNN_STATUS_BAD_PARAM);
  ASSERT_DNN(set(3, 1, 2));
  TensorDescriptor x(2, 6, 7, 9);
  int dims[4];
  ASSERT_DNN(cudnnGetPooling2dForwardOutputDim(pool, x, &dims[0], &dims[1], &dims[2], &dims[3]));
  EXPECT_EQ(std::vector<int>(dims, dims + 4), (std::vector<int>{2, 6, 4, 5}));
  cudnnDestroyPoolingDescriptor(pool);
}

TEST_F(CudnnTest, ChecksLimitsOfLrn) {
  cudnnLRNDescriptor_t lrn;
  ASSERT_DNN(cudnnCreateLRNDescriptor(&lrn));
  unsigned n;
  double alpha, beta, k;
  ASSERT_DNN(cudnnGetLRNDescriptor(lrn, &n, &alpha, &beta, &k));
  EXPECT_EQ(n, 5u);
  EXPECT_EQ(alpha, 1e-4);
  EXPECT_EQ(k, 2);
  EXPECT_EQ(cudnnSetLRNDescriptor(lrn, 0, 1e-4, 0.75, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetLRNDescriptor(lrn, 17, 1e-4, 0.75, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetLRNDescriptor(lrn, 5, 1e-4, 0.001, 1), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetLRNDescriptor(lrn, 5, 1e-4, 0.75, 1e-7), CUDNN_STATUS_BAD_PARAM);
  EXPECT_DNN(cudnnSetLRNDescriptor(lrn, 4, 1e-4, 0.75, 1));
  cudnnDestroyLRNDescriptor(lrn);
}

TEST_F(CudnnTest, NamesStatuses) {
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
  EXPECT_EQ(cudnnGetVersion(), size_t{CUDNN_VERSION});
  EXPECT_EQ(cudnnConvolutionForward(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, nullptr, nullptr,
                                    nullptr),
            CUDNN_STATUS_BAD_PARAM);
}

}  // namespace
}  // namespace cudnn_test
