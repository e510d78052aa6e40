#include "caffe2_core/training/plan_parts.h"

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

OperatorDef FilledNumberOp(const std::string& blob, float value) {
  return CreateOperatorDef(
      "ConstantFill", "", std::vector<std::string>{}, {blob},
      {MakeArgument("shape", std::vector<int>{1}), MakeArgument("value", value)});
}

OperatorDef OpenDatabaseOp(const DatabasePlace& place, const std::string& reader) {
  return CreateOperatorDef("CreateDB", "", std::vector<std::string>{}, {reader},
                           {MakeArgument("db_type", place.type), MakeArgument("db", place.path)});
}

OperatorDef LoadOp(const std::string& path, const std::vector<std::string>& blobs) {
  return CreateOperatorDef(
      "Load", "", std::vector<std::string>{}, blobs,
      {MakeArgument("db", path), MakeArgument("db_type", std::string("minidb")),
       MakeArgument("absolute_path", 1), MakeArgument("keep_device", 1)});
}

void AppendOps(const std::vector<OperatorDef>& ops, NetDef* net) {
  for (const OperatorDef& op : ops) *net->add_op() = op;
}

NetDef JoinedNet(const std::vector<OperatorDef>& first, const NetDef& net) {
  NetDef joined = net;
  joined.clear_op();
  AppendOps(first, &joined);
  for (const OperatorDef& op : net.op()) *joined.add_op() = op;
  return joined;
}

NetDef NamedNet(const std::string& name) {
  NetDef net;
  net.set_name(name);
  return net;
}

ExecutionStep* AddStep(const std::string& name, const std::string& net, int64_t iterations,
                       ExecutionStep* outer) {
  ExecutionStep* const step = outer->add_substep();
  step->set_name(name);
  if (!net.empty()) step->add_network(net);
  if (iterations != 1) step->set_num_iter(iterations);
  return step;
}

}  // namespace caffe2rt
