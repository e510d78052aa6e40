#include "operators/distributed/gloo/loop_gate.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

constexpr std::chrono::milliseconds kLongestClosed{1};

}  // namespace

LoopGate::LoopGate(std::shared_ptr<::gloo::transport::tcp::Device> device)
    : device_(std::move(device)), descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CAFFE_ENFORCE(descriptor_.is_open(), "eventfd failed: ", std::strerror(errno));
  device_->registerDescriptor(descriptor_.get(), EPOLLIN, this);
}

LoopGate::~LoopGate() { device_->unregisterDescriptor(descriptor_.get(), this); }

void LoopGate::Close(Mode mode) {
  {
    const MutexLock lock(mutex_);
    mode_ = mode;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(descriptor_.get(), &one, sizeof(one));
  if (mode == Mode::kClosed) return;
  const MutexLock lock(mutex_);
  while (!is_waiting_) changed_.Wait(mutex_);
}

void LoopGate::Release() {
  uint64_t closed;
  [[maybe_unused]] const ssize_t n = read(descriptor_.get(), &closed, sizeof(closed));
  const MutexLock lock(mutex_);
  mode_.reset();
  changed_.NotifyAll();
}

void LoopGate::handleEvents(int /*events*/) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestClosed;
  const MutexLock lock(mutex_);
  is_waiting_ = true;
  changed_.NotifyAll();
  while (mode_.has_value()) {
    if (mode_ == Mode::kAtRest) {
      changed_.Wait(mutex_);
    } else if (!changed_.WaitUntil(mutex_, deadline) && mode_ == Mode::kClosed) {
      break;
    }
  }
  is_waiting_ = false;
}

}  // namespace caffe2rt
