#include "caffe2_core/graph/passes/user_operators.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

std::string MarkOf(const OperatorDef& op, int position) {
  std::string mark = absl::StrCat(position, " ", op.type());
  if (!op.name().empty()) absl::StrAppend(&mark, " \"", op.name(), "\"");
  return mark;
}

// Like add_strings. If memory runs out, that function leaves an invalid string in the list, which the
// destructor of the argument then frees.
void AddString(const std::string& value, Argument* argument) {
  auto text = std::make_unique<std::string>(value);
  auto* const list = argument->mutable_strings();
  list->Reserve(list->size() + 1);
  list->AddAllocated(text.release());
}

void RemoveArgument(const char* name, OperatorDef* op) {
  auto* args = op->mutable_arg();
  for (int i = args->size() - 1; i >= 0; --i) {
    if (args->Get(i).name() == name) args->DeleteSubrange(i, 1);
  }
}

}  // namespace

void MarkUserOperators(NetDef* net) {
  for (int i = 0; i < net->op_size(); ++i) {
    OperatorDef* const op = net->mutable_op(i);
    if (GetArgumentPtr(*op, kUserOperators) != nullptr) continue;
    AddString(MarkOf(*op, i), GetMutableArgument(kUserOperators, true, op));
  }
}

void RemoveNeedlessMarks(NetDef* net) {
  for (int i = 0; i < net->op_size(); ++i) {
    OperatorDef* const op = net->mutable_op(i);
    const Argument* const marks = GetArgumentPtr(*op, kUserOperators);
    if (marks == nullptr || marks->strings_size() != 1) continue;
    if (marks->strings(0) == MarkOf(*op, i)) RemoveArgument(kUserOperators, op);
  }
}

void RemoveUserOperators(NetDef* net) {
  for (OperatorDef& op : *net->mutable_op()) RemoveArgument(kUserOperators, &op);
}

void AddUserOperators(const OperatorDef& from, OperatorDef* to) {
  std::vector<UserOperator> all = UserOperatorsOf(*to);
  for (UserOperator& op : UserOperatorsOf(from)) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const UserOperator& other) {
      return other.position == op.position;
    });
    if (!known) all.push_back(std::move(op));
  }
  std::stable_sort(all.begin(), all.end(), [](const UserOperator& a, const UserOperator& b) {
    return a.position < b.position;
  });
  Argument* const marks = GetMutableArgument(kUserOperators, true, to);
  marks->clear_strings();
  for (const UserOperator& op : all) AddString(absl::StrCat(op.position, " ", op.text), marks);
}

std::vector<UserOperator> UserOperatorsOf(const OperatorDef& op) {
  const Argument* const marks = GetArgumentPtr(op, kUserOperators);
  if (marks == nullptr) return {};
  std::vector<UserOperator> result;
  for (const std::string& mark : marks->strings()) {
    const size_t space = mark.find(' ');
    UserOperator user;
    if (space == std::string::npos || !absl::SimpleAtoi(mark.substr(0, space), &user.position) ||
        user.position < 0) {
      return {};
    }
    user.text = mark.substr(space + 1);
    result.push_back(std::move(user));
  }
  return result;
}

}  // namespace caffe2rt
