#pragma once
// The operators of the user's net that an operator of an optimized net stands for, so that errors
// name what the user wrote.
//
//   before the passes:   3 Conv "c1"     user_operators: 3 Conv "c1"
//                        4 Relu          user_operators: 4 Relu
//   after them:          3 ConvFusion    user_operators: 3 Conv "c1", 4 Relu
//
// The list is a repeated string argument of the operator, in the order of the user's net. A pass
// that merges operators calls AddUserOperators for each of them; a pass that moves or copies an
// OperatorDef needs to do nothing.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr char kUserOperators[] = "user_operators";

// Gives each operator without a list one that names the operator itself.
void MarkUserOperators(NetDef* net);
// Removes lists that name only the operator itself, at its own position.
void RemoveNeedlessMarks(NetDef* net);
// Removes all lists, for a net that is to be named as it is, optimized or not.
void RemoveUserOperators(NetDef* net);
// Adds the user's operators of `from` to those of `to`, without duplicates, in order of positions.
void AddUserOperators(const OperatorDef& from, OperatorDef* to);

// One of the user's operators, as in the argument.
struct UserOperator {
  int position = -1;
  std::string text;  // `Conv "c1"`
};
// The list of the operator, or an empty list if it has none or if the list is damaged.
std::vector<UserOperator> UserOperatorsOf(const OperatorDef& op);

}  // namespace caffe2rt
#pragma GCC visibility pop
