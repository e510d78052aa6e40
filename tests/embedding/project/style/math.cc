// Vector and matrix primitives, and Eigen's maps if Eigen is installed.
#include "caffe2/utils/math.h"

#include "caffe2/operators/softmax_shared.h"
#include "caffe2/operators/softmax_utils.h"
#include "test.h"

using namespace caffe2;  // NOLINT: as users write

STYLE_TEST(VectorsAreSetScaledAndMultiplied) {
  CPUContext ctx;
  const int n = 4;
  float x[n], y[n];
  math::Set<float, CPUContext>(n, 0.f, x, &ctx);
  math::Set(n, 2.f, x, &ctx);
  math::Scale<float, CPUContext>(n, 2.f, x, y, &ctx);
  math::Scale<float, float, CPUContext>(n, 2.f, x, y, &ctx);
  math::Scale(n, 0.5f, y, y, &ctx);
  STYLE_EXPECT(y[3] == 2);
  const float two = 2;
  math::Axpy<float, CPUContext>(n, &two, x, y, &ctx);
  math::Axpy(n, 1.f, x, y, &ctx);
  STYLE_EXPECT(y[0] == 8);
  float sum = 0, dot = 0;
  math::Sum<float, CPUContext>(n, x, &sum, &ctx);
  math::Dot<float, CPUContext>(n, x, y, &dot, &ctx);
  STYLE_EXPECT(sum == 8 && dot == 64);
  math::Add<float, CPUContext>(n, x, y, y, &ctx);
  math::Div<float, CPUContext>(n, y, x, y, &ctx);
  math::Powx<float, CPUContext>(n, y, 2.f, y, &ctx);
  STYLE_EXPECT(y[1] == 25);
  math::RandUniform<float, CPUContext>(n, 0.f, 1.f, x, &ctx);
  STYLE_EXPECT(x[0] >= 0 && x[0] < 1);
  math::CopyVector<float, CPUContext>(n, x, y, &ctx);
  STYLE_EXPECT(x[2] == y[2] && math::roundUp(5, 4) == 8);
}

STYLE_TEST(MatricesAreMultiplied) {
  CPUContext ctx;
  const int m = 2, n = 2, k = 3;
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 1, 0, 1, 1};
  float c[4] = {9, 9, 9, 9};
  math::Gemm<float, CPUContext>(CblasNoTrans, CblasTrans, m, n, k, 1.f, a, b, 0.f, c, &ctx);
  STYLE_EXPECT(c[0] == 4 && c[1] == 5 && c[2] == 10 && c[3] == 11);
  float y[2];
  math::Gemv<float, CPUContext>(CblasNoTrans, m, k, 1.f, a, b, 0.f, y, &ctx);
  STYLE_EXPECT(y[0] == 4 && y[1] == 10);
  float columns[4];
  const float image[] = {1, 2, 3, 4};
  math::Im2Col<float, CPUContext, StorageOrder::NCHW>(1, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, image,
                                                      columns, &ctx);
  STYLE_EXPECT(columns[3] == 4);
}

STYLE_TEST(RandomNumbersHaveTheirSum) {
  DeviceOption option;
  option.set_random_seed(3);
  CPUContext ctx(option);
  float x[5];
  math::RandFixedSum<float, CPUContext>(5, 0.f, 1.f, 3.f, x, &ctx);
  float sum = 0;
  for (float value : x) {
    STYLE_EXPECT(value >= 0 && value <= 1);
    sum += value;
  }
  STYLE_EXPECT(std::abs(sum - 3) < 1e-5f);
  int counts[4];
  math::RandFixedSum<int, CPUContext>(4, 1, 9, 36, counts, &ctx);  // leaves no choice
  STYLE_EXPECT(counts[0] == 9 && counts[3] == 9);
}

STYLE_TEST(EarlierFormsOfMathFunctions) {
  CPUContext ctx;
  const float x[] = {1, 2, 3, 4, 5, 6};
  float y[6];
  const int dims[] = {2, 3}, out_dims[] = {3, 2}, axes[] = {1, 0};
  math::Transpose<float, CPUContext>(2, dims, out_dims, axes, 6, x, y, &ctx);
  STYLE_EXPECT(y[1] == 4 && y[2] == 2);
  const int shape[] = {1, 2, 2}, columns_shape[] = {1, 2, 2}, one[] = {1, 1}, none[] = {0, 0, 0, 0};
  float columns[4], back[4];
  math::Im2colNd<float, CPUContext, StorageOrder::NCHW>(x, shape, columns_shape, 4, 4, one, one,
                                                        one, none, 2, columns, &ctx);
  math::Col2imNd<float, CPUContext, StorageOrder::NCHW>(columns, shape, columns_shape, 4, 4, one,
                                                        one, one, none, 2, back, &ctx);
  STYLE_EXPECT(columns[3] == 4 && back[2] == 3);
  // exp(0) : exp(log 3) = 1 : 3
  const float rows[] = {0, std::log(3.f)};
  float probabilities[2], scale, greatest;
  SoftmaxCPU(ctx, 1, 2, rows, probabilities, &scale, nullptr, false, &greatest);
  STYLE_EXPECT(std::abs(probabilities[1] - 0.75f) < 1e-6f && greatest == rows[1]);
  softmax_utils::SoftmaxCPU<float>(1, 2, true, rows, probabilities, &scale, &ctx);
  STYLE_EXPECT(std::abs(probabilities[0] - std::log(0.25f)) < 1e-6f);
}

STYLE_TEST(ContextsCopyByTheirTypes) {
  CPUContext context;
  const float a[] = {1, 2};
  float b[2];
  context.template Copy<float, CPUContext, CPUContext>(2, a, b);
  context.CopyBytes<CPUContext, CPUContext>(8, a, b);
  context.CopyItemsSameDevice(TypeMeta::Make<float>(), 2, a, b);
  STYLE_EXPECT(context.FinishDeviceComputation());  // a bool in the first years
  context.SwitchToDevice();
  STYLE_EXPECT(b[1] == 2 && CPUContext::GetDeviceType() == CPU);
}

#ifdef CAFFE2RT_HAS_EIGEN
STYLE_TEST(MemoryIsMappedForEigen) {
  const float x[] = {0, 0};
  float y[2];
  EigenVectorArrayMap<float>(y, 2) = ConstEigenVectorArrayMap<float>(x, 2).exp();
  STYLE_EXPECT(y[1] == 1);
}
#endif
