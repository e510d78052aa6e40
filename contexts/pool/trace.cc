#include "contexts/pool/trace.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Kind = TraceEntry::Kind;
constexpr uint32_t kMostIds = 1u << 20;
constexpr StreamIndex kMostStreams = 1 << 16;
constexpr std::string_view kFirstLine = "caffe2rt-trace 1";

// Splits a line into words. Errors name the line.
class Line {
 public:
  Line(std::string_view text, size_t number) : text_(text), rest_(text), number_(number) {}

  std::string_view Word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::string_view Rest() const { return rest_; }

  template <class T>
  T Number(const char* subject, T least, T most) {
    const std::string_view word = Word();
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most) {
      Fail(MakeString(subject, " is \"", word, "\", want ", least, " to ", most));
    }
    return value;
  }

  [[noreturn]] void Fail(const std::string& what) const {
    CAFFE_THROW("trace, line ", number_, " (\"", text_.substr(0, 80), "\"): ", what);
  }

 private:
  std::string_view text_;
  std::string_view rest_;
  size_t number_;
};

TraceEntry ParseEntry(char letter, Line& line, std::vector<bool>& in_use) {
  TraceEntry entry;
  if (letter != 'w') entry.id = line.Number<uint32_t>("id", 0, kMostIds - 1);
  if (entry.id >= in_use.size()) in_use.resize(entry.id + 1);
  const bool is_in_use = in_use[entry.id];
  switch (letter) {
    case 'a':
      entry.kind = Kind::kAllocate;
      entry.bytes = line.Number<size_t>("size", 0, SIZE_MAX);
      if (is_in_use) line.Fail(MakeString("id ", entry.id, " is already in use"));
      in_use[entry.id] = true;
      break;
    case 'u':
    case 'f':
      entry.kind = letter == 'u' ? Kind::kUse : Kind::kFree;
      if (!is_in_use) line.Fail(MakeString("id ", entry.id, " is not in use"));
      in_use[entry.id] = letter == 'u';
      break;
    default:
      entry.kind = Kind::kWait;
      break;
  }
  const StreamIndex least = entry.kind == Kind::kFree ? kNoStream : 0;
  entry.stream = line.Number<StreamIndex>("stream", least, kMostStreams - 1);
  if (!line.Rest().empty()) line.Fail("the line has too many words");
  return entry;
}

}  // namespace

size_t Trace::IdCount() const {
  size_t count = 0;
  for (const TraceEntry& entry : entries) count = std::max<size_t>(count, entry.id + 1);
  return count;
}

size_t Trace::StreamCount() const {
  StreamIndex most = kNoStream;
  for (const TraceEntry& entry : entries) most = std::max(most, entry.stream);
  return static_cast<size_t>(most + 1);
}

Trace ParseTrace(std::string_view text) {
  Trace trace;
  std::vector<bool> in_use;
  size_t number = 0;
  bool has_first_line = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (content.empty() || content[0] == '#') continue;
    Line line(content, number);
    if (!has_first_line) {
      if (content != kFirstLine) line.Fail(MakeString("want \"", kFirstLine, "\" first"));
      has_first_line = true;
      continue;
    }
    const std::string_view word = line.Word();
    if (word == "name") {
      trace.name = line.Rest();
      const auto is_plain = [](char c) {
        return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
      };
      if (!std::all_of(trace.name.begin(), trace.name.end(), is_plain)) {
        line.Fail("a name may contain only letters, digits, _ . and -");
      }
    } else if (word == "fixed_shapes" && line.Rest().empty()) {
      trace.fixed_shapes = true;
    } else if (word == "a" || word == "u" || word == "f" || word == "w") {
      trace.entries.push_back(ParseEntry(word[0], line, in_use));
    } else {
      line.Fail("want name, fixed_shapes, a, u, f or w");
    }
  }
  CAFFE_ENFORCE(has_first_line, "trace is empty, want \"", kFirstLine, "\" first");
  return trace;
}

std::string TraceText(const Trace& trace) {
  std::string text = MakeString(kFirstLine, '\n');
  if (!trace.name.empty()) absl::StrAppend(&text, "name ", trace.name, "\n");
  if (trace.fixed_shapes) text += "fixed_shapes\n";
  for (const TraceEntry& entry : trace.entries) {
    switch (entry.kind) {
      case Kind::kAllocate:
        absl::StrAppend(&text, "a ", entry.id, " ", entry.bytes, " ", entry.stream, "\n");
        break;
      case Kind::kUse:
        absl::StrAppend(&text, "u ", entry.id, " ", entry.stream, "\n");
        break;
      case Kind::kFree:
        absl::StrAppend(&text, "f ", entry.id, " ", entry.stream, "\n");
        break;
      case Kind::kWait:
        absl::StrAppend(&text, "w ", entry.stream, "\n");
        break;
    }
  }
  return text;
}

}  // namespace caffe2rt
