#pragma once
// Predictor, at the path of earlier Caffe2 versions. It has both interfaces: run with pointers
// (TensorVector) and operator() with values (TensorList).
#include "caffe2/core/net.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/predictor/predictor.h"
