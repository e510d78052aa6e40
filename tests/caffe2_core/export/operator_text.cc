#include "tests/caffe2_core/export/operator_text.h"

#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::operator_text {

std::string Op(const std::string& type, const std::string& args, const std::string& inputs,
               const std::string& outputs) {
  std::string text = "op { type: \"" + type + "\" ";
  for (const auto& [field, names] : {std::pair("input", inputs), {"output", outputs}}) {
    for (size_t i = 0; i < names.size(); i += 2)
      text += std::string(field) + ": \"" + names[i] + "\" ";
  }
  return text + args + " }";
}

std::string F(const std::string& name, float value) {
  return MakeString("arg { name: '", name, "' f: ", value, " } ");
}

std::string I(const std::string& name, int64_t value) {
  return MakeString("arg { name: '", name, "' i: ", value, " } ");
}

std::string S(const std::string& name, const std::string& value) {
  return "arg { name: '" + name + "' s: '" + value + "' } ";
}

std::string L(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "arg { name: '" + name + "' ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}

}  // namespace caffe2rt::test::operator_text
