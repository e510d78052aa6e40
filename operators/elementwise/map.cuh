#pragma once
// The CUDA implementation of map.h. A function is a struct of plain numbers whose operator() is
// CAFFE2RT_SIMD_INLINE, the same struct as on the CPU. If all pointers are aligned, a thread loads
// and stores 16 bytes at once.
//
// A .cu file instantiates the kernels of a whole table, so a new row needs no change there:
//
//   template struct CudaKernels<decltype(kActivations)>;

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/common/loop_nest.h"
#include "operators/primitives/function_table.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

namespace internal {

// The elements that a thread loads or stores at once: 16 bytes of the larger type.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};
template <class T, class R>
inline constexpr int kPackCount = 16 / (sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R));

template <class T, int kCount>
CAFFE2RT_HOST_DEVICE Pack<T, kCount> LoadPack(const T* x, int64_t i) {
  return reinterpret_cast<const Pack<T, kCount>*>(x)[i];
}
template <class T, int kCount>
CAFFE2RT_HOST_DEVICE void StorePack(T* y, int64_t i, const Pack<T, kCount>& pack) {
  reinterpret_cast<Pack<T, kCount>*>(y)[i] = pack;
}
template <int kCount, class T>
bool IsPackAligned(const T* data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(Pack<T, kCount>) == 0;
}

// Calls launch(threads, packs). Thread i < packs processes pack i; each of the other threads
// processes one of the elements after the last pack.
template <int kCount, class Launch>
void SplitIntoPacks(int64_t n, bool aligned, const Launch& launch) {
  const int64_t packs = aligned ? n / kCount : 0;
  launch(packs + (n - packs * kCount), packs);
}

template <class T, class R, class Function>
struct CudaMap {
  static constexpr int kCount = kPackCount<T, R>;
  int64_t packs;
  const T* x;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    if (i < packs) {
      const Pack<T, kCount> in = LoadPack<T, kCount>(x, i);
      Pack<R, kCount> out;
      for (int k = 0; k < kCount; ++k) out.values[k] = function(in.values[k]);
      StorePack(y, i, out);
    } else {
      const int64_t at = i + packs * (kCount - 1);
      y[at] = function(x[at]);
    }
  }
};

template <class T, class R, class Function>
struct CudaZip {
  static constexpr int kCount = kPackCount<T, R>;
  int64_t packs;
  const T* a;
  const T* b;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    if (i < packs) {
      const Pack<T, kCount> in = LoadPack<T, kCount>(a, i), other = LoadPack<T, kCount>(b, i);
      Pack<R, kCount> out;
      for (int k = 0; k < kCount; ++k) out.values[k] = function(in.values[k], other.values[k]);
      StorePack(y, i, out);
    } else {
      const int64_t at = i + packs * (kCount - 1);
      y[at] = function(a[at], b[at]);
    }
  }
};

template <class T, class R, class Function>
struct CudaZipThree {
  const T* a;
  const T* b;
  const T* c;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = function(a[i], b[i], c[i]); }
};

template <class T, class R, class Function>
struct CudaZipBroadcast {
  LoopNest<2> nest;
  const T* a;
  const T* b;
  R* y;
  Function function;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t at[2];
    nest.Find(i, at);
    y[i] = function(a[at[0]], b[at[1]]);
  }
};

template <class T>
struct CudaFindZero {
  const T* b;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    if (b[i] == 0) report->Raise(text, i);
  }
};
}  // namespace internal

template <class T, class R, class Function>
void Map(CUDAContext& context, int64_t n, const T* x, R* y, const Function& f) {
  using Kernel = internal::CudaMap<T, R, Function>;
  constexpr int kCount = Kernel::kCount;
  const bool aligned = internal::IsPackAligned<kCount>(x) && internal::IsPackAligned<kCount>(y);
  internal::SplitIntoPacks<kCount>(n, aligned, [&](int64_t threads, int64_t packs) {
    ForEach(context, threads, Kernel{packs, x, y, f}, "Map");
  });
}

