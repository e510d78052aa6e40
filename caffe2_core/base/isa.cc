#include "caffe2_core/base/isa.h"

#include <cstdlib>
#include <cstring>

namespace caffe2rt {

Isa internal::DetectIsa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  Isa isa = Isa::kPlain;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isa = Isa::kAvx2;
  if (isa == Isa::kAvx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    isa = Isa::kAvx512;
  }
  const char* limit = std::getenv("CAFFE2RT_ISA");
  if (limit != nullptr && std::strcmp(limit, "plain") == 0) return Isa::kPlain;
  if (limit != nullptr && std::strcmp(limit, "avx2") == 0 && isa > Isa::kAvx2) return Isa::kAvx2;
  return isa;
#else
  return Isa::kPlain;
#endif
}

const char* IsaName(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx2:
      return "avx2";
    default:
      return "plain";
  }
}

}  // namespace caffe2rt
