#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/file_kind_proto.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

bool IsNumberSign(char c) { return c == '.' || c == '+' || c == '-'; }

// The names of the fields outside any braces, in order. Stops where the text cannot be a proto: at
// an unbalanced closing brace, and at a field name followed by neither a colon nor a brace (prose).
std::vector<std::string_view> TopLevelNames(std::string_view text) {
  std::vector<std::string_view> names;
  std::string_view name;
  bool value = false;  // after a colon
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) {
        if (text[at] == '\\') ++at;
      }
      value = false;
    } else if (IsAsciiWord(c)) {
      const size_t begin = at;
      while (at + 1 < text.size() &&
             (IsAsciiWord(text[at + 1]) || (value && IsNumberSign(text[at + 1])))) {
        ++at;
      }
      if (depth > 0) continue;
      if (!value && !name.empty()) break;
      name = value ? std::string_view() : text.substr(begin, at + 1 - begin);
      value = false;
    } else if (c == ':' || c == '{' || c == '<' || c == '[') {
      if (depth == 0 && !name.empty()) names.push_back(name);
      name = {};
      value = c == ':';
      if (c != ':') ++depth;
    } else if (c == '}' || c == '>' || c == ']') {
      value = false;
      if (--depth < 0) break;
    }
  }
  return names;
}

struct StrongName {
  const char* name;
  FileKind kind;
};

// Names of top-level fields that only one kind of file has.
constexpr StrongName kStrongNames[] = {
    {"op", FileKind::kNetDef},
    {"network", FileKind::kPlanDef},
    {"execution_step", FileKind::kPlanDef},
    {"nets", FileKind::kMetaNetDef},
    {"blobs", FileKind::kMetaNetDef},
    {"plans", FileKind::kMetaNetDef},
    {"modelInfo", FileKind::kMetaNetDef},
    {"protos", FileKind::kTensorProtos},
    {"tensor", FileKind::kBlobProto},
    {"qtensor", FileKind::kBlobProto},
    {"content", FileKind::kBlobProto},
    {"data_type", FileKind::kTensorProto},
    {"float_data", FileKind::kTensorProto},
    {"int32_data", FileKind::kTensorProto},
    {"string_data", FileKind::kTensorProto},
    {"int64_data", FileKind::kTensorProto},
    {"double_data", FileKind::kTensorProto},
    {"layer", FileKind::kCaffeText},
    {"layers", FileKind::kCaffeText},
    {"input_dim", FileKind::kCaffeText},
    {"input_shape", FileKind::kCaffeText},
    {"train_net", FileKind::kCaffeText},
    {"base_lr", FileKind::kCaffeText},
    {"lr_policy", FileKind::kCaffeText},
    {"max_iter", FileKind::kCaffeText},
    {"solver_mode", FileKind::kCaffeText},
    {"test_iter", FileKind::kCaffeText},
    {"ir_version", FileKind::kOnnxModel},
    {"opset_import", FileKind::kOnnxModel},
    {"graph", FileKind::kOnnxModel},
};

}  // namespace

FileKindResult DetectTextKind(std::string_view text) {
  const std::vector<std::string_view> names = TopLevelNames(text);
  bool all_of_net = !names.empty();
  for (const std::string_view name : names) {
    for (const StrongName& strong : kStrongNames) {
      if (name == strong.name) {
        return {strong.kind, true, MakeString("text with the field \"", name, "\"")};
      }
    }
    all_of_net &= NetDef::descriptor()->FindFieldByName(std::string(name)) != nullptr;
  }
  if (all_of_net) return {FileKind::kNetDef, true, "text with fields of a NetDef alone", true};
  return {FileKind::kUnknown, true, "text whose fields belong to no known message"};
}

}  // namespace caffe2rt
