#include "caffe2_core/base/enforce.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>

#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {

EnforceNotMet::EnforceNotMet(const char* file, int line, const char* condition, std::string message,
                             const void* caller)
    : message_(std::move(message)), caller_(caller) {
  std::string_view path(file);
  if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) {
    path.remove_prefix(slash + 1);
  }
  try {
    full_ = MakeString("[enforce fail at ", path, ":", line, "] ", condition,
                       *condition != '\0' ? ". " : "", message_);
    stack_.push_back(full_);
  } catch (const std::bad_alloc&) {
    // An error can be created even if no memory is left. It then keeps only its message.
    full_ = "out of memory";  // short enough to need no allocation
  }
}

void EnforceNotMet::AppendMessage(const std::string& frame) {
  try {
    std::string full = full_;
    full += '\n';
    full += frame;
    if (stack_.empty()) stack_.push_back(full_);
    stack_.push_back(frame);
    full_ = std::move(full);
  } catch (const std::bad_alloc&) {
    // Report the original error without this frame rather than a new one.
  }
}

std::string EnforceNotMet::message() const {
  std::string text;
  for (size_t i = stack_.size(); i-- > 1;) {
    text += stack_[i];
    text += ": ";
  }
  return text + (!message_.empty() ? message_ : stack_.empty() ? full_ : stack_.front());
}

std::string CurrentExceptionMessage() {
  try {
    throw;
  } catch (const EnforceNotMet& error) {
    return error.message();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

void RethrowWithFrame(const std::string& frame) {
  try {
    throw;
  } catch (EnforceNotMet& error) {
    error.AppendMessage(frame);
    throw;
  } catch (const std::bad_alloc&) {
    OutOfMemory converted = OutOfMemoryNow();
    converted.AppendMessage(frame);
    throw converted;
  } catch (...) {
    EnforceNotMet converted(__FILE__, __LINE__, "", CurrentExceptionMessage());
    converted.AppendMessage(frame);
    throw converted;
  }
}

namespace internal {
namespace {

// What the comparison wants of its left side: " at least" for "a >= b". The macros put spaces around
// their operator; an operand with a comparison of its own, outside of parentheses, gives no answer.
const char* WantedBy(std::string_view condition) {
  static constexpr std::pair<std::string_view, const char*> kOperators[] = {
      {" == ", ""},          {" != ", " other than"}, {" <= ", " at most"},
      {" < ", " less than"}, {" >= ", " at least"},   {" > ", " more than"}};
  const char* wanted = nullptr;
  int depth = 0;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] == '(' || condition[i] == '[' || condition[i] == '{') ++depth;
    if (condition[i] == ')' || condition[i] == ']' || condition[i] == '}') --depth;
    for (const auto& [symbol, text] : kOperators) {
      if (depth != 0 || !condition.substr(i).starts_with(symbol)) continue;
      if (wanted != nullptr) return nullptr;
      wanted = text;
    }
  }
  return wanted;
}

}  // namespace

void MessagePart::AppendTo(std::string* text) const {
  switch (kind_) {
    case Kind::kText:
      text->append(text_);
      break;
    case Kind::kCharacter:
      text->push_back(character_);
      break;
    case Kind::kSigned:
      absl::StrAppend(text, signed_);
      break;
    case Kind::kUnsigned:
      absl::StrAppend(text, unsigned_);
      break;
    case Kind::kFloating:
      text->append(ShortText(floating_));
      break;
    case Kind::kElements:
      elements_.append(elements_.object, text);
      break;
    case Kind::kStreamed:
      text->append(MessageText({*this}));
      break;
  }
}

void MessagePart::WriteTo(std::ostream& out) const {
  switch (kind_) {
    case Kind::kCharacter:
      out << character_;
      break;
    case Kind::kSigned:
      out << signed_;
      break;
    case Kind::kUnsigned:
      out << unsigned_;
      break;
    case Kind::kFloating:
      out << floating_;
      break;
    case Kind::kStreamed:
      streamed_.write(out, streamed_.object);
      break;
    case Kind::kText:
    case Kind::kElements:
      std::string text;
      AppendTo(&text);
      out << text;
      break;
  }
}

// If one part needs a stream, all are written to it, because the part may be a manipulator.
std::string MessageText(MessageParts parts) {
  if (std::any_of(parts.begin(), parts.end(),
                  [](const auto& part) { return part.is_streamed(); })) {
    ClassicStringStream out;
    for (const MessagePart& part : parts) part.WriteTo(out);
    return out.str();
  }
  std::string text;
  for (const MessagePart& part : parts) part.AppendTo(&text);
  return text;
}

void ThrowEnforceNotMet(const char* file, int line, const char* condition, MessageParts message,
                        const void* caller) {
  throw EnforceNotMet(file, line, condition, MessageText(message), caller);
}

// The message is "<text>: got <a>, want <b>". what() has Caffe2's form too, "<a> vs <b>. <text>",
// for sources that look for it.
void ThrowCompareFailed(const char* file, int line, const char* condition, const MessagePart& a,
                        const MessagePart& b, MessageParts message) {
  const std::string text = MessageText(message);
  const char* const wanted = WantedBy(condition);
  const std::string values = wanted != nullptr ? MessageText({"got ", a, ", want", wanted, " ", b})
                                               : MessageText({"got ", a, " and ", b});
  const bool states_wish = text.find(", want ") != std::string::npos;
  const std::string full = text.empty()  ? values
                           : states_wish ? MessageText({text, " (", values, ")"})
                                         : MessageText({text, ": ", values});
  const std::string compared = MessageText({condition, ". ", a, " vs ", b});
  throw EnforceNotMet(file, line, compared.c_str(), full);
}

}  // namespace internal
}  // namespace caffe2rt
