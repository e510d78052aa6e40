#pragma once
// Vector and matrix functions, as templates over the context, and, except in sources that nvcc
// compiles, Eigen's maps.
#include "c10/util/ArrayRef.h"
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/cblas.h"
#include "caffe2/utils/math/functions.h"
#include "caffe2/utils/math/utils.h"
#ifndef __CUDACC__
// The header of the first years included all of Eigen/Dense.
#if CAFFE2RT_TEMPLATED_TENSOR
#include "caffe2/utils/eigen_utils.h"
#else
#include "caffe2_core/compat/caffe2rt_eigen/maps.h"
#endif
#endif
