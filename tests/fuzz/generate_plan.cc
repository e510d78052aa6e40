#include "tests/fuzz/generate_plan.h"

#include <iterator>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "tests/fuzz/hostile_files.h"

namespace caffe2rt::test {
namespace {

constexpr int kBlobs = 4;
constexpr int kElements = 8;
constexpr int kMaxDepth = 4;
constexpr int kBool = TensorProto::BOOL;

std::string AnyBlob(Random* random) { return "b" + std::to_string(random->Below(kBlobs)); }

OperatorDef Fill(const std::string& output, int64_t size, int data_type, bool is_true) {
  OperatorDef op = CreateOperatorDef("ConstantFill", "", {}, {output});
  if (size > 0) AddArgument("shape", std::vector<int64_t>{size}, &op);
  AddArgument("dtype", data_type, &op);
  if (data_type == kBool) {
    AddArgument("value", is_true, &op);
  } else {
    AddArgument("value", 0.5f, &op);
  }
  return op;
}

OperatorDef FileOperator(Random* random) {
  static const char* const kTypes[] = {"Save",     "Load",       "CreateDB", "DBExists",
                                       "Snapshot", "Checkpoint", "Print"};
  static const char* const kDatabases[] = {"minidb", "leveldb", "lmdb", "protodb"};
  const std::string type = kTypes[random->Below(std::size(kTypes))];
  OperatorDef op;
  op.set_type(type);
  const std::string path = HostilePath(random);
  if (type == "Print") {
    op.add_input(random->OneIn(2) ? path : AnyBlob(random));
    AddArgument("to_file", 1, &op);
    return op;
  }
  const bool writes = type == "Save" || type == "Snapshot" || type == "Checkpoint";
  if (writes) {
    op.add_input(AnyBlob(random));
  } else {
    op.add_output(AnyBlob(random));
  }
  AddArgument(type == "DBExists" ? "db_name" : "db", path, &op);
  AddArgument("db_type", std::string(kDatabases[random->Below(std::size(kDatabases))]), &op);
  if (random->OneIn(4)) AddArgument("absolute_path", 1, &op);
  return op;
}

ExecutionStep GenerateStep(Random* random, int num_nets, int depth) {
  ExecutionStep step;
  const auto count = [&](uint64_t most) { return 1 + static_cast<int>(random->Below(most)); };
  const auto any_net = [&] {
    return "n" + std::to_string(random->Below(static_cast<uint64_t>(num_nets)));
  };
  if (!random->OneIn(4)) step.set_name("step" + std::to_string(depth));
  if (depth < kMaxDepth && random->OneIn(2)) {
    for (int i = count(3); i-- > 0;) {
      *step.add_substep() = GenerateStep(random, num_nets, depth + 1);
    }
    step.set_concurrent_substeps(random->OneIn(2));
  } else {
    for (int i = count(3); i-- > 0;) step.add_network(any_net());
  }
  if (random->OneIn(3)) {
    step.set_num_iter(random->OneIn(16) ? INT64_MAX : count(6));
  } else if (random->OneIn(4)) {
    step.set_should_stop_blob(random->OneIn(8) ? AnyBlob(random) : "stop");
    if (random->OneIn(3)) step.set_only_once(true);
  }
  if (random->OneIn(4)) step.set_num_concurrent_instances(count(4));
  // Concurrent instances get private workspaces, so that they do not write the same blobs.
  if (random->OneIn(4) || step.num_concurrent_instances() > 1) step.set_create_workspace(true);
  if (random->OneIn(8)) {
    step.set_report_net(any_net());
    step.set_report_interval(count(2));
  }
  if (depth > 0 && random->OneIn(12)) step.set_run_every_ms(count(20));
  return step;
}

}  // namespace

NetDef GenerateNet(Random* random, int number) {
  NetDef net;
  net.set_name("n" + std::to_string(number));
  if (random->OneIn(4)) net.set_type("dag");
  for (uint64_t i = 1 + random->Below(4); i-- > 0;) {
    switch (random->Below(8)) {
      case 0:
        *net.add_op() = Fill("stop", random->OneIn(8) ? 2 : 0, kBool, random->OneIn(2));
        break;
      case 1:
        *net.add_op() = FileOperator(random);
        break;
      case 2: {
        OperatorDef save = CreateOperatorDef("Save", "", {AnyBlob(random)}, {});
        AddArgument("db", std::string("saved"), &save);
        AddArgument("db_type", std::string("minidb"), &save);
        *net.add_op() = save;
        break;
      }
      case 3:
        *net.add_op() =
            CreateOperatorDef("Concat", "", {AnyBlob(random), AnyBlob(random)}, {"joined", "dims"});
        AddArgument("axis", 0, net.mutable_op(net.op_size() - 1));
        break;
      case 4:
        *net.add_op() =
            CreateOperatorDef("Add", "", {AnyBlob(random), AnyBlob(random)}, {AnyBlob(random)});
        break;
      default:
        *net.add_op() =
            Fill(AnyBlob(random), random->OneIn(8) ? 64 : kElements, TensorProto::FLOAT, false);
    }
  }
  return net;
}

PlanDef GeneratePlan(Random* random) {
  PlanDef plan;
  plan.set_name("generated");
  const int num_nets = 2 + static_cast<int>(random->Below(3));
  for (int i = 0; i < num_nets; ++i) *plan.add_network() = GenerateNet(random, i);
  // Most of the time an init step creates every blob before the other steps start.
  if (!random->OneIn(8)) {
    NetDef* init = plan.add_network();
    init->set_name("init");
    for (int i = 0; i < kBlobs; ++i) {
      *init->add_op() = Fill("b" + std::to_string(i), kElements, TensorProto::FLOAT, false);
    }
    *init->add_op() = Fill("stop", 0, kBool, false);
    plan.add_execution_step()->add_network("init");
  }
  for (uint64_t i = 1 + random->Below(3); i-- > 0;) {
    *plan.add_execution_step() = GenerateStep(random, num_nets, 0);
  }
  return plan;
}

MetaNetDef GenerateMetaNet(Random* random) {
  MetaNetDef meta;
  int number = 0;
  for (const char* key : {"GLOBAL_INIT_NET_TYPE", "PREDICT_INIT_NET_TYPE", "PREDICT_NET_TYPE"}) {
    NetsMap* entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = GenerateNet(random, number++);
  }
  return meta;
}

}  // namespace caffe2rt::test
