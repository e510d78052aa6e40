// Convolutions of the fake cuDNN, compared with hand-computed values and with a naive loop.
// Gradients are checked by the fact that the forward and backward maps are transposes.

#include "cudnn/testing.h"

namespace cudnn_test {
namespace {

struct Shape {
  int n, c, h, w, k, r, s, pad, stride, dilation, groups;
  int out_h() const { return (h + 2 * pad - (r - 1) * dilation - 1) / stride + 1; }
  int out_w() const { return (w + 2 * pad - (s - 1) * dilation - 1) / stride + 1; }
};

class ConvolutionTest : public CudnnTest {
 protected:
  void SetUp() override {
    CudnnTest::SetUp();
    ASSERT_DNN(cudnnCreateConvolutionDescriptor(&conv_));
    ASSERT_DNN(cudnnCreateFilterDescriptor(&w_));
  }
  void TearDown() override {
    cudnnDestroyFilterDescriptor(w_);
    cudnnDestroyConvolutionDescriptor(conv_);
    CudnnTest::TearDown();
  }
  void Set(const Shape& s, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW,
           cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION) {
    ASSERT_DNN(cudnnSetConvolution2dDescriptor(conv_, s.pad, s.pad, s.stride, s.stride, s.dilation,
                                               s.dilation, mode, CUDNN_DATA_FLOAT));
    ASSERT_DNN(cudnnSetConvolutionGroupCount(conv_, s.groups));
    ASSERT_DNN(
        cudnnSetFilter4dDescriptor(w_, CUDNN_DATA_FLOAT, format, s.k, s.c / s.groups, s.r, s.s));
    ASSERT_DNN(cudnnSetTensor4dDescriptor(x_, format, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w));
    ASSERT_DNN(
        cudnnSetTensor4dDescriptor(y_, format, CUDNN_DATA_FLOAT, s.n, s.k, s.out_h(), s.out_w()));
  }
  cudnnStatus_t Forward(const Array& x, const Array& w, const Array& y, float alpha, float beta) {
    return cudnnConvolutionForward(handle_, &alpha, x_, x.get(), w_, w.get(), conv_,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &beta, y_,
                                   y.get());
  }

