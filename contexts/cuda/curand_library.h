#pragma once
// cuRAND through a table of functions, which is filled on first use. The built-in operators do not
// use it; it is for users' sources.
//
//   CURAND_ENFORCE(Curand().GenerateUniform(context.curand_generator(), y, n), "noise");
//
// Members have the names of the functions, without the prefix. To add a function, add its name to
// the list. Only files that are built if cuRAND's header is found (CAFFE2RT_HAS_CURAND in CMake)
// may include this. Thread safe.

#include <curand.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_libraries.h"
#include "contexts/cuda/vendor_library.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// clang-format off
#define CAFFE2RT_CURAND_FUNCTIONS(X) \
  X(CreateGenerator) X(DestroyGenerator) X(GetVersion) X(SetStream) X(SetGeneratorOffset) \
  X(SetPseudoRandomGeneratorSeed) X(Generate) X(GenerateUniform) X(GenerateUniformDouble) \
  X(GenerateNormal) X(GenerateNormalDouble) X(GenerateLogNormal) X(GenerateLogNormalDouble) \
  X(GeneratePoisson)
// clang-format on

struct CurandFunctions {
#define CAFFE2RT_MEMBER(name) decltype(&curand##name) name = nullptr;
  CAFFE2RT_CURAND_FUNCTIONS(CAFFE2RT_MEMBER)
#undef CAFFE2RT_MEMBER
};

// THROWS CurandProblem() if cuRAND is not available.
const CurandFunctions& Curand();

// Returns text such as "CURAND_STATUS_LAUNCH_FAILURE (status 201)".
std::string CurandStatusText(curandStatus_t status);

namespace internal {
[[noreturn]] void ThrowCurandError(const char* file, int line, const char* call,
                                   curandStatus_t status, const std::string& message);
}  // namespace internal

// Caffe2's name. The parts after the call are formatted only if it fails.
#define CURAND_ENFORCE(call, ...)                                                        \
  do {                                                                                   \
    const curandStatus_t caffe2rt_status = (call);                                       \
    if (__builtin_expect(caffe2rt_status != CURAND_STATUS_SUCCESS, 0)) {                 \
      ::caffe2rt::internal::ThrowCurandError(__FILE__, __LINE__, #call, caffe2rt_status, \
                                             ::caffe2rt::MakeString(__VA_ARGS__));       \
    }                                                                                    \
  } while (false)

}  // namespace caffe2rt
#pragma GCC visibility pop
