// Eigen's maps, for which sources of 2017 included only math.h.
#include "../style/test.h"
#include "caffe2/utils/math.h"

#ifdef CAFFE2RT_HAS_EIGEN
STYLE_TEST(MathHeaderBringsEigen) {
  const float x[] = {0, 0};
  float y[2];
  caffe2::EigenVectorArrayMap<float>(y, 2) = caffe2::ConstEigenVectorArrayMap<float>(x, 2).exp();
  STYLE_EXPECT(y[1] == 1);
}
#endif
