#include "tests/caffe2_core/graph/passes/pass_run.h"

#include "caffe2_core/model/workspace_constants.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

std::vector<std::string> PassRun::operator()(NetDef (*pass)(NetDef, PassContext&),
                                             const std::string& text) {
  net = ParseNet(text);
  WorkspaceConstants constants(net, {}, kept, &ws);
  PassContext context{.constants = constants};
  context.kept = kept;
  context.precision = precision;
  context.bf16_convs = bf16_convs;
  context.has_operator = [](const std::string&, DeviceType) { return true; };
  net = pass(std::move(net), context);
  constants.Store(net);
  return LinesOf(net);
}

std::vector<std::string> LinesOf(const NetDef& net) {
  std::vector<std::string> lines;
  for (const OperatorDef& op : net.op()) {
    std::string line = op.type() + "(";
    for (const std::string& input : op.input()) line += (line.back() == '(' ? "" : " ") + input;
    line += ") ->";
    for (const std::string& output : op.output()) line += " " + output;
    lines.push_back(line);
  }
  return lines;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

}  // namespace caffe2rt::test
