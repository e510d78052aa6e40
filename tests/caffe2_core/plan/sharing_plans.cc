#include "tests/caffe2_core/plan/sharing_plans.h"

#include <google/protobuf/text_format.h>

#include "caffe2_core/base/enforce.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// All tensors in the plan have this many floats, so that most operators accept most of them. Views
// have half as many.
constexpr int kFloats = 8;
constexpr int kRecords = 200;  // of the dataset, more than a plan reads

// Creates all blobs.
std::string InitOps() {
  std::string ops;
  for (int i = 0; i < 6; ++i) {
    ops += MakeString("op { type: 'ConstantFill' output: 'f", i,
                      "' arg { name: 'shape' ints: ", kFloats, " } arg { name: 'value' f: ", i + 1,
                      " } }");
  }
  for (const char* strings : {"s0", "s1", "s2"}) {
    ops += MakeString("op { type: 'ConstantFill' output: '", strings,
                      "' arg { name: 'shape' ints: ", kFloats,
                      " } arg { name: 'dtype' i: 4 } arg { name: 'value' s: '", strings,
                      ", too long to be stored without an allocation' } }");
  }
  for (int i = 0; i < 3; ++i) {
    ops += MakeString("op { type: 'ConstantFill' output: 'v", i,
                      "' arg { name: 'shape' ints: ", kFloats / 2,
                      " } } op { type: 'CreateScope' output: 'S", i, "' }");
  }
  ops += R"(
    op { type: 'ConstantFill' output: 't' arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 2 } }
    op { type: 'ConstantFill' output: 'yes' arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 5 }
         arg { name: 'value' i: 1 } }
    op { type: 'CreateMutex' output: 'm0' } op { type: 'CreateMutex' output: 'm1' }
    op { type: 'ConstantFill' output: 'n0' arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 10 } }
    op { type: 'ConstantFill' output: 'n1' arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 10 } }
    op { type: 'CreateCounter' output: 'c0' }
    op { type: 'CreateTensorVector' output: 'list' }
    op { type: 'ConstantFill' output: 'row' arg { name: 'shape' ints: 2 } }
    op { type: 'ConstantFill' output: 'rows0' arg { name: 'shape' ints: 2 } }
    op { type: 'ConstantFill' output: 'rows1' arg { name: 'shape' ints: 2 } }
    op { type: 'CreateTreeCursor' output: 'cursor' arg { name: 'fields' strings: 'a' } } )";
  ops += MakeString("op { type: 'ConstantFill' output: 'data' arg { name: 'shape' ints: ", kRecords,
                    " ints: ", kFloats, " } arg { name: 'value' f: 3 } }");
  for (const char* queue : {"q0", "q1"}) {
    ops += MakeString("op { type: 'CreateBlobsQueue' output: '", queue,
                      "' arg { name: 'capacity' i: 1000 } }");
  }
  return ops;
}

