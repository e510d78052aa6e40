#pragma once
// Libraries besides the CUDA runtime (cuBLAS, cuDNN, cuRAND): opened on first use, never linked and
// never closed. Internal to contexts/cuda: see cuda_libraries.h.
//
//   VendorLibrary library("cuBLAS", "libcublas.so.13");
//   library.Fill("cublasCreate_v2", &functions.Create);
//   if (!library.Problem().empty()) ...
//
// Used by one thread at a time.

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

class VendorLibrary {
 public:
  // Opens the file: from the folders that the user names (see CudaLibraryOptions::library_path),
  // from the loader's search path (LD_LIBRARY_PATH, the program's RPATH, the system's folders), or
  // from CUDA's toolkit or the active Python environment. `companions` are libraries that the file
  // needs; they are opened first if they lie in one of the folders, because the loader does not
  // search there.
  VendorLibrary(const char* name, const char* file, std::vector<const char*> companions = {});

  // Sets a function pointer. If the symbol is missing, sets null and notes it for Problem().
  template <class Function>
  void Fill(const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(Find(symbol, true));
  }
  // Sets a function pointer, or null if the symbol is missing. Problem() does not report it.
  template <class Function>
  void FillIfPresent(const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(Find(symbol, false));
  }

  // Returns an empty string if the library and all required symbols were found, else one line for a person.
  std::string Problem() const;
  // The path of the file that was opened, without symbolic links. Empty if none was.
  std::string Path() const;

 private:
  void* Find(const char* symbol, bool required);
  void OpenBelow(const std::vector<std::string>& roots);

  const char* const name_;
  const char* const file_;
  const std::vector<const char*> companions_;
  void* library_ = nullptr;
  std::string reason_;  // the loader's error texts
  std::string tried_;   // the folders that were searched besides the loader's path
  std::vector<std::string> missing_;
};

namespace internal {
// The folders below `root` in which libraries may lie: those of a toolkit, of a Python environment
// and of pip's packages (nvidia/*/lib), and `root` itself. Only existing folders, in a fixed order.
std::vector<std::string> LibraryFolders(const std::string& root);
// The text of CublasOrigin and its like.
std::string LibraryOrigin(const std::string& path, int major, int minor, int patch);
}  // namespace internal

// The name of a symbol after macro expansion: "cublasSgemm_v2" for cublasSgemm, which cuBLAS's
// header defines as a macro.
#define CAFFE2RT_VENDOR_SYMBOL_TEXT(symbol) #symbol
#define CAFFE2RT_VENDOR_SYMBOL(symbol) CAFFE2RT_VENDOR_SYMBOL_TEXT(symbol)

}  // namespace caffe2rt
#pragma GCC visibility pop
