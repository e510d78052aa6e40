#pragma once

// The controls of the fake CUDA runtime, for tests. Programs under test include NVIDIA's headers
// and never this one.
//
// libcudart_fake exports these functions in addition to those of CUDA. They may be called from any
// thread, except from within an operation of a stream. Parameters called `function` are names of
// CUDA functions ("cudaMalloc"), or one of these:
//   "kernel"             operations given to fakecuda_enqueue_host
//   "pageable_copy"      copies whose host side is neither pinned nor registered
//   "peer_copy_direct"   copies between two devices with peer access enabled
//   "peer_copy_staged"   copies between two devices without peer access
//   "memory_wait"        calls that allocate or free device or pinned memory, each of which may wait
//                        for all work of the device (only in fakecuda_calls)
// or one of these functions of the libraries: cublasCreate, cublasSetMathMode, cublasSetStream,
// cudnnCreate, cudnnFindConvolution*AlgorithmEx, cudnnSetStream, cudnnBackend* without
// cudnnBackendDestroyDescriptor, curandCreateGenerator, curandSetStream.
// "cudnn_engine_0" and so on are executions of plans of these engines of cuDNN's backend API.

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The configuration of the fake machine. A field of zero means its default.
struct FakeCudaConfig {
  int devices;              // 1 to 64; -1: no device (cudaErrorNoDevice); default 2
  size_t bytes_per_device;  // default 1 GiB
  int no_driver;            // 1: every call returns cudaErrorInsufficientDriver
  int driver_version;       // as cudaDriverGetVersion; default: the runtime's. With one of an older
                            // major version every call returns cudaErrorInsufficientDriver
  int compute_capability;   // 10 * major + minor; default 90
  int peer_group;  // devices i and j are peers if i / group == j / group; default: all are peers
};

// Waits for all streams, discards all state and memory, and builds the machine again. All earlier
// handles and pointers become invalid. If `config` is null, the environment is used
// (FAKECUDA_DEVICES, FAKECUDA_BYTES, FAKECUDA_NO_DRIVER), as at program start.
// REQUIRES: no other thread is in a call.
void fakecuda_reset(const struct FakeCudaConfig* config);

// Sets the memory limit of a device. Allocations beyond a lower limit remain valid.
void fakecuda_set_limit(int device, size_t bytes);

// Lets the next `after` calls of `function` pass, then makes `times` calls fail with `error` (-1:
// all calls from then on). With `sticky` the error also sticks to the current device. "*" means
// every function. A second call for the same function replaces the first; `times` 0 cancels it.
void fakecuda_fail(const char* function, int after, int times, cudaError_t error, int sticky);

// Lets the next `after` operations of any stream pass, then makes one fail: it does not run,
// `error` sticks to its device, and nothing runs on that device until cudaDeviceReset.
void fakecuda_fail_async(int after, cudaError_t error);

// Stops a stream before its next operation. A test thus gets a "running kernel" deterministically.
void fakecuda_pause(cudaStream_t stream);
void fakecuda_resume(cudaStream_t stream);

// Runs `hook(state)` once, in the calling thread, just before the next call of `function`.
void fakecuda_before(const char* function, void (*hook)(void*), void* state);

// The number of calls of `function` since the last fakecuda_reset_calls or fakecuda_reset.
long fakecuda_calls(const char* function);
void fakecuda_reset_calls(void);

// Bytes of device memory in use, as cudaMemGetInfo reports them, and their peak.
size_t fakecuda_live_bytes(int device);
size_t fakecuda_peak_bytes(int device);

// Whether the device has a primary context: cudaSetDevice creates one on its device, and every call
// but queries of devices and versions creates one on the thread's current device.
int fakecuda_has_context(int device);

// Lists the live objects: memory, streams, events, pools, graphs. Calls `visit` (unless null) with
// one line for each of them. Returns their number.
int fakecuda_leaks(void (*visit)(void* state, const char* line), void* state);

// Simulates the end of the process: until called with 0, calls return cudaErrorCudartUnloading.
void fakecuda_set_unloading(int unloading);

// Runs a host twin: `run(arg)` runs in stream order on the stream's worker, as a kernel would, and
// can access the device's memory. `release(arg)`, unless null, runs after the last use (a captured
// operation may run several times), even if the call fails.
// Declare this function weak: if it is null at run time, the program runs on real CUDA.
cudaError_t fakecuda_enqueue_host(cudaStream_t stream, const char* name, void (*run)(void*),
                                  void* arg, void (*release)(void*));

// Sets a value of the libraries, until fakecuda_reset; the environment can set it for a whole
// program (FAKECUDA_CUDNN_VERSION and so on). Values:
//   "cudnn_version"       what cudnnGetVersion returns; set it before the library is first used
//   "cudnn_cuda_version"  what cudnnGetCudartVersion returns; likewise
//   "handle_bytes"        device memory that each new handle of a library allocates; default 0, or 512
//                         with "allocation_waits"
//   "allocation_waits"    1: allocations of device memory (cudaMalloc) wait for all work of their
//                         device, those of pinned memory for that of all devices, as they may on
//                         hardware. Frees always wait
//   "held_wait_ms"        how long an allocation or a free waits while a stream is held, by
//                         fakecuda_pause or in a host function; default 10000. After that it prints
//                         its name and the stream, and returns cudaErrorNotPermitted
//   "cudnn_algorithms"    the number of algorithms that searches and heuristics report, of which
//                         those beyond the headers' have numbers that the headers do not know
//   "cudnn_engines"       the engines of cuDNN's backend API for graphs without a bias, as a bit mask;
//                         default: all (cudnn/backend_engines.cc)
//   "cudnn_bias_engines"  the same for graphs with a bias
//   "cudnn_engine_us"     how many microseconds an execution of the fastest engines takes, as
//                         events measure it; default 0
void fakecuda_set(const char* value, long number);
// The value, or `otherwise` if it is not set.
long fakecuda_get(const char* value, long otherwise);

// For the fake libraries: counts a call of `function`, runs its hook, and returns the injected
// error.
cudaError_t fakecuda_library_call(const char* function);

// For the fake libraries: lets the operation that calls it take that much longer, as events measure
// it. Nothing waits, so that tests may use times that no delay of a busy machine reaches.
void fakecuda_spend(long microseconds);

// Checks that [ptr, ptr + bytes) lies in one live allocation that a kernel on `device` can access.
// Returns null if it does, else the problem as text, valid until the calling thread's next call.
const char* fakecuda_check_range(const void* ptr, size_t bytes, int device);

#ifdef __cplusplus
}
#endif
