#include "contexts/cuda/cuda_graph.h"

#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_copy.h"

namespace caffe2rt {

namespace internal {

constinit thread_local CudaGraph* recording = nullptr;

void ThrowRecording(const char* what) {
  recording->Refuse(what);
  CAFFE_THROW(what, " while a CUDA graph is captured: a graph cannot replay this");
}

}  // namespace internal

CudaGraph::CudaGraph(int device) : device_(device) { EnforceCudaDevice(device); }

CudaGraph::~CudaGraph() {
  if (CudaIsUnloading() || CudaIsLostByFork()) return;
  std::string reason;
  if (recording_ && internal::recording == this) EndCapture(&reason);
  Forget();
}

void CudaGraph::BeginCapture(int stream_id) {
  EnforceCudaIsNotLostByFork();
  CAFFE_ENFORCE(internal::recording == nullptr,
                "this thread already captures a CUDA graph: call EndCapture first");
  CudaStream& stream = ThreadStream(device_, stream_id);
  AvoidNewCudaContext(device_);
  const MutexLock lock(stream.capture.mutex);
  if (stream.capture.before == nullptr) stream.capture.before = TakeCudaEvent(device_);
  // A captured stream cannot be waited for, so other threads wait for this event instead.
  CUDA_ENFORCE(cudaEventRecord(stream.capture.before, stream.stream), "device ", device_);
  // Relaxed mode, because pools must still query their events. EnforceNotRecording rejects unsafe
  // calls.
  CUDA_ENFORCE(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeRelaxed), "device ",
               device_);
  stream.capture.active.store(true, std::memory_order_release);
  stream_ = &stream;
  recording_ = true;
  copies_host_memory_ = false;
  allow_tf32_ = GlobalCudaLibraryOptions().allow_tf32;
  refused_.clear();
  internal::recording = this;
}

bool CudaGraph::EndCapture(std::string* reason) {
  CAFFE_ENFORCE(recording_ && internal::recording == this,
                "EndCapture without BeginCapture on the same thread");
  recording_ = false;
  internal::recording = nullptr;
  cudaGraph_t graph = nullptr;
  cudaError_t code = cudaSuccess;
  {
    const MutexLock lock(stream_->capture.mutex);
    code = cudaStreamEndCapture(stream_->stream, &graph);
    stream_->capture.active.store(false, std::memory_order_release);
  }
  if (code != cudaSuccess) {
    cudaGetLastError();
    *reason = refused_.empty() ? "CUDA cannot capture it: " + CudaErrorText(code) : refused_;
  } else if (!refused_.empty()) {
    *reason = refused_;
  } else if (Instantiate(graph, reason)) {
    LogCudaError(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return true;
  }
  if (graph != nullptr) LogCudaError(cudaGraphDestroy(graph), "cudaGraphDestroy");
  Forget();
  return false;
}

bool CudaGraph::Instantiate(cudaGraph_t graph, std::string* reason) {
  if (executable_ != nullptr) {
    cudaGraphExecUpdateResultInfo info{};
    if (cudaGraphExecUpdate(executable_, graph, &info) == cudaSuccess) return true;
    cudaGetLastError();
    Forget();
  }
  const cudaError_t code = cudaGraphInstantiate(&executable_, graph, 0);
  if (code == cudaSuccess) return true;
  cudaGetLastError();
  executable_ = nullptr;
  *reason = "CUDA cannot instantiate the graph: " + CudaErrorText(code);
  return false;
}

void CudaGraph::Launch(int stream_id) {
  CAFFE_ENFORCE(executable_ != nullptr, "nothing has been captured in this CUDA graph");
  CudaStream& stream = ThreadStream(device_, stream_id);
  EnforceNotRecording("a CUDA graph is launched");
  AvoidNewCudaContext(device_);
  // The captured stream may belong to another thread now, which may be capturing it.
  while (&stream != stream_ && stream_->capture.active.load(std::memory_order_acquire)) {
    std::this_thread::yield();
  }
  WaitForStream(stream, *stream_);
  if (copies_host_memory_) NoteHostCopy(stream);
  CUDA_ENFORCE(cudaGraphLaunch(executable_, stream.stream), "device ", device_);
  WaitForStream(*stream_, stream);
}

void CudaGraph::Refuse(const std::string& reason) noexcept {
  try {
    if (refused_.empty()) refused_ = reason;
  } catch (...) {  // out of host memory: the operator's own error is still reported
  }
}

void CudaGraph::Forget() noexcept {
  if (executable_ == nullptr) return;
  LogCudaError(cudaGraphExecDestroy(executable_), "cudaGraphExecDestroy");
  executable_ = nullptr;
}

}  // namespace caffe2rt
