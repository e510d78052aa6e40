#pragma once
// Libraries beside CUDA's runtime (cuBLAS, cuDNN, cuRAND): opened when something of them is first
// needed, never linked and never closed. Internal to contexts/cuda: see cuda_libraries.h.
//
//   VendorLibrary library("cuBLAS", "libcublas.so.13");
//   library.Fill("cublasCreate_v2", &functions.Create);
//   if (!library.Problem().empty()) ...
//
// Used by one thread at a time.

#include <string>
#include <vector>

namespace caffe2rt {

class VendorLibrary {
 public:
  // Looks where the loader looks: LD_LIBRARY_PATH, the program's own path, the system's.
  VendorLibrary(const char* name, const char* file);

  // Sets a pointer to a function; null and noted when there is none.
  template <class Function>
  void Fill(const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(Find(symbol));
  }

  // Empty when all that was asked for was found, else one line for a person.
  std::string Problem() const;

 private:
  void* Find(const char* symbol);

  const char* const name_;
  const char* const file_;
  void* library_ = nullptr;
  std::string reason_;  // of the loader
  std::vector<std::string> missing_;
};

// "cublasSgemm_v2" of cublasSgemm: a name that the vendor's header may have replaced by another.
#define CAFFE2RT_VENDOR_SYMBOL_TEXT(symbol) #symbol
#define CAFFE2RT_VENDOR_SYMBOL(symbol) CAFFE2RT_VENDOR_SYMBOL_TEXT(symbol)

}  // namespace caffe2rt
