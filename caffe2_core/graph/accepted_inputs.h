#pragma once
// The element types and ranks that the inputs of built-in operators may have, for people who look.
//
//   const std::optional<AcceptedInput> x = FindAcceptedInput("Conv", 0);
//   TypesText(*x) + ", " + RanksText(*x)    // "float, rank 3 to 5"
//
// The table (operators/accepted_inputs.tsv) was made by running recorded calls on the CPU with inputs
// of every type and rank (tests/oracle/find_accepted_inputs). Which of them fit together, and with the arguments, only the operator
// knows: InputProblem (runtime/input_check.h) asks it. Thread safe.

#include <optional>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The largest rank that was tried.
inline constexpr int kMostTriedRank = 6;

struct AcceptedInput {
  std::vector<TensorProto_DataType> types;  // in the order of their numbers
  std::vector<int> ranks;                   // ascending, at most kMostTriedRank
};

// Returns nothing for an input without an entry: of a user's operator, one of which no call was
// recorded, or one that is not a tensor.
std::optional<AcceptedInput> FindAcceptedInput(const std::string& type, int input);

// "float, int32", "any type"
std::string TypesText(const AcceptedInput& input);
// "rank 4", "rank 0, 2 or 4 and more", "any rank"
std::string RanksText(const AcceptedInput& input);

// An input of an operator of type `type` as a line of the table, without its end.
std::string AcceptedInputRow(const std::string& type, int input, const AcceptedInput& accepted);

// The element types that were tried.
const std::vector<TensorProto_DataType>& TriedTypes();

}  // namespace caffe2rt
#pragma GCC visibility pop
