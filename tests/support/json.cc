#include "tests/support/json.h"

#include <nlohmann/json.hpp>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {
namespace {

using Json = nlohmann::ordered_json;

Json ValueAt(const std::string& text, const std::string& pointer) try {
  return Json::parse(text).at(Json::json_pointer(pointer));
} catch (const Json::exception& error) {
  CAFFE_THROW("no value \"", pointer, "\" in ", text, ": ", error.what());
}

}  // namespace

std::string JsonAt(const std::string& text, const std::string& pointer) {
  return ValueAt(text, pointer).dump();
}

size_t JsonSize(const std::string& text, const std::string& pointer) {
  return ValueAt(text, pointer).size();
}

}  // namespace caffe2rt::test
