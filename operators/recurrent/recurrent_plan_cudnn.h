#pragma once
// A recurrent net in cuDNN's terms: descriptors, prepared once for each shape, and the calls that use
// them.

#include <vector>

#include "operators/common/descriptors_cudnn.h"
#include "operators/recurrent/recurrent.h"

namespace caffe2rt {

class CUDAContext;

// Null pointers: c and c_last of nets other than LSTMs.
struct RecurrentPointers {
  const float *x, *h, *c, *weights;
  float *y, *h_last, *c_last;
};
struct RecurrentGradientPointers {
  RecurrentPointers forward;  // without outputs
  const float *y, *dy;
  float *dx, *dh, *dc, *dweights;
};

// A parameter among all parameters.
struct CudnnParameter {
  std::vector<int64_t> dims;  // [1, rows, columns]
  int64_t offset = 0;         // in floats

  int64_t numel() const;
};

class RecurrentPlan {
 public:
  // Sets the descriptors if the sizes changed, and `states` to the state of the dropout. REQUIRES: no
  // size is 0. THROWS cuDNN's errors, and if cuDNN is not available.
  void Prepare(CUDAContext& context, const RecurrentSizes& sizes, bool training, Tensor* states);
  // THROWS unless input `i` has as many elements as the net has parameters.
  void CheckWeights(const Tensor& weights, int i = 3) const;
  // Bytes that Forward writes for Backward; 0 without training.
  size_t scratch_nbytes() const { return scratch_nbytes_; }

  void Forward(CUDAContext& context, const RecurrentPointers& pointers, float* scratch);
  // Adds to dweights and writes the other gradients. Changes `scratch`.
  void Backward(CUDAContext& context, const RecurrentGradientPointers& pointers, float* scratch);
  // Where a parameter is among `weights`. A parameter that does not exist has no dims.
  CudnnParameter Find(CUDAContext& context, const RecurrentParameter& parameter,
                      const float* weights);

 private:
  void DescribeDropout(CUDAContext& context, Tensor* states);
  void DescribeNet(bool allow_tf32);
  void DescribeData(const CudnnRnnData& data, int64_t columns);

  bool ready_ = false;  // the descriptors are those of the next members
  RecurrentSizes sizes_;
  bool training_ = false;
  bool allow_tf32_ = false;
  const void* states_ = nullptr;
  CudnnDropout dropout_;
  CudnnRnn net_;
  CudnnRnnData x_, y_;
  CudnnTensor state_;
  Tensor lengths_{CUDA};  // int32: all sequences have the same length
  size_t weights_nbytes_ = 0, workspace_nbytes_ = 0, scratch_nbytes_ = 0;
};

}  // namespace caffe2rt