  cudnnConvolutionDescriptor_t conv_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  TensorDescriptor x_, y_;
};

// The naive loop: y of NCHW tensors, one output after the other.
std::vector<float> Textbook(const Shape& s, const std::vector<float>& x,
                            const std::vector<float>& w) {
  std::vector<float> y;
  const int cg = s.c / s.groups, kg = s.k / s.groups;
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k)
      for (int i = 0; i < s.out_h(); ++i)
        for (int j = 0; j < s.out_w(); ++j) {
          float sum = 0;
          for (int c = 0; c < cg; ++c)
            for (int r = 0; r < s.r; ++r)
              for (int t = 0; t < s.s; ++t) {
                const int a = i * s.stride - s.pad + r * s.dilation;
                const int b = j * s.stride - s.pad + t * s.dilation;
                if (a < 0 || a >= s.h || b < 0 || b >= s.w) continue;
                sum += x[((n * s.c + k / kg * cg + c) * s.h + a) * s.w + b] *
                       w[((k * cg + c) * s.r + r) * s.s + t];
              }
          y.push_back(sum);
        }
  return y;
}

constexpr Shape kShapes[] = {{1, 1, 4, 4, 1, 3, 3, 0, 1, 1, 1},
                             {2, 3, 7, 6, 4, 3, 2, 1, 1, 1, 1},
                             {2, 4, 8, 9, 6, 3, 3, 2, 2, 2, 2},
                             {1, 3, 5, 5, 3, 5, 5, 2, 3, 1, 3},
                             {2, 2, 3, 3, 5, 1, 1, 0, 1, 1, 1}};

size_t Size(const Shape& s) { return static_cast<size_t>(s.n * s.c * s.h * s.w); }
size_t FilterSize(const Shape& s) { return static_cast<size_t>(s.k * s.c / s.groups * s.r * s.s); }
size_t OutSize(const Shape& s) { return static_cast<size_t>(s.n * s.k * s.out_h() * s.out_w()); }

TEST_F(ConvolutionTest, CorrelatesOrConvolves) {
  const Shape s = {1, 1, 1, 3, 1, 1, 2, 0, 1, 1, 1};
  Array x({1, 2, 3}), w({10, 1}), y({0, 0});
  Set(s);
  ASSERT_DNN(Forward(x, w, y, 1, 0));
  EXPECT_EQ(y.Read(), (std::vector<float>{12, 23}));
  Set(s, CUDNN_TENSOR_NCHW, CUDNN_CONVOLUTION);
  ASSERT_DNN(Forward(x, w, y, 1, 0));
  EXPECT_EQ(y.Read(), (std::vector<float>{21, 32}));
  ASSERT_DNN(Forward(x, w, y, 2, 10));
  EXPECT_EQ(y.Read(), (std::vector<float>{252, 384}));
}

TEST_F(ConvolutionTest, AgreesWithTheTextbook) {
  for (const Shape& s : kShapes) {
    Set(s);
    const std::vector<float> xv = Random(Size(s)), wv = Random(FilterSize(s));
    Array x(xv), w(wv), y(std::vector<float>(OutSize(s)));
    ASSERT_DNN(Forward(x, w, y, 1, 0));
    ExpectNear(y.Read(), Textbook(s, xv, wv));
  }
}

TEST_F(ConvolutionTest, AcceptsChannelsLast) {
  const Shape s = {1, 2, 1, 3, 2, 1, 1, 0, 1, 1, 1};
  Set(s, CUDNN_TENSOR_NHWC);
  Array x({1, 10, 2, 20, 3, 30}), w({1, 1, 2, 0}), y(std::vector<float>(6));
  ASSERT_DNN(Forward(x, w, y, 1, 0));
  EXPECT_EQ(y.Read(), (std::vector<float>{11, 2, 22, 4, 33, 6}));
}

TEST_F(ConvolutionTest, HasGradientsThatAreTransposes) {
  for (const Shape& s : kShapes) {
    Set(s);
    const std::vector<float> xv = Random(Size(s)), wv = Random(FilterSize(s));
    const std::vector<float> dyv = Random(OutSize(s));
    Array x(xv), w(wv), dy(dyv), dx(std::vector<float>(Size(s)));
    Array dw(std::vector<float>(FilterSize(s)));
    ASSERT_DNN(cudnnConvolutionBackwardData(handle_, &one_, w_, w.get(), y_, dy.get(), conv_,
                                            CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, nullptr, 0, &zero_,
                                            x_, dx.get()));
    ASSERT_DNN(cudnnConvolutionBackwardFilter(handle_, &one_, x_, x.get(), y_, dy.get(), conv_,
                                              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, nullptr, 0,
                                              &zero_, w_, dw.get()));
    const float want = Dot(Textbook(s, xv, wv), dyv);
    EXPECT_NEAR(Dot(dx.Read(), xv), want, 1e-3);
    EXPECT_NEAR(Dot(dw.Read(), wv), want, 1e-3);
  }
}

TEST_F(ConvolutionTest, SumsTheGradientOfTheBias) {
  TensorDescriptor dy(2, 2, 1, 2), db(1, 2, 1, 1);
  Array dyv({1, 2, 3, 4, 5, 6, 7, 8}), dbv({100, 200});
  ASSERT_DNN(cudnnConvolutionBackwardBias(handle_, &one_, dy, dyv.get(), &two_, db, dbv.get()));
  EXPECT_EQ(dbv.Read(), (std::vector<float>{214, 422}));
}

TEST_F(ConvolutionTest, AddsBiasAndActivates) {
  Set({1, 1, 1, 3, 2, 1, 1, 0, 1, 1, 1});
  cudnnActivationDescriptor_t relu;
  ASSERT_DNN(cudnnCreateActivationDescriptor(&relu));
  ASSERT_DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
  TensorDescriptor bias(1, 2, 1, 1);
  Array x({1, 2, 3}), w({1, -1}), b({-2, 2}), y(std::vector<float>(6)), z({0, 0, 5, 0, 0, 5});
  ASSERT_DNN(cudnnConvolutionBiasActivationForward(
      handle_, &one_, x_, x.get(), w_, w.get(), conv_, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
      nullptr, 0, &one_, y_, z.get(), bias, b.get(), relu, y_, y.get()));
  EXPECT_EQ(y.Read(), (std::vector<float>{0, 0, 6, 1, 0, 4}));
  cudnnDestroyActivationDescriptor(relu);
}

TEST_F(ConvolutionTest, RequiresTheRequestedWorkspace) {
  Set(kShapes[1]);
  cudnnConvolutionFwdAlgoPerf_t results[4];
  int count = 0;
  ASSERT_DNN(
      cudnnGetConvolutionForwardAlgorithm_v7(handle_, x_, w_, conv_, y_, 4, &count, results));
  ASSERT_GE(count, 2);
  size_t bytes = 0;
  ASSERT_DNN(
      cudnnGetConvolutionForwardWorkspaceSize(handle_, x_, w_, conv_, y_, results[0].algo, &bytes));
  EXPECT_EQ(bytes, results[0].memory);
  ASSERT_GT(bytes, 0u);
  Array x(std::vector<float>(Size(kShapes[1]))), w(std::vector<float>(FilterSize(kShapes[1])));
  Array y(std::vector<float>(OutSize(kShapes[1]))), space(std::vector<float>(bytes / 4));
  const auto run = [&](void* workspace, size_t size) {
    return cudnnConvolutionForward(handle_, &one_, x_, x.get(), w_, w.get(), conv_, results[0].algo,
                                   workspace, size, &zero_, y_, y.get());
  };
  EXPECT_EQ(run(space.get(), bytes - 1), CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_EQ(run(nullptr, bytes), CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_DNN(run(space.get(), bytes));
}

TEST_F(ConvolutionTest, RejectsIncompatibleDescriptors) {
  Set(kShapes[1]);
  Array x(std::vector<float>(Size(kShapes[1]))), w(std::vector<float>(FilterSize(kShapes[1])));
  Array y(std::vector<float>(OutSize(kShapes[1]))), small({1});
  EXPECT_EQ(Forward(x, w, small, 1, 0), CUDNN_STATUS_EXECUTION_FAILED);
  ASSERT_DNN(cudnnSetTensor4dDescriptor(y_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 4, 1, 1));
  EXPECT_EQ(Forward(x, w, y, 1, 0), CUDNN_STATUS_BAD_PARAM);
}

}  // namespace
}  // namespace cudnn_test