constexpr char kRecurrent[] = R"(
    op { type: 'ConstantFill' output: 'rx' arg { name: 'shape' ints: 4 ints: 1 ints: 2 } arg { name: 'value' f: 2 } }
    op { type: 'ConstantFill' output: 'ri' arg { name: 'shape' ints: 2 } }
    op { type: 'RecurrentNetwork' input: 'rx' input: 'ri' output: 'f0' output: 'rlast' output: 'steps'
      arg { name: 'recurrent_states' strings: 'f1' }
      arg { name: 'initial_recurrent_state_ids' ints: 1 }
      arg { name: 'alias_src' strings: 'f1' strings: 'f1' }
      arg { name: 'alias_dst' strings: 'f0' strings: 'rlast' } arg { name: 'alias_offset' ints: 1 ints: -1 }
      arg { name: 'link_internal' strings: 'prev' strings: 'cur' strings: 'in' }
      arg { name: 'link_external' strings: 'f1' strings: 'f1' strings: 'rx' }
      arg { name: 'link_offset' ints: 0 ints: 1 ints: 0 }
      arg { name: 'step_net' n { name: 'step'
        op { type: 'Sum' input: 'in' input: 'prev' output: 'cur' } } } } )";

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  PlanDef Make() {
    std::string text = MakeString("name: 'sharing' network { name: 'init' ", InitOps(), " }");
    std::string first = "execution_step { network: 'init'", before = "execution_step {";
    if (OneIn(4)) {
      text += MakeString("network { name: 'recurrent' ", kRecurrent, " }");
      first += " network: 'recurrent'";
    }
    // Nets that run before: they alias any blobs.
    own_ = -1;
    for (int i = 0; i < 2; ++i) {
      text += MakeString("network { name: 'before", i, "' ", Ops(1 + Below(4), 0), " }");
      before += MakeString(" network: 'before", i, "'");
    }
    text += MakeString("network { name: 'fill' ", FillQueues(), " }");
    for (int i = 0; i < kNets; ++i) {
      own_ = i;
      text += MakeString("network { name: 'n", i, "' ", Ops(1 + Below(3), 0), " }");
    }
    text += MakeString("network { name: 'report' ", Report(), " }");
    text += first + " } execution_step { network: 'fill' num_iter: 16 } " + before + " }";
    text += MakeString("execution_step { ", Concurrent(), " }");
    text += MakeString("execution_step { num_iter: 2 substep { ", Concurrent(), " } substep { ",
                       "network: 'n", Below(kNets), "' } }");
    PlanDef plan;
    CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(text, &plan), text);
    return plan;
  }

 private:
  static constexpr int kNets = 4;

  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }

  // A blob of a kind, mostly one that no other net uses.
  std::string Any(const char* kind, int count) {
    const int number = own_ < 0 || OneIn(6) ? Below(count) : (own_ + kNets * Below(2)) % count;
    return MakeString(kind, number);
  }
  std::string Floats() { return Any("f", 6); }
  std::string Other(const std::string& f) {
    std::string g = Floats();
    while (g == f) g = MakeString("f", Below(6));
    return g;
  }

  // The records that the plan takes out of the queues, all alike. Some of their memory is shared.
  std::string FillQueues() {
    std::string ops;
    for (const char* queue : {"q0", "q1"}) {
      for (int i = 0; i < 16; ++i) {
        const std::string shared = MakeString("f", Below(6));
        if (OneIn(2)) {
          ops += MakeString("op { type: 'ConstantFill' output: '", shared,
                            "' arg { name: 'shape' ints: ", kFloats,
                            " } arg { name: 'value' f: 5 } } op { type: 'Alias' input: '", shared,
                            "' output: 'record' }");
        } else {
          ops += MakeString("op { type: 'ConstantFill' output: 'record' arg { name: 'shape' ints: ",
                            kFloats, " } arg { name: 'value' f: 5 } }");
        }
        ops += MakeString("op { type: 'EnqueueBlobs' input: '", queue,
                          "' input: 'record' output: 'record' }");
      }
    }
    return ops;
  }

  // Operators that change only what any_ blobs hold, at any time.
  std::string Report() {
    const std::string f = MakeString("f", Below(6));
    switch (Below(3)) {
      case 0:
        return Op("Alias", {f}, {"any_alias"});
      case 1:
        return Op("Copy", {f}, {"any_copy"});
      default:
        return Op("CountUp", {"c0"}, {"any_count"});
    }
  }

  std::string Concurrent() {
    std::string text = "name: 'together' concurrent_substeps: true ";
    const int substeps = 2 + Below(2);
    for (int i = 0; i < substeps; ++i) {
      text += "substep { ";
      if (OneIn(3)) text += "create_workspace: true ";
      if (OneIn(2)) text += "num_iter: 2 ";
      text += MakeString("network: 'n", OneIn(5) ? Below(kNets) : i, "' ");
      if (OneIn(4)) text += MakeString("network: 'n", i, "' ");
      text += "} ";
    }
    if (OneIn(6)) text += "substep { run_every_ms: 1 network: 'report' } ";
    if (OneIn(8)) text += "num_concurrent_instances: 2 ";
    return text;
  }

  std::string Ops(int count, int depth) {
    std::string ops;
    for (int i = 0; i < count; ++i) ops += OneOp(depth);
    return ops;
  }

  static std::string Op(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& rest = "") {
    std::string text = MakeString("op { type: '", type, "' ");
    for (const std::string& input : inputs) text += MakeString("input: '", input, "' ");
    for (const std::string& output : outputs) text += MakeString("output: '", output, "' ");
    return text + rest + " } ";
  }
  static std::string Fill(const std::string& output, int size, int value) {
    return Op(
        "ConstantFill", {}, {output},
        MakeString("arg { name: 'shape' ints: ", size, " } arg { name: 'value' f: ", value, " }"));
  }

  std::string OneOp(int depth) {
    const std::string f = Floats(), g = Other(f), v = Any("v", 3), s = MakeString("s", Below(2));
    switch (Below(depth < 2 ? 26 : 14)) {
      case 0:
        return Fill(f, OneIn(6) ? 5 * kFloats : kFloats, Below(9));
      case 1:
        return Op("Copy", {f}, {g});
      case 2:
        return Op("Relu", {f}, {f});
      case 3:
        return Op("Scale", {f}, {f}, "arg { name: 'scale' f: 2 }");
      case 4:
      case 5:
        return Op("Alias", {f}, {g});
      case 6:
      case 7:
        return Op("rnn_internal_apply_link", {"t", f}, {v, f},
                  MakeString("arg { name: 'offset' i: ", Below(kFloats / 2 + 1),
                             " } arg { name: 'window' i: ", kFloats / 2, " }"));
      case 8:
        return OneIn(2) ? Fill(v, kFloats / 2, Below(9)) : Op("Scale", {v}, {v});
      case 9:
        return Op("Alias", {s}, {"s2"});
      case 10:
        return Op("ConstantFill", {}, {s},
                  MakeString("arg { name: 'shape' ints: ", kFloats,
                             " } arg { name: 'dtype' i: 4 } arg { name: 'value' s: 'also a string ",
                             "that needs an allocation ", Below(9), "' }"));
      case 11:
        return Op("Load", {}, {f},
                  "arg { name: 'db' s: 'file.minidb' } arg { name: 'db_type' s: 'minidb' } arg { "
                  "name: 'source_blob_names' strings: 'saved' }");
      case 12:
        return OneIn(4) ? Op("Free", {f}, {f}) : Op("Copy", {v}, {f});
      case 13:
        return Guarded();
      case 14:
      case 15:
      case 16:
        return Queue(f);
      case 17:
        return Nested(depth);
      case 18:
        return Op("CollectTensor", {"list", f}, {"list"}, "arg { name: 'num_to_collect' i: 1000 }");
      case 19:
        return Op("ReadNextBatch", {"cursor", "data"}, {f}) + Op("Scale", {f}, {f});
      default:
        return Do(depth);
    }
  }

  std::string Guarded() {
    const std::string mutex = OneIn(4) ? "m1" : "m0";
    switch (Below(8)) {
      case 0:
        return Op("CountUp", {"c0"}, {"any_" + std::to_string(own_)});
      case 1:
        return OneIn(4) ? Op("Free", {mutex}, {mutex}) + Op("CreateMutex", {}, {mutex})
                        : Op("CreateMutex", {}, {mutex});
      case 2:
      case 3:
        return Op("AtomicIter", {mutex, "n0"}, {"n0"});
      default:
        return Op("AtomicAppend", {mutex, "rows0", "row"}, {"rows0"});
    }
  }

  std::string Queue(const std::string& f) {
    const std::string q = MakeString("q", Below(2)), status = MakeString("any_s", own_);
    switch (Below(7)) {
      case 0:
        return Op("EnqueueBlobs", {q, f}, {f}) + Fill(f, kFloats, 5);
      case 1:
        return Op("Alias", {f}, {"y" + std::to_string(own_)}) +
               Op("EnqueueBlobs", {q, "y" + std::to_string(own_)}, {"y" + std::to_string(own_)}) +
               Op("Free", {"y" + std::to_string(own_)}, {"y" + std::to_string(own_)});
      case 2:
        return Op("SafeEnqueueBlobs", {q, f}, {f, status}) + Fill(f, kFloats, 6);
      case 3:
        return Op("DequeueBlobs", {q}, {f}, "arg { name: 'timeout_secs' f: 5 }");
      case 4:
        return Op("WeightedSampleDequeueBlobs", {"q0", "q1"}, {f, status});
      case 5:
        return OneIn(20) ? Op("EnqueueBlobs", {q, "S0"}, {"S0"})
                         : Op("DequeueBlobs", {q}, {f}, "arg { name: 'timeout_secs' f: 5 }");
      default:
        return Op("SafeDequeueBlobs", {q}, {f, status});
    }
  }

  std::string Nested(int depth) {
    const std::string net = MakeString("n { name: 'nested' ", Ops(1 + Below(2), depth + 1));
    if (OneIn(2)) {
      return Op("If", {"yes"}, {}, MakeString("arg { name: 'then_net' ", net, " } }"));
    }
    const std::string more = MakeString("more", own_);
    const auto set = [&more](int value) {
      return Op("ConstantFill", {}, {more},
                MakeString("arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 5 } arg { name: "
                           "'value' i: ",
                           value, " }"));
    };
    return set(1) +
           Op("While", {more}, {}, MakeString("arg { name: 'loop_net' ", net, set(0), " } }"));
  }

  // Binds one or two blobs. The net may use its own blobs "held0" and "held1" too.
  std::string Do(int depth) {
    const std::string scope = depth > 0 && OneIn(2) ? "inner_scope" : Any("S", 3);
    const std::string f = Floats(), g = Other(f);
    const bool binds_two = g != f;
    std::string ops;
    if (scope == "inner_scope") ops += Op("CreateScope", {}, {scope});
    std::string inner_ops;
    const std::string held = MakeString("held", Below(2)), bound = "in_" + f, by = "in_" + g;
    const bool reuses = scope != "inner_scope" && OneIn(2);
    if (!reuses) inner_ops += Fill("held0", kFloats, 1) + Fill("held1", kFloats, 2);
    switch (Below(5)) {
      case 0:
        inner_ops += Op("Alias", {bound}, {held});
        break;
      case 1:
        inner_ops += Op("Copy", {bound}, {held});
        break;
      case 2:
        inner_ops += Op("Scale", {bound}, {bound});
        break;
      case 3:
        inner_ops += Fill(held, kFloats, Below(5)) + Op("Alias", {held}, {bound});
        break;
      default:
        inner_ops += Op("Relu", {held}, {held});  // from an earlier run, if there is one
    }
    if (OneIn(2)) inner_ops += Op("Scale", {held}, {held});
    if (binds_two) inner_ops += Op(OneIn(2) ? "Alias" : "Copy", {OneIn(2) ? held : bound}, {by});
    if (OneIn(3)) inner_ops += Fill(bound, kFloats, 2);
    std::vector<std::string> inputs = {f}, outputs;
    std::string names = MakeString("strings: '", bound, "' "), indices = "ints: 0 ";
    if (OneIn(3)) outputs.push_back(f);
    if (binds_two) {
      names += MakeString("strings: '", by, "' ");
      if (OneIn(2)) {
        inputs.push_back(g);
        indices += "ints: 1 ";
      } else {
        indices += MakeString("ints: ", 1 + outputs.size(), " ");
        outputs.push_back(g);
      }
    }
    inputs.push_back(scope);
    outputs.push_back(scope);
    return ops + Op("Do", inputs, outputs,
                    MakeString("arg { name: 'net' n { name: 'inner' ", inner_ops,
                               " } } arg { name: 'inner_blobs' ", names,
                               "} arg { name: 'outer_blobs_idx' ", indices, "} ",
                               reuses     ? "arg { name: 'reuse_workspace' i: 1 }"
                               : OneIn(2) ? "arg { name: 'copy_external_blobs' i: 1 }"
                                          : ""));
  }

  std::mt19937 random_;
  int own_ = -1;  // the net, or -1 for one that runs before
};

}  // namespace

PlanDef MakeSharingPlan(unsigned seed) { return Generator(seed).Make(); }

void InitSharingPlans(const std::string& folder) {
  Workspace ws(folder);
  Feed<float>(&ws, "saved", {kFloats}, {1, 2, 3, 4, 5, 6, 7, 8});
  RunOp(&ws, R"(type: "Save" input: "saved" arg { name: "db" s: "file.minidb" }
    arg { name: "db_type" s: "minidb" })");
}

void MakeSequential(ExecutionStep* step) {
  for (ExecutionStep& substep : *step->mutable_substep()) MakeSequential(&substep);
  const std::vector<ExecutionStep> substeps(step->substep().begin(), step->substep().end());
  for (int copy = 1; copy < step->num_concurrent_instances(); ++copy) {
    for (const ExecutionStep& substep : substeps) {
      if (!substep.has_run_every_ms()) *step->add_substep() = substep;
    }
  }
  step->clear_num_concurrent_instances();
  step->clear_concurrent_substeps();
}

}  // namespace caffe2rt::test
