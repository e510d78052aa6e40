// The other layers of the fake cuDNN, compared with hand-computed values.

#include <limits>

#include "cudnn/testing.h"

namespace cudnn_test {
namespace {

class PoolingTest : public CudnnTest {
 protected:
  void SetUp() override {
    CudnnTest::SetUp();
    ASSERT_DNN(cudnnCreatePoolingDescriptor(&pool_));
  }
  void TearDown() override {
    cudnnDestroyPoolingDescriptor(pool_);
    CudnnTest::TearDown();
  }
  // A window of 1 by 2 with padding 1 over a row of 3: windows {-,1} {3,2}.
  std::vector<float> Row(cudnnPoolingMode_t mode) {
    EXPECT_DNN(cudnnSetPooling2dDescriptor(pool_, mode, CUDNN_NOT_PROPAGATE_NAN, 1, 2, 0, 1, 1, 2));
    EXPECT_DNN(
        cudnnPoolingForward(handle_, pool_, &one_, x_desc_, x_.get(), &zero_, y_desc_, y_.get()));
    return y_.Read();
  }
  std::vector<float> RowGradient(cudnnPoolingMode_t mode) {
    Row(mode);
    Array dy({10, 20}), dx({0, 0, 0});
    EXPECT_DNN(cudnnPoolingBackward(handle_, pool_, &one_, y_desc_, y_.get(), y_desc_, dy.get(),
                                    x_desc_, x_.get(), &zero_, x_desc_, dx.get()));
    return dx.Read();
  }

