#pragma once

// The structs behind the handles and descriptors of the fake cuDNN.

#include <cudnn.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "cudnn/layout.h"
#include "element/operation.h"

// A handle or descriptor must be used by one thread at a time, as in cuDNN.
struct cudnnContext {
  cudaStream_t stream = nullptr;
  void* memory = nullptr;  // of "handle_bytes"
};

struct cudnnTensorStruct {
  cudnnDataType_t data_type = CUDNN_DATA_FLOAT;
  fakecuda::Layout layout;  // has no dimensions until it is set
};

struct cudnnFilterStruct {
  cudnnDataType_t data_type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  fakecuda::Layout layout;
};

struct cudnnConvolutionStruct {
  std::vector<int> pad, stride, dilation;  // one for each spatial dimension
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t compute_type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
  int groups = 1;
};

struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  std::vector<int> window, pad, stride;
};

struct cudnnActivationStruct {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_RELU;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0;
  double swish_beta = 1;
};

struct cudnnLRNStruct {
  unsigned n = 5;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 2;
};

struct cudnnOpTensorStruct {
  cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t compute_type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
};

struct cudnnReduceTensorStruct {
  cudnnReduceTensorOp_t op = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t compute_type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t indices_type = CUDNN_32BIT_INDICES;
};

namespace fakecuda {

// Fails for packed and 4-bit types, which the fake does not support.
cudnnStatus_t FromCudnn(cudnnDataType_t type, Element* element);

// The checks of every descriptor: 1 to 8 dimensions of at least 1, fewer than 2^31 elements.
cudnnStatus_t CheckDims(const std::vector<int>& dims);

// alpha and beta point to double for tensors of double, else to float.
Blend ReadBlend(const void* alpha, const void* beta, Element type);

// Checks the handle, and that all tensors are in memory of the device. Then runs `work` in stream
// order. REQUIRES: the caller has checked descriptors and blend factors.
cudnnStatus_t Run(cudnnHandle_t handle, const char* name, std::initializer_list<Tensor> tensors,
                  std::function<void()> work);

bool IsSet(const cudnnTensorStruct* tensor);

// Returns CUDNN_STATUS_BAD_PARAM from the calling function unless the condition holds.
#define FAKECUDNN_NEED(condition) \
  if (!(condition)) return CUDNN_STATUS_BAD_PARAM

}  // namespace fakecuda
