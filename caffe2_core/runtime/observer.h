#pragma once
// Observers: callbacks around a net's or an operator's run. When none is attached they cost one
// load. Section 20.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

template <class T>
class ObserverBase {
 public:
  explicit ObserverBase(T* subject) : subject_(subject) {}
  virtual ~ObserverBase() = default;
  virtual void Start() {}
  virtual void Stop() {}
  virtual std::string debugInfo() { return "Not implemented."; }
  T* subject() const { return subject_; }

 protected:
  T* subject_;
};

// Attach and detach while the subject does not run.
template <class T>
class Observable {
 public:
  using Observer = ObserverBase<T>;
  Observable() = default;
  virtual ~Observable() = default;
  Observable(const Observable&) = delete;
  Observable& operator=(const Observable&) = delete;

  // Takes ownership; returns the observer for DetachObserver. THROWS for null.
  const Observer* AttachObserver(std::unique_ptr<Observer> observer) {
    CAFFE_ENFORCE(observer != nullptr, "cannot attach a null observer");
    observers_.push_back(std::move(observer));
    return observers_.back().get();
  }
  // Gives ownership back; null when it is not attached.
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