template <class T, class R, class Function>
void Zip(CUDAContext& context, int64_t n, const T* a, const T* b, R* y, const Function& f) {
  using Kernel = internal::CudaZip<T, R, Function>;
  constexpr int kCount = Kernel::kCount;
  const bool aligned = internal::IsPackAligned<kCount>(a) && internal::IsPackAligned<kCount>(b) &&
                       internal::IsPackAligned<kCount>(y);
  internal::SplitIntoPacks<kCount>(n, aligned, [&](int64_t threads, int64_t packs) {
    ForEach(context, threads, Kernel{packs, a, b, y, f}, "Zip");
  });
}

template <class T, class R, class Function>
void Zip(CUDAContext& context, int64_t n, const T* a, const T* b, const T* c, R* y,
         const Function& f) {
  ForEach(context, n, internal::CudaZipThree<T, R, Function>{a, b, c, y, f}, "Zip");
}

template <class T, class R, class Function>
void ZipBroadcast(CUDAContext& context, const BroadcastLoops& loops, const T* a, const T* b, R* y,
                  const Function& f) {
  internal::CudaZipBroadcast<T, R, Function> kernel{{}, a, b, y, f};
  const auto add = [&kernel](const BroadcastLoop& loop) {
    kernel.nest.Add(loop.size, {loop.a_stride, loop.b_stride});
  };
  for (int i = 0; i < loops.outer_count; ++i) add(loops.outer[static_cast<size_t>(i)]);
  add(loops.middle);
  add(loops.inner);
  ForEach(context, loops.output_size, kernel, "ZipBroadcast");
}

template <class T>
void RequireNonZero(CUDAContext& context, const T* b, int64_t n) {
  const char* const text =
      "Div: input 1 (B) is 0 at element %, want other numbers: integers cannot be divided by 0";
  ForEach(context, n, internal::CudaFindZero<T>{b, ReportOf(context), text}, "RequireNonZero");
}

namespace internal {

// The functions above for one element type. Taking the address of a function instantiates it.
template <class Function, class T>
struct UnaryKernels {
  void (*map)(CUDAContext&, int64_t, const T*, ResultOf<Function, T>*, const Function&) = &Map;
};
template <class Function, class T>
struct BinaryKernels {
  using Result = ResultOf<Function, T, T>;
  void (*zip)(CUDAContext&, int64_t, const T*, const T*, Result*, const Function&) = &Zip;
  void (*zip_broadcast)(CUDAContext&, const BroadcastLoops&, const T*, const T*, Result*,
                        const Function&) = &ZipBroadcast;
};

template <class Function, class T>
struct UnaryGradientKernels {};
template <HasGradient Function, class T>
struct UnaryGradientKernels<Function, T> {
  void (*zip)(CUDAContext&, int64_t, const T*, const T*, T*, const GradientOf<Function>&) = &Zip;
};
template <HasGradient Function, class T>
requires(ReadsXAndY(Function::kGradientInputs)) struct UnaryGradientKernels<Function, T> {
  void (*zip)(CUDAContext&, int64_t, const T*, const T*, const T*, T*,
              const GradientOf<Function>&) = &Zip;
};

template <class Row>
struct RowKernels;
template <class Function, class... Ts>
struct RowKernels<UnaryRow<Function, Ts...>> : UnaryKernels<Function, Ts>...,
                                               UnaryGradientKernels<Function, Ts>... {};
template <class Function, class... Ts>
struct RowKernels<BinaryRow<Function, Ts...>> : BinaryKernels<Function, Ts>... {};

template <class... Rows>
struct TableKernels : RowKernels<Rows>... {};

}  // namespace internal

// The kernels of every row and element type. An explicit instantiation defines kPointers, which
// keeps them in the object file.
template <class Table>
struct CudaKernels;
template <class... Rows>
struct CudaKernels<const FunctionTable<Rows...>> {
  static const internal::TableKernels<Rows...> kPointers;
};
template <class... Rows>
const internal::TableKernels<Rows...> CudaKernels<const FunctionTable<Rows...>>::kPointers{};

}  // namespace caffe2rt
