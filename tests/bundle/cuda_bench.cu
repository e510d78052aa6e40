// Measures memory pools and copies on a GPU. One measurement per process, because the pool is
// chosen once.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "binaries/program_main.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/pinned_allocator.h"

namespace caffe2rt {
namespace {

// Fewer repetitions and smaller copies, to try the program.
bool quick = false;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class F>
double MedianSeconds(F f) {
  std::vector<double> times;
  const int rounds = quick ? 1 : 7;
  for (int round = 0; round < rounds + 1; ++round) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (round > 0) times.push_back(time.count());  // the first round warms up
  }
  return Median(std::move(times));
}

void BenchPool(const std::string& pool) {
  // Typical sizes of an image net's layer outputs and weights.
  static constexpr size_t kSizes[] = {4000, 774400, 173056, 4 << 20, 48 << 20};
  const bool raw = pool == "raw";
  if (!raw) GlobalCudaMemoryOptions().pool = ParseCudaMemoryPoolType(pool);
  CUDAContext context(0);
  const int repeats = quick ? 1 : 200;
  const double seconds = MedianSeconds([&] {
    for (int i = 0; i < repeats; ++i) {
      for (const size_t size : kSizes) {
        if (raw) {
          void* data = nullptr;
          CUDA_ENFORCE(cudaMalloc(&data, size), "a benchmark's ", size, " bytes");
          CUDA_ENFORCE(cudaFree(data), "a benchmark's memory");
        } else {
          const auto [data, deleter] = NewCudaMemory(size);
          deleter(data);
        }
      }
    }
    context.FinishDeviceComputation();
  });
  std::printf("pool %-6s %10.0f ns per allocation and free\n", pool.c_str(),
              1e9 * seconds / (static_cast<double>(repeats) * std::size(kSizes)));
}

void Report(const char* what, size_t nbytes, double seconds, double peak) {
  std::printf("%-28s %8zu KiB  %7.2f GB/s  (CUDA's own %7.2f)\n", what, nbytes >> 10,
              1e-9 * static_cast<double>(nbytes) / seconds,
              1e-9 * static_cast<double>(nbytes) / peak);
}

void BenchCopies() {
  CUDAContext context(0);
  PinnedCPUAllocator pinned;
  for (const size_t nbytes : {size_t{64} << 10, size_t{4} << 20, size_t{256} << 20}) {
    if (quick && nbytes > size_t{4} << 20) break;
    const auto [device, free_device] = NewCudaMemory(nbytes);
    const auto [other, free_other] = NewCudaMemory(nbytes);
    const auto [host, free_host] = pinned.New(nbytes);
    std::vector<char> pageable(nbytes, 1);
    std::memset(host, 1, nbytes);
    const cudaStream_t stream = context.cuda_stream();
    // Structured bindings cannot be captured by value.
    void *const d = device, *const o = other, *const h = host;
    const auto time = [&](auto f) {
      return MedianSeconds([&] {
        f();
        CUDA_ENFORCE(cudaStreamSynchronize(stream), "a benchmark's copy");
      });
    };
    const double to = time([&] {
      CUDA_ENFORCE(cudaMemcpyAsync(d, h, nbytes, cudaMemcpyHostToDevice, stream), "copy");
    });
    const double from = time([&] {
      CUDA_ENFORCE(cudaMemcpyAsync(h, d, nbytes, cudaMemcpyDeviceToHost, stream), "copy");
    });
    char* const p = pageable.data();
    const double to_paged = time([&] {
      CUDA_ENFORCE(cudaMemcpyAsync(d, p, nbytes, cudaMemcpyHostToDevice, stream), "copy");
    });
    const double from_paged = time([&] {
      CUDA_ENFORCE(cudaMemcpyAsync(p, d, nbytes, cudaMemcpyDeviceToHost, stream), "copy");
    });
    const double within = time([&] {
      CUDA_ENFORCE(cudaMemcpyAsync(o, d, nbytes, cudaMemcpyDeviceToDevice, stream), "copy");
    });
    Report("pinned to device", nbytes, time([&] { context.CopyBytesFromCPU(nbytes, h, d); }), to);
    Report("device to pinned", nbytes, time([&] { context.CopyBytesToCPU(nbytes, d, h); }), from);
    Report("pageable to device", nbytes, time([&] { context.CopyBytesFromCPU(nbytes, p, d); }),
           to_paged);
    Report("device to pageable", nbytes, time([&] { context.CopyBytesToCPU(nbytes, d, p); }),
           from_paged);
    Report("within the device", nbytes, time([&] { context.CopyBytesSameDevice(nbytes, d, o); }),
           within);
    context.FinishDeviceComputation();
    free_device(d);
    free_other(o);
    free_host(h);
  }
}

int Bench(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  if (line.Has("pool") == line.Has("copies")) throw UsageError("want either --pool or --copies");
  quick = line.Has("quick");
  if (line.Has("pool")) {
    BenchPool(line.Text("pool"));
  } else {
    BenchCopies();
  }
  return 0;
}

const Program& TheProgram() {
  static const Program program = {
      .name = "cuda_bench",
      .purpose = "measures memory pools and copies on a GPU",
      .usage = "--pool NAME | --copies [--quick]",
      .options = {{"pool", "NAME", "",
                   "ns per allocation and free of raw (cudaMalloc and cudaFree), none, cub, thc or "
                   "async"},
                  {"copies", "", "",
                   "GB/s of the library's copies, and of CUDA's own of the same memory"},
                  {"quick", "", "", "measure once, and no large copies, to try the program"}},
      .notes = "example:\n  cuda_bench --pool thc\n",
      .run = &Bench};
  return program;
}

}  // namespace
}  // namespace caffe2rt

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::TheProgram(), argc, argv);
}
