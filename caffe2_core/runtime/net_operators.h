#pragma once
// The operators of a net apart from the executor that orders them: what every executor needs to
// build them, start them, and report the one that failed.
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
//         ... StartOperator(operators_[running], 0); ...
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
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Stands for the position of no operator.
inline constexpr size_t kNoPosition = SIZE_MAX;

// How one thread starts the operators of a net: each once, after those on which it depends.
struct ExecutionOrder {
  std::vector<size_t> positions;  // in the order in which they start
  std::vector<int> streams = {};  // by place in the order: of the operator's device; empty: all 0

  size_t size() const { return positions.size(); }
  int stream(size_t place) const { return streams.empty() ? 0 : streams[place]; }
};
// In the order of the net, on stream 0.
ExecutionOrder InOrderOfNet(size_t operators);

// Starts an operator without waiting; an observed one runs and is waited for. THROWS what it
// throws, and when it reports a failure.
[[noreturn]] void ThrowReportedFailure();
inline void StartOperator(OperatorBase* op, int stream_id) {
  const bool success =
      __builtin_expect(op->NumObservers() == 0, 1) ? op->Enqueue(stream_id) : op->Run(stream_id);
  if (__builtin_expect(!success, 0)) ThrowReportedFailure();
}

// Owns the operators. Thread safe as far as it is const.
class NetOperators {
 public:
  // Builds every operator; the net's device option is the base of theirs. REQUIRES: `ws` outlives
  // this. THROWS naming the net, the position and the operator that cannot be built.
  NetOperators(std::shared_ptr<const NetDef> def, Workspace* ws);
  ~NetOperators();
  NetOperators(const NetOperators&) = delete;
  NetOperators& operator=(const NetOperators&) = delete;

  size_t size() const { return all_.size(); }
  OperatorBase* operator[](size_t position) const { return all_[position]; }
  // By position; valid and unchanged as long as this object.
  const std::vector<OperatorBase*>& all() const { return all_; }
  // Whether any may leave work on a device when it has been started.
  bool HasAsyncPart() const { return has_async_part_; }

  // Of the operators by the blobs that they are bound to. Valid as long as this object.
  NetDependencies FindDependencies() const;

  // "net "n", operator 3 (Relu, inputs ...)"; of the net alone for a position that is none.
  std::string FrameOf(size_t position) const;
  // Waits for what every operator has started. Returns false when a device has failed.
  bool Drain() noexcept;
  // To be called in a catch block: drains, and throws the exception on with the frame of
  // `position`, which the workspace remembers. When a device has failed `cause` is asked for a
  // frame that names the work that was under way ("": none).
  [[noreturn]] void Fail(size_t position, const std::function<std::string()>& cause);

 private:
  void Add(const OperatorDef& def, int position);

  const std::shared_ptr<const NetDef> def_;  // shared: with the net
  Workspace* const ws_;
  std::vector<std::unique_ptr<OperatorBase>> owned_;
  std::vector<OperatorBase*> all_;
  bool has_async_part_ = false;
};

}  // namespace caffe2rt
