#pragma once
// NetOperators: owns the operators of a net. It contains what every executor needs: building and
// starting operators, and reporting the one that failed. The executor only decides their order.
//
//   class MyNet final : public NetBase {
//    public:
//     MyNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
//         : NetBase(def, ws), operators_(def, ws) {}
//     std::vector<OperatorBase*> GetOperators() const override { return operators_.all(); }
//
//    protected:
//     bool DoRun() override {
//       size_t running = kNoPosition;
//       try {
//         for (size_t i = 0; i < operators_.size(); ++i) {
//           running = i;
//           StartOperator(operators_[i], 0);
//         }
//         running = kNoPosition;
//         for (OperatorBase* op : operators_.all()) op->FinishDevice();
//       } catch (...) {
//         operators_.Fail(running, [] { return std::string(); });
//       }
//       return true;
//     }
//
//    private:
//     NetOperators operators_;
//   };

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/debug_options.h"
#include "caffe2_core/runtime/fp_exceptions.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/output_memory.h"

namespace caffe2rt {

// A position that denotes no operator.
inline constexpr size_t kNoPosition = SIZE_MAX;

// The order in which one thread starts the operators of a net. Each operator starts once, after the
// operators that it depends on. An index into the order is called a place, an index into the net a
// position.
struct ExecutionOrder {
  std::vector<size_t> positions;  // by place
  std::vector<int> streams = {};  // by place, on the operator's device; empty if all are 0

  size_t size() const { return positions.size(); }
  int stream(size_t place) const { return streams.empty() ? 0 : streams[place]; }
};
// The order of the net itself, on stream 0.
ExecutionOrder InOrderOfNet(size_t operators);

// Starts an operator without waiting. If it has observers, runs it and waits. THROWS what the
// operator throws, and THROWS if it reports a failure.
[[noreturn]] void ThrowReportedFailure();
inline void StartOperator(OperatorBase* op, int stream_id) {
  SeparateOutputs(op);
  if (__builtin_expect(GlobalDebugOptions().throw_if_fp_exceptions, 0)) {
    if (!RunCheckingFpExceptions(op, stream_id)) ThrowReportedFailure();
    return;
  }
  const bool success =
      __builtin_expect(op->NumObservers() == 0, 1) ? op->Enqueue(stream_id) : op->Run(stream_id);
  if (__builtin_expect(!success, 0)) ThrowReportedFailure();
}

// Const member functions are thread safe.
class NetOperators {
 public:
  // Builds every operator. The device option of an operator is that of the net, overridden by the
  // fields that the operator sets. THROWS if an operator cannot be built; the message names the
  // net, the position and the operator. REQUIRES: `ws` outlives this object.
  NetOperators(std::shared_ptr<const NetDef> def, Workspace* ws);
  ~NetOperators();
  NetOperators(const NetOperators&) = delete;
  NetOperators& operator=(const NetOperators&) = delete;

  size_t size() const { return all_.size(); }
  OperatorBase* operator[](size_t position) const { return all_[position]; }
  // All operators, by position. Valid and unchanged during the life of this object.
  const std::vector<OperatorBase*>& all() const { return all_; }
  // Whether any operator has an asynchronous part (OperatorBase::HasAsyncPart).
  bool HasAsyncPart() const { return has_async_part_; }

  // The dependencies between the operators, computed from the blobs that they are bound to: two
  // names of the same blob count as one. Valid during the life of this object.
  NetDependencies FindDependencies() const;

  // An error frame such as `net "n", operator 3 (Relu, inputs ...)`. Positions are those in the
  // user's net, if graph passes have changed it: an operator that replaces several is named by them,
  // as in `net "n", operators 3 Conv "c1", 4 Relu (run as ConvFusion, inputs ...)`. If `position` is
  // out of range, the frame names only the net.
  std::string FrameOf(size_t position) const;
  // Waits for the work of all operators. Returns false if it failed on a device.
  bool Drain() noexcept;
  // Call it in a catch block. Drains, then rethrows the exception with the frame of `position`,
  // and stores the operator's position in the user's net in the workspace's
  // last_failed_op_net_position. If a device has failed,
  // `cause` is called first; it returns a frame that names the unfinished work, or "".
  [[noreturn]] void Fail(size_t position, const std::function<std::string()>& cause);

 private:
  void Add(const OperatorDef& def, size_t position);

  const std::shared_ptr<const NetDef> def_;  // shared with the net
  Workspace* const ws_;
  std::vector<std::unique_ptr<OperatorBase>> owned_;
  std::vector<OperatorBase*> all_;
  bool has_async_part_ = false;
};

}  // namespace caffe2rt
