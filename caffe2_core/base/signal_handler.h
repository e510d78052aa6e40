#pragma once
// Asks whether SIGINT or SIGHUP came, instead of ending by it.
//
//   SignalHandler signals(SignalHandler::Action::STOP, SignalHandler::Action::NONE);
//   while (signals.CheckForSignals() == SignalHandler::Action::NONE) { ... }
//
// The process's handlers are replaced while any SignalHandler exists, and put back with the last
// one. Thread safe.

#include <atomic>
#include <memory>

namespace caffe2rt {

class SignalHandler {
 public:
  enum class Action { NONE, STOP };

  explicit SignalHandler(Action sigint_action = Action::STOP, Action sighup_action = Action::NONE);
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  // The action of a signal that came since the last call; SIGHUP's before SIGINT's.
  Action CheckForSignals();
  // Whether one came since the last call.
  bool GotSIGINT();
  bool GotSIGHUP();

 private:
  const Action sigint_action_;
  const Action sighup_action_;
  std::atomic<unsigned> sigint_seen_;
  std::atomic<unsigned> sighup_seen_;
};

// For RunPlan: goes on until SIGINT or SIGHUP comes. Copies share what they have seen.
struct StopOnSignal {
  bool operator()(int) const { return handler_->CheckForSignals() != SignalHandler::Action::STOP; }
  std::shared_ptr<SignalHandler> handler_ =  // shared: std::function copies its target
      std::make_shared<SignalHandler>(SignalHandler::Action::STOP, SignalHandler::Action::STOP);
};

}  // namespace caffe2rt
