#pragma once
// Observers: callbacks before and after each run of a net or an operator. If none is attached, they
// cost one load per run.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

template <class T>
class ObserverBase {
 public:
  explicit ObserverBase(T* subject) : subject_(subject) {}
  virtual ~ObserverBase() = default;
  virtual void Start() {}
  virtual void Stop() {}
  virtual std::string debugInfo() { return "Not implemented."; }
  // Returns an observer for an operator of the step net in the workspace of time step `rnn_order`,
  // or null. RecurrentNetwork asks its observers when they were attached or detached.
  virtual std::unique_ptr<ObserverBase<T>> rnnCopy(T* /*subject*/, int /*rnn_order*/) const {
    return nullptr;
  }
  T* subject() const { return subject_; }

 protected:
  T* subject_;
};

// A class that can be observed. Not thread safe: attach and detach observers only while the object
// does not run.
template <class T>
class Observable {
 public:
  using Observer = ObserverBase<T>;
  Observable() = default;
  virtual ~Observable() = default;
  Observable(const Observable&) = delete;
  Observable& operator=(const Observable&) = delete;

  // Takes ownership of the observer. Pass the result to DetachObserver. THROWS if it is null.
  const Observer* AttachObserver(std::unique_ptr<Observer> observer) {
    CAFFE_ENFORCE(observer != nullptr, "cannot attach a null observer");
    observers_.push_back(std::move(observer));
    return observers_.back().get();
  }
  // Returns ownership of the observer to the caller, or null if it is not attached.
  std::unique_ptr<Observer> DetachObserver(const Observer* observer) {
    for (auto it = observers_.begin(); it != observers_.end(); ++it) {
      if (it->get() != observer) continue;
      std::unique_ptr<Observer> found = std::move(*it);
      observers_.erase(it);
      return found;
    }
    return nullptr;
  }
  size_t NumObservers() const { return observers_.size(); }
  void StartAllObservers() {
    for (auto& observer : observers_) observer->Start();
  }
  void StopAllObservers() {
    for (auto& observer : observers_) observer->Stop();
  }

 protected:
  std::vector<std::unique_ptr<Observer>> observers_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
