#include "contexts/cuda/curand_library.h"

#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {
namespace {

struct Loaded {
  CurandFunctions functions;
  std::string problem;
  std::string path;
};

const Loaded& TheLibrary() {
  static const Loaded* const loaded = [] {
    auto* made = new Loaded;
    VendorLibrary library("cuRAND", "libcurand.so.10");
#define CAFFE2RT_FILL(name) \
  library.Fill(CAFFE2RT_VENDOR_SYMBOL(curand##name), &made->functions.name);
    CAFFE2RT_CURAND_FUNCTIONS(CAFFE2RT_FILL)
#undef CAFFE2RT_FILL
    made->problem = library.Problem();
    made->path = library.Path();
    return made;
  }();
  return *loaded;
}

const char* NameOf(curandStatus_t status) {
  switch (status) {
#define CAFFE2RT_NAME(name) \
  case name:                \
    return #name;
    CAFFE2RT_NAME(CURAND_STATUS_SUCCESS)
    CAFFE2RT_NAME(CURAND_STATUS_VERSION_MISMATCH)
    CAFFE2RT_NAME(CURAND_STATUS_NOT_INITIALIZED)
    CAFFE2RT_NAME(CURAND_STATUS_ALLOCATION_FAILED)
    CAFFE2RT_NAME(CURAND_STATUS_TYPE_ERROR)
    CAFFE2RT_NAME(CURAND_STATUS_OUT_OF_RANGE)
    CAFFE2RT_NAME(CURAND_STATUS_LENGTH_NOT_MULTIPLE)
    CAFFE2RT_NAME(CURAND_STATUS_DOUBLE_PRECISION_REQUIRED)
    CAFFE2RT_NAME(CURAND_STATUS_LAUNCH_FAILURE)
    CAFFE2RT_NAME(CURAND_STATUS_PREEXISTING_FAILURE)
    CAFFE2RT_NAME(CURAND_STATUS_INITIALIZATION_FAILED)
    CAFFE2RT_NAME(CURAND_STATUS_ARCH_MISMATCH)
    CAFFE2RT_NAME(CURAND_STATUS_INTERNAL_ERROR)
#undef CAFFE2RT_NAME
    default:
      return "unknown to this build";
  }
}

}  // namespace

bool HasCurand() { return TheLibrary().problem.empty(); }
const std::string& CurandProblem() { return TheLibrary().problem; }
std::string CurandOrigin() {
  int version = 0;
  if (!HasCurand()) return "";
  if (Curand().GetVersion(&version) != CURAND_STATUS_SUCCESS) return TheLibrary().path;
  return internal::LibraryOrigin(TheLibrary().path, version / 1000, version % 1000 / 100,
                                 version % 100);
}

const CurandFunctions& Curand() {
  const Loaded& library = TheLibrary();
  CAFFE_ENFORCE(library.problem.empty(), library.problem);
  return library.functions;
}

std::string CurandStatusText(curandStatus_t status) {
  return MakeString(NameOf(status), " (status ", static_cast<int>(status), ")");
}

namespace internal {

void ThrowCurandError(const char* file, int line, const char* call, curandStatus_t status,
                      const std::string& message) {
  ThrowLibraryError(file, line, "cuRAND", call, CurandStatusText(status), message);
}

curandGenerator_t NewCurandGenerator() {
  curandGenerator_t generator = nullptr;
  CURAND_ENFORCE(Curand().CreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  return generator;
}

void BindCurandGenerator(curandGenerator_t generator, const CudaStream& stream) {
  CURAND_ENFORCE(Curand().SetStream(generator, stream.stream), "device ", stream.device);
}

void SeedCurandGenerator(curandGenerator_t generator, uint64_t seed) {
  CURAND_ENFORCE(Curand().SetPseudoRandomGeneratorSeed(generator, seed), "seed ", seed);
  CURAND_ENFORCE(Curand().SetGeneratorOffset(generator, 0), "seed ", seed);
}

}  // namespace internal
}  // namespace caffe2rt
