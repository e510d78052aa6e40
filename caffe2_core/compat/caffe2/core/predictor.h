#pragma once
// Predictor, at its older place. It offers the pointer form (TensorVector, run) and the value form
// (TensorList, call) side by side.
#include "caffe2/core/net.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/predictor/predictor.h"
