#pragma once
// A context's cuDNN handle and scratch memory. If cuDNN's headers are not installed, or the source
// is compiled without CUDA, this header only includes the other headers.
#include <utility>

#include "caffe2/core/common_cudnn.h"
#include "caffe2/core/context_gpu.h"

#if CAFFE2RT_WITH_CUDA && __has_include(<cudnn.h>)
namespace caffe2 {

// Scratch memory for work on the context's stream. Its contents are valid until the next call.
class CuDNNWorkspace {
 public:
  explicit CuDNNWorkspace(CUDAContext* context) : context_(context) {}
  void* get(size_t nbytes) { return ::caffe2rt::CudnnWorkspace(*context_, nbytes); }

 private:
  CUDAContext* const context_;
};

// Caffe2 has several states, each with its own stream. Here, every state uses the context's stream.
class CuDNNState {
 public:
  explicit CuDNNState(CUDAContext* context) : context_(context), workspace_(context) {}
  cudnnHandle_t cudnn_handle() { return context_->cudnn_handle(); }
  CuDNNWorkspace& workspace() { return workspace_; }
  template <class F>
  void execute(cudaStream_t stream, F&& f) {
    CAFFE_ENFORCE(stream == context_->cuda_stream(),
                  "the stream given to execute is not that of the context");
    f(this);
  }

 private:
  CUDAContext* const context_;
  CuDNNWorkspace workspace_;
};

class CuDNNWrapper {
 public:
  explicit CuDNNWrapper(CUDAContext* context) : context_(context) {}
  cudnnHandle_t inline_cudnn_handle() { return context_->cudnn_handle(); }
  template <class F>
  void with_cudnn_state(size_t /*state*/, F&& f) {
    CuDNNState state(context_);
    std::forward<F>(f)(&state);
  }

 private:
  CUDAContext* const context_;
};

}  // namespace caffe2
#endif
