#pragma once
// Operators as lines of text, to be compared with what a test expects.

#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

// "Type inputs -> outputs name=value", with or without the numbers of arguments that are lists.
inline std::string OperatorLine(const OperatorDef& op, bool with_lists) {
  std::string line = op.type();
  for (const std::string& input : op.input()) line += " " + input;
  line += " ->";
  for (const std::string& output : op.output()) line += " " + output;
  for (const Argument& arg : op.arg()) {
    line += " " + arg.name() + "=";
    if (arg.has_f()) line += MakeString(arg.f());
    if (arg.has_i()) line += MakeString(arg.i());
    if (arg.has_s()) line += arg.s();
    if (!with_lists) continue;
    for (const int64_t value : arg.ints()) line += MakeString(value, ",");
    if (arg.floats_size() > 0)
      line += MakeString(std::vector<float>(arg.floats().begin(), arg.floats().end()));
  }
  return line;
}

}  // namespace caffe2rt::test
