#include "operators/distributed/gloo/connected_pair.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

namespace tcp = ::gloo::transport::tcp;

class ConnectedPair final : public tcp::Pair {
 public:
  ConnectedPair(tcp::Context* context, tcp::Device* device, int peer)
      : Pair(context, device, peer, context->getTimeout()) {}

  // Whether the library was built with the classes of the headers (FindGloo.cmake supplies one of them).
  bool HasKnownLayout() const {
    return &address() == &self_ && state_ == LISTENING && fd_ >= 0 && ex_ == nullptr;
  }

  // While the loop thread is at rest, so that nobody else uses the pair. Returns an error of the system, or 0.
  int Adopt(const UniqueFd& connection) {
    // Closes the listening socket, which so leaves the descriptors of the loop, in one step.
    if (dup3(connection.get(), fd_, O_CLOEXEC) < 0) return errno;
    try {
      device_->registerDescriptor(fd_, EPOLLIN, this);
    } catch (const std::exception&) {
      const int error = errno;
      ::close(fd_);
      fd_ = -1;
      return error;
    }
    changeState(CONNECTED);
    return 0;
  }

  void connect(const std::vector<char>& /*bytes*/) override {
    CAFFE_THROW("the pair of rank ", rank_, " is connected already");
  }
};

}  // namespace

std::unique_ptr<::gloo::transport::Pair> MakeConnectedPair(tcp::Context* context,
                                                           tcp::Device* device, LoopGate* gate,
                                                           int peer, UniqueFd connection) {
  std::unique_ptr<ConnectedPair> pair;
  bool is_known = false;
  int error = 0;
  {
    const LoopGate::Hold at_rest(gate, LoopGate::Mode::kAtRest);
    pair = std::make_unique<ConnectedPair>(context, device, peer);
    is_known = pair->HasKnownLayout();
    if (is_known) error = pair->Adopt(connection);
  }
  CAFFE_ENFORCE(is_known, "this version of Gloo has other pairs than its headers declare");
  CAFFE_ENFORCE(error == 0, "Gloo cannot use the connection with rank ", peer, ": ",
                std::strerror(error));
  return pair;
}

}  // namespace caffe2rt
