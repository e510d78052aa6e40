#include "contexts/cuda/cublas_library.h"

#include "contexts/cuda/cuda_error.h"

namespace caffe2rt {
namespace {

struct Loaded {
  CublasFunctions functions;
  std::string problem;
  std::string path;
};

const Loaded& TheLibrary() {
  static const Loaded* const loaded = [] {
    auto* made = new Loaded;
    VendorLibrary library("cuBLAS", "libcublas.so.13", {"libcublasLt.so.13"});
#define CAFFE2RT_FILL(name) \
  library.Fill(CAFFE2RT_VENDOR_SYMBOL(cublas##name), &made->functions.name);
    CAFFE2RT_CUBLAS_FUNCTIONS(CAFFE2RT_FILL)
    CAFFE2RT_FILL(GemmEx)
    CAFFE2RT_FILL(GemmBatchedEx)
    CAFFE2RT_FILL(GemmStridedBatchedEx)
#undef CAFFE2RT_FILL
    made->problem = library.Problem();
    made->path = library.Path();
    return made;
  }();
  return *loaded;
}

}  // namespace

bool HasCublas() { return TheLibrary().problem.empty(); }
const std::string& CublasProblem() { return TheLibrary().problem; }
std::string CublasOrigin() {
  if (!HasCublas()) return "";
  int version[3] = {};
  int part = 0;
  for (const libraryPropertyType property : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    if (Cublas().GetProperty(property, &version[part++]) != CUBLAS_STATUS_SUCCESS)
      return TheLibrary().path;
  }
  return internal::LibraryOrigin(TheLibrary().path, version[0], version[1], version[2]);
}

const CublasFunctions& Cublas() {
  const Loaded& library = TheLibrary();
  CAFFE_ENFORCE(library.problem.empty(), library.problem);
  return library.functions;
}

std::string CublasStatusText(cublasStatus_t status) {
  const int number = static_cast<int>(status);
  if (!HasCublas()) return MakeString("status ", number);
  return MakeString(Cublas().GetStatusString(status), " (status ", number, ", ",
                    Cublas().GetStatusName(status), ")");
}

namespace internal {

void ThrowCublasError(const char* file, int line, const char* call, cublasStatus_t status,
                      const std::string& message) {
  ThrowLibraryError(file, line, "cuBLAS", call, CublasStatusText(status), message);
}

}  // namespace internal
}  // namespace caffe2rt
