#pragma once
// SignalHandler: lets a program check for SIGINT and SIGHUP instead of being terminated by them.
//
//   SignalHandler signals(SignalHandler::Action::STOP, SignalHandler::Action::NONE);
//   while (signals.CheckForSignals() == SignalHandler::Action::NONE) { ... }
//
// The process's handlers of both signals are replaced while any SignalHandler exists, and restored
// when the last one is destroyed. Thread safe.

#include <atomic>
#include <memory>

#pragma GCC visibility push(default)
namespace caffe2rt {

class SignalHandler {
 public:
  enum class Action { NONE, STOP };

  explicit SignalHandler(Action sigint_action = Action::STOP, Action sighup_action = Action::NONE);
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  // The action of a signal that arrived since the last call, or NONE. If both arrived, this call
  // returns the action of SIGHUP, and the next one that of SIGINT.
  Action CheckForSignals();
  // Whether the signal arrived since the last call.
  bool GotSIGINT();
  bool GotSIGHUP();

 private:
  const Action sigint_action_;
  const Action sighup_action_;
  std::atomic<unsigned> sigint_seen_;
  std::atomic<unsigned> sighup_seen_;
};

// The number of SIGINT and SIGHUP that arrived while any SignalHandler existed. A loop in an operator
// compares two calls to find out whether a signal arrived in between. Wait-free.
unsigned SignalsSeen();

// A callback for RunPlan that continues until SIGINT or SIGHUP arrives. A signal that one copy has
// reported is not reported again by another.
struct StopOnSignal {
  bool operator()(int) const { return handler_->CheckForSignals() != SignalHandler::Action::STOP; }
  // Shared, because std::function copies the object.
  std::shared_ptr<SignalHandler> handler_ =
      std::make_shared<SignalHandler>(SignalHandler::Action::STOP, SignalHandler::Action::STOP);
};

}  // namespace caffe2rt
#pragma GCC visibility pop
