#include "caffe2_core/inspect/argument_problems.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

// Creating an operator costs about as much as copying this number of bytes.
constexpr int64_t kCreationBytes = 1000;

// Whether `word` stands in the text, not as a part of a longer word.
bool Mentions(const std::string& text, const std::string& word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos && !word.empty(); ++at) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsAsciiWord(text[at - 1])) && (end == text.size() || !IsAsciiWord(text[end])))
      return true;
  }
  return false;
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Gives the argument the default value of the schema, which is another value than it has. Returns
// false if the schema has none.
bool SetDefault(const OpSchema::Argument& declared, Argument* arg) {
  Argument value;
  value.set_name(arg->name());
  int64_t integer = 0;
  float number = 0;
  if (declared.required) return false;
  if (declared.type == "int" && ParseNumber(declared.default_value, &integer)) {
    value.set_i(integer);
  } else if (declared.type == "float" && ParseNumber(declared.default_value, &number)) {
    value.set_f(number);
  } else if (declared.type == "string" && !declared.default_value.empty()) {
    value.set_s(declared.default_value);
  } else {
    return false;
  }
  if (value.SerializeAsString() == arg->SerializeAsString()) return false;
  *arg = std::move(value);
  return true;
}

// Gives argument `i` another value, which is likely to be valid: the first attempt takes the default,
// or removes an argument without one; the others take ones or halves. Returns false if there are no
// more attempts.
bool Replace(const OpSchema* schema, int attempt, int i, OperatorDef* op) {
  Argument* const arg = op->mutable_arg(i);
  const float number = attempt == 1 ? 1.f : 0.5f;
  if (attempt == 0) {
    if (schema != nullptr) {
      for (const OpSchema::Argument& declared : schema->args()) {
        if (declared.name == arg->name() && SetDefault(declared, arg)) return true;
      }
    }
    op->mutable_arg()->DeleteSubrange(i, 1);
  } else if (arg->has_f() && attempt <= 2) {
    arg->set_f(number);
  } else if (arg->floats_size() > 0 && attempt <= 2) {
    for (float& value : *arg->mutable_floats()) value = number;
  } else if (arg->has_i() && attempt == 1) {
    arg->set_i(1);
  } else if (arg->ints_size() > 0 && attempt == 1) {
    for (auto& value : *arg->mutable_ints()) value = 1;
  } else {
    return false;
  }
  return true;
}

bool IsReadable(const OpSchema::Argument& argument, const OperatorDef& op) {
  try {
    argument.read(ArgumentHelper(op));
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

// Replaces the arguments with a wrong value of their own. Returns their names.
std::vector<std::string> ReplaceWrongArguments(const OpSchema& schema, OperatorDef* op) {
  std::vector<std::string> names;
  for (const OpSchema::Argument& argument : schema.args()) {
    if (argument.read == nullptr) continue;
    for (int i = op->arg_size(); i-- > 0;) {
      if (op->arg(i).name() != argument.name || IsReadable(argument, *op)) continue;
      names.push_back(argument.name);
      OperatorDef replaced = *op;
      for (int attempt = 0; Replace(&schema, attempt, i, &replaced); ++attempt) {
        if (IsReadable(argument, replaced)) break;
        replaced = *op;
      }
      if (!IsReadable(argument, replaced)) Replace(&schema, 0, i, &replaced);
      *op = std::move(replaced);
      break;
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> SchemaProblemsOf(const OpSchema& schema, const OperatorDef& op) {
  std::vector<std::string> problems = schema.ArgumentProblems(op);
  for (const OpSchema::Argument& arg : schema.args()) {
    if (!arg.required || arg.read != nullptr || GetArgumentPtr(op, arg.name) != nullptr) continue;
    problems.push_back(MakeString("argument \"", arg.name, "\" is required but missing"));
  }
  return problems;
}

std::vector<std::string> ArgumentProblems::Of(const OpSchema* schema, const OperatorDef& op,
                                              const std::string& first, const Create& create) {
  std::vector<std::string> problems;
  if (schema != nullptr) problems = SchemaProblemsOf(*schema, op);
  if (!Contains(problems, first)) problems.insert(problems.begin(), first);
  if (op.arg_size() < 2 || static_cast<int64_t>(op.ByteSizeLong()) > work_left_) return problems;
  OperatorDef rest = op;
  std::vector<std::string> replaced;
  if (schema != nullptr) replaced = ReplaceWrongArguments(*schema, &rest);
  std::string error = replaced.empty() ? first : ErrorOf(rest, create);
  while (!error.empty()) {
    Cause cause = FindCause(schema, rest, error, replaced, create);
    // An error that no argument causes, or that asks for one that was replaced, is not the file's.
    if (cause.name.empty() || std::any_of(replaced.begin(), replaced.end(),
                                          [&](const auto& name) { return Mentions(error, name); }))
      break;
    if (!Contains(problems, error)) problems.push_back(error);
    replaced.push_back(cause.name);
    rest = std::move(cause.rest);
    error = std::move(cause.next);
  }
  return problems;
}

// The message of the constructor; "" if there is none or the work is used up.
std::string ArgumentProblems::ErrorOf(const OperatorDef& op, const Create& create) {
  work_left_ -= kCreationBytes + static_cast<int64_t>(op.ByteSizeLong());
  if (work_left_ < 0) return "";
  try {
    create(op);
    return "";
  } catch (const OutOfMemory&) {
    throw;
  } catch (...) {
    return CurrentExceptionMessage();
  }
}

// Prefers an argument without which there is no error at all, then one without which the next error
// is about others, and then one that the error mentions.
ArgumentProblems::Cause ArgumentProblems::FindCause(const OpSchema* schema, const OperatorDef& op,
                                                    const std::string& error,
                                                    const std::vector<std::string>& replaced,
                                                    const Create& create) {
  Cause best;
  int best_score = -1;
  const auto size = static_cast<int64_t>(op.ByteSizeLong());
  for (int i = 0; i < op.arg_size(); ++i) {
    const std::string& name = op.arg(i).name();
    if (Contains(replaced, name)) continue;
    // The default may be as wrong as the value, and then hides the errors of other arguments.
    bool is_about_others = false;
    for (int attempt = 0; !is_about_others; ++attempt) {
      if (work_left_ < size) return {};
      Cause cause{.name = name, .rest = op, .next = ""};
      if (!Replace(schema, attempt, i, &cause.rest)) break;
      cause.next = ErrorOf(cause.rest, create);
      if (work_left_ < 0) return {};
      if (cause.next.empty()) return cause;
      is_about_others = !Mentions(cause.next, name);
      const int score = (is_about_others ? 2 : 0) + (Mentions(error, name) ? 1 : 0);
      if (cause.next == error || score <= best_score) continue;
      best = std::move(cause);
      best_score = score;
    }
  }
  return best;
}

}  // namespace caffe2rt
