#pragma once
// Runs one graph pass on a net in text form, with constants from a workspace.
//
//   PassRun run;
//   Feed<float>(&run.ws, "w", {1}, {2});       // a constant
//   run.kept = {"y"};
//   run(RemoveCopies, R"(op { type: "Copy" input: "x" output: "t" } ...)");
//   // one line for each operator: "Relu(x) -> y"

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct PassRun {
  Workspace ws;
  std::set<std::string> kept = {"y"};
  Precision precision = Precision::kFloat32;
  bool bf16_convs = true;
  NetDef net;  // the result of the last call

  std::vector<std::string> operator()(NetDef (*pass)(NetDef, PassContext&),
                                      const std::string& text);
};

std::vector<std::string> LinesOf(const NetDef& net);

// `text` with the first occurrence of `what` replaced. Fails the test if there is none.
std::string Replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace caffe2rt::test
