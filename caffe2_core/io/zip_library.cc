#include "caffe2_core/io/zip_library.h"

#include <dlfcn.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::internal {
namespace {

void* FindSymbol(void* library, const char* symbol) {
  void* const found = dlsym(library, symbol);
  CAFFE_ENFORCE(found != nullptr,
                "library \"" CAFFE2RT_LIBZIP "\", which reads and writes .npz, has no function ",
                symbol, "; install the version with which this library was built");
  return found;
}

// The library stays open until the process ends. The program may have linked it, also by another name,
// as the Python package does.
ZipFunctions OpenZip() {
  const bool linked = dlsym(RTLD_DEFAULT, "zip_open_from_source") != nullptr;
  void* const library = linked ? RTLD_DEFAULT : dlopen(CAFFE2RT_LIBZIP, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr && !linked) {
    const char* const reason = dlerror();
    CAFFE_THROW("cannot open the library that reads and writes .npz: ",
                reason != nullptr ? reason : CAFFE2RT_LIBZIP, "; install libzip");
  }
  ZipFunctions functions;
#define CAFFE2RT_FILL(name) \
  functions.name = reinterpret_cast<decltype(functions.name)>(FindSymbol(library, "zip_" #name));
  CAFFE2RT_ZIP_FUNCTIONS(CAFFE2RT_FILL)
#undef CAFFE2RT_FILL
  return functions;
}

}  // namespace

const ZipFunctions& Zip() {
  static const ZipFunctions functions = OpenZip();
  return functions;
}

}  // namespace caffe2rt::internal
