#pragma once
// Tables of calls that are rejected, with the whole message of each: a part of a message would hide
// a wrong number, name or remedy behind it.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {

struct Refusal {
  std::function<void()> act;
  std::string message;
};

// The message of the error of `act`, or a text that says what happened instead.
inline std::string MessageOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const EnforceNotMet& error) {
    return error.message();
  } catch (const std::exception& error) {
    return std::string("(another type of exception) ") + error.what();
  }
  return "(nothing was thrown)";
}

inline void ExpectRefusals(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) EXPECT_EQ(MessageOf(row.act), row.message);
}

}  // namespace caffe2rt::test
