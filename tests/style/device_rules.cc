#include "tests/style/device_rules.h"

#include <algorithm>
#include <regex>

namespace caffe2rt::test {
namespace {

struct Allowed {
  const char* word;  // a '*' at the end matches any suffix
  const char* path;  // prefix of the file's path
};
constexpr Allowed kAllowed[] = {
    // Caffe2's number and name of the device type.
    {"CUDA", "caffe2_core/device/device_type."},
    // Caffe2's macros and functions for custom operators.
    {"CUDA", "caffe2_core/runtime/operator_registry.h"},
    {"CUDAOperatorRegistry", "caffe2_core/runtime/operator_registry.h"},
    {"REGISTER_CUDA_OPERATOR*", "caffe2_core/runtime/operator_registry.h"},
    // Operator types of Caffe2.
    {"CudaProfile*", "caffe2_core/runtime/known_operators.cc"},
    // Names in Caffe2's files: a type of blob, a field of DeviceOption.
    {"TensorCUDA", "caffe2_core/io/blob_serialization.cc"},
    {"cuda_gpu_id", "caffe2_core/io/"},
    // Arguments of nets and the program's options for them, for devices of every type.
    {"cuda_sync", "caffe2_core/"},
    {"cuda_graph", "caffe2_core/"},
    {"cuda-sync", "caffe2_core/"},
    {"cuda-graph", "caffe2_core/"},
    // Defined by nvcc, for headers that it compiles.
    {"__CUDACC__", "caffe2_core/"},
};

bool IsAllowed(const SourceFile& file, const std::string& word) {
  return std::any_of(std::begin(kAllowed), std::end(kAllowed), [&](const Allowed& allowed) {
    std::string text = allowed.word;
    const bool any_rest = text.ends_with('*');
    if (any_rest) text.pop_back();
    return file.IsUnder(allowed.path) && (any_rest ? word.starts_with(text) : word == text);
  });
}

}  // namespace

Violations CheckCudaInCore(const std::vector<SourceFile>& files) {
  static const std::regex word(R"(\w*cuda\w*(-\w+)*)", std::regex::icase);
  static const std::regex comparison(
      R"(([!=]=\s*[\w:]*\bCUDA\b)|(\bCUDA\s*[!=]=)|(case\s+[\w:]*\bCUDA\b))");
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.IsUnder("caffe2_core/") || file.IsUnder("caffe2_core/compat/")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find("uda") == std::string::npos && line.find("UDA") == std::string::npos) continue;
      const std::string place = file.path + ":" + std::to_string(i + 1);
      for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
        if (IsAllowed(file, it->str())) continue;
        violations.push_back(
            place + " names " + it->str() +
            "; want code in contexts/cuda, or a property of the device descriptor");
      }
      if (std::regex_search(line, comparison)) {
        violations.push_back(place +
                             " compares with CUDA; want a property of the device descriptor");
      }
    }
  }
  return violations;
}

}  // namespace caffe2rt::test
