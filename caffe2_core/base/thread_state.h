#pragma once
// ThreadState: what the scopes of a thread have set, such as the policy for files. It belongs to the
// thread's work: where an executor hands a part of the work to another thread, the state goes with
// it (caffe2_core/runtime/carried_state.h). A class whose objects have an effect on their thread
// keeps its pointer or number here instead of in a thread_local variable of its own.

#pragma GCC visibility push(default)
namespace caffe2rt {

class ConvTuning;
class FileAccess;
class GivenValues;
class RunningNet;
class ShapeOnlyScope;
class SharedOperatorDef;
class StopScope;
class Turn;

// Each pointer is that of the innermost scope, or null.
struct ThreadState {
  const RunningNet* running_net = nullptr;                 // runtime/running_net.h
  const StopScope* stop_scope = nullptr;                   // runtime/waiting.h
  Turn* turn = nullptr;                                    // runtime/waiting.h
  const FileAccess* file_access = nullptr;                 // io/file_access.h
  const SharedOperatorDef* shared_operator_def = nullptr;  // runtime/shared_operator_def.h
  GivenValues* given_values = nullptr;                     // model/given_values.h
  ShapeOnlyScope* shape_only = nullptr;                    // tensor/shape_only.h
  int nested_records = 0;                                  // io/blob_serialization.cc
  int nested_step_nets = 0;                                // operators/recurrent/step_net.cc
  int threads = 0;                                         // base/work_scope.h
  const ConvTuning* conv_tuning = nullptr;                 // base/work_scope.h
  bool any_machine = false;                                // base/work_scope.h
};

// Of the calling thread. A handler of signals may read it.
extern constinit thread_local ThreadState t_thread_state [[gnu::tls_model("initial-exec")]];

}  // namespace caffe2rt
#pragma GCC visibility pop
