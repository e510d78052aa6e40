#include "caffe2_core/io/proto_text.h"

#include <absl/strings/str_replace.h>
#include <absl/strings/string_view.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/proto_binary.h"

namespace caffe2rt {
namespace {

using google::protobuf::Message;

constexpr std::string_view kOlderDeviceId = "cuda_gpu_id";
constexpr std::string_view kDeviceId = "device_id  ";  // padded, so that columns stay right

// Keeps the first error, without the package name and the final full stop. `too_deep` replaces the
// parser's error for messages that are nested too deep.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  FirstError(TextError* error, std::string too_deep)
      : error_(error), too_deep_(std::move(too_deep)) {}
  // Overrides what protobuf calls: AddError before version 22, later RecordError.
  void AddError(int line, int column, const std::string& message) {
    RecordError(line, column, message);
  }
  void RecordError(int line, int column, absl::string_view message) {
    if (!error_->message.empty()) return;
    // Protobuf counts from 0.
    *error_ = {line + 1, column + 1, absl::StrReplaceAll(message, {{"caffe2rt.", ""}})};
    std::string& text = error_->message;
    while (!text.empty() && text.back() == '.') text.pop_back();
    if (text.starts_with("Message is too deep")) text = too_deep_;
  }

 private:
  TextError* const error_;
  const std::string too_deep_;
};

// Returns the end of the string literal that begins at `at`: after its closing quote, or at the end
// of the line.
size_t SkipString(std::string_view text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') {
    at += text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

// Returns the text with DeviceOption's former field name replaced wherever it is a word outside
// strings and comments.
std::string WithTodaysNames(std::string_view text) {
  std::string result(text);
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"' || text[at] == '\'') {
      at = SkipString(text, at);
    } else if (IsAsciiWord(text[at])) {
      const size_t begin = at;
      while (at < text.size() && IsAsciiWord(text[at])) ++at;
      if (text.substr(begin, at - begin) == kOlderDeviceId) {
        result.replace(begin, kDeviceId.size(), kDeviceId);
      }
    } else {
      ++at;
    }
  }
  return result;
}

bool ParseTextOnce(std::string_view text, Message* proto, TextError* error) {
  google::protobuf::TextFormat::Parser parser;
  const int nesting_limit = ProtoNestingLimit();
  FirstError collector(error, ProtoTooDeepText(nesting_limit));
  parser.RecordErrorsTo(&collector);
  parser.SetRecursionLimit(nesting_limit);
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  return parser.Parse(&stream, proto);
}

// Protobuf reports an unknown field at what follows its name. Moves the position to the start of
// the name.
void PointAtName(std::string_view text, TextError* error) {
  const std::string& message = error->message;
  constexpr std::string_view kUnknownField = "has no field named \"";
  const size_t at = message.find(kUnknownField);
  if (at == std::string::npos) return;
  const size_t begin = at + kUnknownField.size();
  const int length = static_cast<int>(message.find('"', begin) - begin);
  size_t line_begin = 0;
  for (int line = 1; line < error->line && line_begin != std::string_view::npos; ++line) {
    line_begin = text.find('\n', line_begin);
    if (line_begin != std::string_view::npos) ++line_begin;
  }
  if (line_begin == std::string_view::npos || error->column <= length) return;
  std::string_view before =
      text.substr(line_begin).substr(0, static_cast<size_t>(error->column - 1));
  if (before.find('\t') != std::string_view::npos) return;
  before = before.substr(0, before.find_last_not_of(' ') + 1);
  if (before.ends_with(std::string_view(message).substr(begin, static_cast<size_t>(length)))) {
    error->column = static_cast<int>(before.size()) - length + 1;
  }
}

}  // namespace

bool ParseText(std::string_view text, Message* proto, TextError* error) {
  CAFFE_ENFORCE(proto != nullptr, "argument proto of ParseText is null");
  CAFFE_ENFORCE(error != nullptr, "argument error of ParseText is null");
  *error = {};
  // Some editors write a byte order mark before UTF-8.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.size() > INT_MAX) {
    *error = {1, 1, MakeString("it has ", ByteSizeText(text.size()), ", want less than 2 GiB")};
    return false;
  }
  if (ParseTextOnce(text, proto, error)) return true;
  PointAtName(text, error);
  if (text.find(kOlderDeviceId) == std::string_view::npos) return false;
  TextError second;
  const std::string today = WithTodaysNames(text);
  if (ParseTextOnce(today, proto, &second)) return true;
  PointAtName(today, &second);
  if (second.line != error->line || second.column != error->column) *error = second;
  return false;
}

}  // namespace caffe2rt