  cudnnPoolingDescriptor_t pool_ = nullptr;
  TensorDescriptor x_desc_{1, 1, 1, 3}, y_desc_{1, 1, 1, 2};
  Array x_{{1, 3, 2}}, y_{{0, 0}};
};

using Floats = std::vector<float>;

TEST_F(PoolingTest, ComputesMaximaAndAverages) {
  EXPECT_EQ(Row(CUDNN_POOLING_MAX), (Floats{1, 3}));
  EXPECT_EQ(Row(CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING), (Floats{0.5f, 2.5f}));
  EXPECT_EQ(Row(CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING), (Floats{1, 2.5f}));
}

TEST_F(PoolingTest, GivesGradientsBack) {
  EXPECT_EQ(RowGradient(CUDNN_POOLING_MAX_DETERMINISTIC), (Floats{10, 20, 0}));
  EXPECT_EQ(RowGradient(CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING), (Floats{5, 10, 10}));
  EXPECT_EQ(RowGradient(CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING), (Floats{10, 10, 10}));
}

class LayersTest : public CudnnTest {
 protected:
  Floats Activate(cudnnActivationMode_t mode, double coefficient, const Floats& input) {
    cudnnActivationDescriptor_t activation;
    EXPECT_DNN(cudnnCreateActivationDescriptor(&activation));
    EXPECT_DNN(cudnnSetActivationDescriptor(activation, mode, CUDNN_PROPAGATE_NAN, coefficient));
    TensorDescriptor desc(1, 1, 1, static_cast<int>(input.size()));
    Array x(input), y(Floats(input.size())), dy(Floats(input.size(), 1)), dx(input);
    EXPECT_DNN(
        cudnnActivationForward(handle_, activation, &one_, desc, x.get(), &zero_, desc, y.get()));
    EXPECT_DNN(cudnnActivationBackward(handle_, activation, &one_, desc, y.get(), desc, dy.get(),
                                       desc, x.get(), &zero_, desc, dx.get()));
    gradient_ = dx.Read();
    cudnnDestroyActivationDescriptor(activation);
    return y.Read();
  }
  Floats gradient_;
};

TEST_F(LayersTest, Activates) {
  EXPECT_EQ(Activate(CUDNN_ACTIVATION_RELU, 0, {-1, 0, 2}), (Floats{0, 0, 2}));
  EXPECT_EQ(gradient_, (Floats{0, 0, 1}));
  EXPECT_EQ(Activate(CUDNN_ACTIVATION_CLIPPED_RELU, 1.5, {-1, 1, 2}), (Floats{0, 1, 1.5f}));
  EXPECT_EQ(gradient_, (Floats{0, 1, 0}));
  ExpectNear(Activate(CUDNN_ACTIVATION_SIGMOID, 0, {0, 2}), {0.5f, 0.880797f});
  ExpectNear(gradient_, {0.25f, 0.104994f});
  ExpectNear(Activate(CUDNN_ACTIVATION_TANH, 0, {0, 1}), {0, 0.761594f});
  ExpectNear(gradient_, {1, 0.419974f});
  ExpectNear(Activate(CUDNN_ACTIVATION_ELU, 2, {-1, 1}), {-1.264241f, 1});
  ExpectNear(gradient_, {0.735759f, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Activate(CUDNN_ACTIVATION_RELU, 0, {nan})[0]));
}

TEST_F(LayersTest, BlendsIntoStridedResults) {
  TensorDescriptor x(1, 1, 1, 2), y;
  ASSERT_DNN(cudnnSetTensor4dDescriptorEx(y, CUDNN_DATA_FLOAT, 1, 1, 1, 2, 4, 4, 4, 2));
  Array xv({1, 2}), yv({10, -1, 20});
  ASSERT_DNN(cudnnTransformTensor(handle_, &two_, x, xv.get(), &one_, y, yv.get()));
  EXPECT_EQ(yv.Read(), (Floats{12, -1, 24}));
}

TEST_F(LayersTest, ComputesSoftmaxPerPlaceOrPerImage) {
  TensorDescriptor desc(1, 2, 1, 2);
  const float log3 = std::log(3.f);
  Array x({0, 0, log3, 0}), y(Floats(4)), dx(Floats(4)), dy({1, 0, 0, 0});
  ASSERT_DNN(cudnnSoftmaxForward(handle_, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one_,
                                 desc, x.get(), &zero_, desc, y.get()));
  ExpectNear(y.Read(), {0.25f, 0.5f, 0.75f, 0.5f});
  ASSERT_DNN(cudnnSoftmaxBackward(handle_, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
                                  &one_, desc, y.get(), desc, dy.get(), &zero_, desc, dx.get()));
  ExpectNear(dx.Read(), {0.1875f, 0, -0.1875f, 0});
  ASSERT_DNN(cudnnSoftmaxForward(handle_, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one_,
                                 desc, x.get(), &zero_, desc, y.get()));
  const float log6 = std::log(6.f);
  ExpectNear(y.Read(), {-log6, -log6, log3 - log6, -log6});
  ASSERT_DNN(cudnnSoftmaxBackward(handle_, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one_,
                                  desc, y.get(), desc, dy.get(), &zero_, desc, dx.get()));
  ExpectNear(dx.Read(), {5 / 6.f, -1 / 6.f, -0.5f, -1 / 6.f});
}

TEST_F(LayersTest, NormalisesAcrossChannels) {
  cudnnLRNDescriptor_t lrn;
  ASSERT_DNN(cudnnCreateLRNDescriptor(&lrn));
  ASSERT_DNN(cudnnSetLRNDescriptor(lrn, 3, 3, 1, 1));  // y = x / (1 + sum of squares)
  TensorDescriptor desc(1, 3, 1, 1);
  Array x({1, 2, 3}), y(Floats(3)), dx(Floats(3)), dy({1, 0, 0});
  ASSERT_DNN(cudnnLRNCrossChannelForward(handle_, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one_, desc,
                                         x.get(), &zero_, desc, y.get()));
  ExpectNear(y.Read(), {1 / 6.f, 2 / 15.f, 3 / 14.f});
  ASSERT_DNN(cudnnLRNCrossChannelBackward(handle_, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one_, desc,
                                          y.get(), desc, dy.get(), desc, x.get(), &zero_, desc,
                                          dx.get()));
  // The derivative of a / (1 + a^2 + b^2) is (1 + b^2 - a^2) / 36 by a, and -2ab / 36 by b.
  ExpectNear(dx.Read(), {4 / 36.f, -4 / 36.f, 0});
  cudnnDestroyLRNDescriptor(lrn);
}

TEST_F(LayersTest, NormalisesBatches) {
  TensorDescriptor x(2, 2, 1, 1), p(1, 2, 1, 1);
  Array xv({1, 10, 3, 10}), y(Floats(4)), scale({1, 2}), bias({0, 5});
  Array mean({0, 0}), variance({1, 1}), saved_mean(Floats(2)), saved_inverse(Floats(2));
  ASSERT_DNN(cudnnBatchNormalizationForwardTraining(
      handle_, CUDNN_BATCHNORM_SPATIAL, &one_, &zero_, x, xv.get(), x, y.get(), p, scale.get(),
      bias.get(), 0.5, mean.get(), variance.get(), 1, saved_mean.get(), saved_inverse.get()));
  const float half_root = 1 / std::sqrt(2.f);
  ExpectNear(y.Read(), {-half_root, 5, half_root, 5});
  ExpectNear(mean.Read(), {1, 5});
  ExpectNear(variance.Read(), {1.5f, 0.5f});  // the sample variances are 2 and 0
  ExpectNear(saved_mean.Read(), {2, 10});
  ExpectNear(saved_inverse.Read(), {half_root, 1});
  Array dy({1, 1, 0, 0}), dx(Floats(4)), dscale({1, 1}), dbias(Floats(2));
  ASSERT_DNN(cudnnBatchNormalizationBackward(handle_, CUDNN_BATCHNORM_SPATIAL, &one_, &zero_, &one_,
                                             &zero_, x, xv.get(), x, dy.get(), x, dx.get(), p,
                                             scale.get(), dscale.get(), dbias.get(), 1,
                                             saved_mean.get(), saved_inverse.get()));
  ExpectNear(dscale.Read(), {-half_root, 0});
  ExpectNear(dbias.Read(), {1, 1});
  // dx = scale * inverse * (dy - (dbias + normal * dscale) / 2), where normal is -half_root or
  // half_root.
  ExpectNear(dx.Read(), {half_root * 0.25f, 1, -half_root * 0.25f, -1});
  ASSERT_DNN(cudnnBatchNormalizationForwardInference(
      handle_, CUDNN_BATCHNORM_SPATIAL, &one_, &zero_, x, xv.get(), x, y.get(), p, scale.get(),
      bias.get(), mean.get(), variance.get(), 0.5));
  ExpectNear(y.Read(), {0, 15, 2 / std::sqrt(2.f), 15});
}

TEST_F(LayersTest, AddsAndCombinesWithRepetition) {
  TensorDescriptor a(1, 2, 1, 1), c(1, 2, 1, 2);
  Array av({1, 2}), cv({10, 20, 30, 40});
  ASSERT_DNN(cudnnAddTensor(handle_, &two_, a, av.get(), &one_, c, cv.get()));
  EXPECT_EQ(cv.Read(), (Floats{12, 22, 34, 44}));
  EXPECT_EQ(cudnnAddTensor(handle_, &one_, c, cv.get(), &one_, a, av.get()),
            CUDNN_STATUS_BAD_PARAM);
  cudnnOpTensorDescriptor_t op;
  ASSERT_DNN(cudnnCreateOpTensorDescriptor(&op));
  ASSERT_DNN(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT,
                                        CUDNN_NOT_PROPAGATE_NAN));
  ASSERT_DNN(
      cudnnOpTensor(handle_, op, &one_, c, cv.get(), &two_, a, av.get(), &zero_, c, cv.get()));
  EXPECT_EQ(cv.Read(), (Floats{24, 44, 136, 176}));
  cudnnDestroyOpTensorDescriptor(op);
  ASSERT_DNN(cudnnScaleTensor(handle_, c, cv.get(), &two_));
  EXPECT_EQ(cv.Read()[0], 48);
  const float seven = 7;
  ASSERT_DNN(cudnnSetTensor(handle_, c, cv.get(), &seven));
  EXPECT_EQ(cv.Read(), (Floats{7, 7, 7, 7}));
}

TEST_F(LayersTest, Reduces) {
  TensorDescriptor a(1, 2, 1, 3), c(1, 2, 1, 1);
  Array av({1, -5, 2, 3, 4, 0}), cv({0, 0}), space(Floats(6)), indices(Floats(2));
  cudnnReduceTensorDescriptor_t reduce;
  ASSERT_DNN(cudnnCreateReduceTensorDescriptor(&reduce));
  const auto run = [&](cudnnReduceTensorOp_t op) {
    EXPECT_DNN(cudnnSetReduceTensorDescriptor(reduce, op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                              CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
                                              CUDNN_32BIT_INDICES));
    EXPECT_DNN(cudnnReduceTensor(handle_, reduce, indices.get(), 8, space.get(), 24, &one_, a,
                                 av.get(), &zero_, c, cv.get()));
    return cv.Read();
  };
  EXPECT_EQ(run(CUDNN_REDUCE_TENSOR_ADD), (Floats{-2, 7}));
  EXPECT_EQ(run(CUDNN_REDUCE_TENSOR_AVG), (Floats{-2 / 3.f, 7 / 3.f}));
  EXPECT_EQ(run(CUDNN_REDUCE_TENSOR_NORM2), (Floats{std::sqrt(30.f), 5}));
  EXPECT_EQ(run(CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS), (Floats{-10, 12}));
  EXPECT_EQ(run(CUDNN_REDUCE_TENSOR_AMAX), (Floats{5, 4}));
  uint32_t places[2];
  ASSERT_EQ(cudaMemcpy(places, indices.get(), 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(places[0], 1u);
  EXPECT_EQ(places[1], 1u);
  EXPECT_EQ(cudnnReduceTensor(handle_, reduce, indices.get(), 8, nullptr, 0, &one_, a, av.get(),
                              &zero_, c, cv.get()),
            CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  cudnnDestroyReduceTensorDescriptor(reduce);
}

}  // namespace
}  // namespace cudnn_test
