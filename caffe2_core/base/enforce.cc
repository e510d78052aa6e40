#include "caffe2_core/base/enforce.h"

#include <new>

#include "caffe2_core/base/memory_budget.h"

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
void ThrowEnforceNotMet(const char* file, int line, const char* condition, std::string message,
                        const void* caller) {
  throw EnforceNotMet(file, line, condition, std::move(message), caller);
}
}  // namespace internal
}  // namespace caffe2rt
