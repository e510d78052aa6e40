#include "tests/style/layer_rules.h"

#include <iterator>
#include <optional>
#include <regex>
#include <unordered_set>

namespace caffe2rt::test {
namespace {

// From the bottom up. A file belongs to the longest matching prefix; "operators/" covers all
// families.
constexpr const char* kLayers[] = {
    "proto/",
    "caffe2_core/base/",
    "caffe2_core/device/",
    "caffe2_core/tensor/",
    "caffe2_core/io/",
    "caffe2_core/graph/",
    "caffe2_core/runtime/",
    "caffe2_core/import/caffe/",
    "caffe2_core/import/onnx/",
    "caffe2_core/export/",
    "caffe2_core/executors/",
    "caffe2_core/plan/",
    "caffe2_core/model/",
    "caffe2_core/training/",
    "caffe2_core/inspect/",
    "contexts/cpu/",
    "contexts/pool/",
    "contexts/cuda/",
    "contexts/onednn/",
    "contexts/synced/",
    "contexts/",
    "operators/primitives/",
    "operators/math/",
    "operators/common/",
    "operators/",
    "caffe2_core/c_api/",
    "python/",
    "binaries/",
    "caffe2_core/compat/",
    "tests/",
};

// Forbidden pairs that the order would allow.
struct Ban {
  const char* user;
  const char* used;
};
constexpr Ban kBans[] = {
    {"contexts/cuda/", "contexts/cpu/"},
    {"python/", "caffe2_core/c_api/"},
    {"binaries/", "python/"},
    {"caffe2_core/compat/", "python/"},
    {"binaries/", "caffe2_core/c_api/"},
    {"caffe2_core/compat/", "caffe2_core/c_api/"},
    {"binaries/", "caffe2_core/compat/"},
    {"tests/support/", "binaries/"},
};

std::optional<int> LayerOf(const std::string& path) {
  int found = -1;
  size_t length = 0;
  for (int i = 0; i < static_cast<int>(std::size(kLayers)); ++i) {
    const std::string prefix = kLayers[i];
    if (path.rfind(prefix, 0) == 0 && prefix.size() > length) {
      found = i;
      length = prefix.size();
    }
  }
  if (found < 0) return std::nullopt;
  return found;
}

// "operators/conv" for "operators/conv/conv.h"; "" for a file outside the families.
std::string FamilyOf(const std::string& path) {
  const std::string prefix = "operators/";
  if (path.rfind(prefix, 0) != 0) return "";
  const size_t end = path.find('/', prefix.size());
  if (end == std::string::npos) return "";
  const std::string family = path.substr(0, end);
  return family == "operators/primitives" || family == "operators/math" ||
                 family == "operators/common"
             ? ""
             : family;
}

// The reason why `user` may not include `used`, or "" if it may.
std::string Forbids(const SourceFile& user, const std::string& used) {
  const auto user_layer = LayerOf(user.path);
  const auto used_layer = LayerOf(used);
  if (!user_layer || !used_layer) return "";
  const std::string layers =
      std::string("layer ") + kLayers[*user_layer] + " may not use " + kLayers[*used_layer];
  if (*used_layer > *user_layer) return layers;
  for (const Ban& ban : kBans) {
    if (user.IsUnder(ban.user) && used.rfind(ban.used, 0) == 0) return layers;
  }
  const std::string family = FamilyOf(user.path), other = FamilyOf(used);
  if (!family.empty() && !other.empty() && family != other) {
    return "family " + family + " may not use " + other;
  }
  return "";
}

template <class Function>
void ForEachInclude(const SourceFile& file, Function function) {
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::optional<Include> include = ParseInclude(file.lines[i]);
    if (!include) continue;
    function(file.path + ":" + std::to_string(i + 1), include->quoted, include->path);
  }
}

}  // namespace

Violations CheckLayers(const std::vector<SourceFile>& files) {
  std::unordered_set<std::string> paths;
  for (const SourceFile& file : files) paths.insert(file.path);
  Violations violations;
  for (const SourceFile& file : files) {
    // Sources in Caffe2's own style use its includes.
    if (!file.IsCode() || file.IsUnder("tests/embedding/")) continue;
    if (!LayerOf(file.path)) {
      violations.push_back(file.path + " is in a folder without a layer, want one in kLayers");
    }
    const bool may_use_caffe2 = file.IsUnder("caffe2_core/compat/") || file.IsUnder("tests/");
    ForEachInclude(file, [&](const std::string& place, bool quoted, const std::string& used) {
      if (used.rfind("caffe2/", 0) == 0 && !may_use_caffe2) {
        violations.push_back(place + " includes " + used +
                             ", which only caffe2_core/compat/ may use");
      }
      if (used.rfind("../", 0) == 0 || used.rfind("./", 0) == 0) {
        violations.push_back(place + " includes " + used + ", want a path from the root");
      }
      if (!quoted) return;
      const std::string reason = Forbids(file, used);
      if (!reason.empty()) violations.push_back(place + " includes " + used + ", " + reason);
      if (paths.contains(file.folder + "/" + used))
        violations.push_back(place + " includes " + used + ", want a path from the root");
    });
  }
  return violations;
}

Violations CheckCudaHeaders(const std::vector<SourceFile>& files) {
  static const std::regex cuda(
      R"(^(cuda|cublas|cudnn|curand|cusparse|nvrtc|nccl|cub/|thrust/|device_launch)[^/]*)");
  Violations violations;
  for (const SourceFile& file : files) {
    const bool allowed = file.IsUnder("contexts/cuda/") || file.IsUnder("tests/fake_cuda/") ||
                         file.IsUnder("caffe2_core/compat/") || file.extension == ".cu" ||
                         file.extension == ".cuh" || file.stem.ends_with("_cudnn") ||
                         file.stem.ends_with("_cublas");
    if (!file.IsCode() || allowed) continue;
    ForEachInclude(file, [&](const std::string& place, bool, const std::string& used) {
      if (std::regex_search(used, cuda)) {
        violations.push_back(place + " includes " + used + ", a CUDA header");
      }
    });
  }
  return violations;
}

}  // namespace caffe2rt::test
