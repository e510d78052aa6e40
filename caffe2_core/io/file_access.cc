#include "caffe2_core/io/file_access.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

FileAccess FileAccess::Free() { return {Kind::kFree, {}}; }
FileAccess FileAccess::Off() { return {Kind::kOff, {}}; }
FileAccess FileAccess::Below(std::vector<std::string> roots) {
  return {Kind::kBelow, std::move(roots)};
}

std::string FileAccess::CheckRead(const std::string& path) const {
  CAFFE_ENFORCE(is_free(), "file \"", path, "\" may not be read");
  return path;
}
std::string FileAccess::CheckWrite(const std::string& path) const {
  CAFFE_ENFORCE(is_free(), "file \"", path, "\" may not be written");
  return path;
}

}  // namespace caffe2rt
