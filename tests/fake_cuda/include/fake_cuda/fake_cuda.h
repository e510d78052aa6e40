#pragma once

// Controls of the fake CUDA runtime: what a test may do that no CUDA program can. Programs under
// test include NVIDIA's own headers and never this one.
//
// The functions live in libcudart_fake beside the CUDA calls. They may be called from any thread
// that is not inside of a stream's operation. Names of functions are those of CUDA ("cudaMalloc");
// besides them the runtime counts, and can fail, these made-up ones:
//   "kernel"             operations given to fakecuda_enqueue_host
//   "pageable_copy"      copies whose host side is neither pinned nor registered
//   "peer_copy_direct"   copies between two devices with peer access enabled
//   "peer_copy_staged"   copies between two devices without it
// and these of the libraries: cublasCreate, cublasSetMathMode, cublasSetStream, cudnnCreate,
// cudnnSetStream, curandCreateGenerator, curandSetStream.

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// How the fake machine is built. Zero in a field means its default.
struct FakeCudaConfig {
  int devices;              // 1 to 64; -1: no device (cudaErrorNoDevice); default 2
  size_t bytes_per_device;  // default 1 GiB
  int no_driver;            // 1: every call returns cudaErrorInsufficientDriver
  int compute_capability;   // 10 * major + minor; default 90
  int peer_group;  // devices i, j reach each other when i / group == j / group; default: all do
};

// Waits for all streams, drops all state and memory, and builds the machine anew. Handles and
// pointers from before are invalid. `config` may be null: then the environment decides
// (FAKECUDA_DEVICES, FAKECUDA_BYTES, FAKECUDA_NO_DRIVER), as it does at start.
// REQUIRES: no other thread is in a call.
void fakecuda_reset(const struct FakeCudaConfig* config);

// Sets the memory limit of one device; memory beyond a lower limit stays.
void fakecuda_set_limit(int device, size_t bytes);

// The calls of `function` after the next `after` ones fail with `error`, `times` of them (-1: for
// ever). With `sticky` the error then stays on the current device. "*" stands for every function.
// A second call for the same function replaces the first; `times` 0 takes it back.
void fakecuda_fail(const char* function, int after, int times, cudaError_t error, int sticky);

// The operation that runs after the next `after` ones, on any stream, fails on its device: it does
// not run, `error` sticks to the device, nothing on it runs any more until cudaDeviceReset.
void fakecuda_fail_async(int after, cudaError_t error);

// Stops a stream before its next operation, deterministically: "the kernel is still running".
void fakecuda_pause(cudaStream_t stream);
void fakecuda_resume(cudaStream_t stream);

// Runs `hook(state)` once, in the calling thread, just before the next call of `function`.
void fakecuda_before(const char* function, void (*hook)(void*), void* state);

// How often `function` was called since the last reset of the counts or of everything.
long fakecuda_calls(const char* function);
void fakecuda_reset_calls(void);

// Bytes of device memory in use, as cudaMemGetInfo would see it, and their peak.
size_t fakecuda_live_bytes(int device);
size_t fakecuda_peak_bytes(int device);

// Names what is alive: memory, streams, events, pools, graphs. Calls `visit` (unless null) with one
// line for each and returns how many there are.
int fakecuda_leaks(void (*visit)(void* state, const char* line), void* state);

// As if the process were about to end: calls return cudaErrorCudartUnloading until 0 is given.
void fakecuda_set_unloading(int unloading);

// Runs `run(arg)` in stream order on the stream's worker, as a kernel would: a host twin. The
// device's memory is readable there. `release(arg)`, which may be null, runs after the last use (a
// captured operation runs more than once), also when the call fails.
// Link to it weakly: where it is missing, the program is on real CUDA.
cudaError_t fakecuda_enqueue_host(cudaStream_t stream, const char* name, void (*run)(void*),
                                  void* arg, void (*release)(void*));

// For the fake libraries: counts a call of `function`, runs its hook, and returns the error with
// which it shall fail.
cudaError_t fakecuda_library_call(const char* function);

// What is wrong with [ptr, ptr + bytes) for a kernel on `device`: null if it lies in one live
// allocation that the device can reach, else a text that is valid until the thread's next call.
const char* fakecuda_check_range(const void* ptr, size_t bytes, int device);

#ifdef __cplusplus
}
#endif
