#include "operators/distributed/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

constexpr int kSendPatienceMs = 1000;
constexpr int kPauseMs = 10;
constexpr size_t kMostStrangers = 64;
constexpr int kMostAccepted =
    32;  // in a turn, so that a flood at one listener does not keep others waiting

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool WaitFor(std::vector<pollfd>* waited) {
  const WaitingThread waiting;
  return poll(waited->data(), waited->size(), kPauseMs) > 0;
}

void WaitFor(int fd, short events, const WaitCheck& check) {
  std::vector<pollfd> waited{{fd, events, 0}};
  while (!WaitFor(&waited)) check();
}

UniqueFd NewSocket(int family) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  CAFFE_ENFORCE(fd.is_open(), "cannot create a socket: ", std::strerror(errno));
  return fd;
}

void SetTcpOptions(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

// Waits until a connection that is under way is there. Returns whether it is.
bool IsConnected(int fd, const WaitCheck& check) {
  WaitFor(fd, POLLOUT, check);
  int error = 0;
  socklen_t length = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = other.Release();
  }
  return *this;
}

void UniqueFd::Reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string PlaceOfThisProcess(const std::string& space) {
  char boot[64] = {}, name[64] = {};
  const UniqueFd file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t bytes = file.is_open() ? read(file.get(), boot, sizeof(boot) - 1) : 0;
  const std::string link = "/proc/self/ns/" + space;
  if (bytes <= 1 || readlink(link.c_str(), name, sizeof(name) - 1) <= 0) return "";
  return std::string(boot, static_cast<size_t>(bytes) - 1) + "/" + name;
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    pollfd writable{fd, POLLOUT, 0};
    if (poll(&writable, 1, kSendPatienceMs) <= 0) return false;
  }
  return true;
}

UniqueFd ListenOn(const std::string& address) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  CAFFE_ENFORCE(inet_pton(AF_INET, address.c_str(), &name.sin_addr) == 1, "address \"", address,
                "\" is not an IPv4 address");
  UniqueFd fd = NewSocket(AF_INET);
  const bool ready = bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 &&
                     listen(fd.get(), SOMAXCONN) == 0;
  CAFFE_ENFORCE(ready, "cannot listen on ", address, ": ", std::strerror(errno));
  return fd;
}

int PortOf(int listener) {
  sockaddr_in name{};
  socklen_t length = sizeof(name);
  CAFFE_ENFORCE(getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length) == 0,
                "a listening socket has no address: ", std::strerror(errno));
  return ntohs(name.sin_port);
}

UniqueFd ListenLocally() {
  UniqueFd fd = NewSocket(AF_UNIX);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // Without a path the system chooses a name, in the abstract namespace: there is no file.
  constexpr socklen_t kNoPath = sizeof(sa_family_t);
  const bool ready = bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), kNoPath) == 0 &&
                     listen(fd.get(), SOMAXCONN) == 0;
  CAFFE_ENFORCE(ready, "cannot listen on a local socket: ", std::strerror(errno));
  return fd;
}

std::string LocalNameOf(int listener) {
  sockaddr_un name{};
  socklen_t length = sizeof(name);
  CAFFE_ENFORCE(getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length) == 0,
                "a listening socket has no name: ", std::strerror(errno));
  return {name.sun_path, length - offsetof(sockaddr_un, sun_path)};
}

UniqueFd ConnectTo(const std::string& address, int port, const WaitCheck& check) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1) return {};
  UniqueFd fd = NewSocket(AF_INET);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 &&
      (errno != EINPROGRESS || !IsConnected(fd.get(), check))) {
    return {};
  }
  SetTcpOptions(fd.get());
  return fd;
}

UniqueFd ConnectLocally(const std::string& name, const WaitCheck& check) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() > sizeof(address.sun_path)) return {};
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  UniqueFd fd = NewSocket(AF_UNIX);
  while (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    if (!WouldBlock()) return {};
    // Others connect at this moment.
    check();
    const WaitingThread waiting;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
  return fd;
}

bool ReceiveAll(int fd, void* to, size_t bytes, const WaitCheck& check) {
  size_t got = 0;
  while (got < bytes) {
    WaitFor(fd, POLLIN, check);
    const ssize_t n = recv(fd, static_cast<char*>(to) + got, bytes - got, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && !WouldBlock())) return false;
    if (n > 0) got += static_cast<size_t>(n);
  }
  return true;
}

Reception::Reception(std::vector<UniqueFd> listeners, size_t greeting_bytes)
    : listeners_(std::move(listeners)), greeting_bytes_(greeting_bytes) {}

void Reception::Turn(const std::function<void(UniqueFd, std::string_view)>& welcome) {
  std::vector<pollfd> waited;
  for (const UniqueFd& listener : listeners_) waited.push_back({listener.get(), POLLIN, 0});
  for (const Stranger& stranger : strangers_) waited.push_back({stranger.fd.get(), POLLIN, 0});
  if (!WaitFor(&waited)) return;
  for (const UniqueFd& listener : listeners_) AcceptFrom(listener.get());
  std::vector<Stranger> waiting, complete;
  for (Stranger& stranger : strangers_)
    (Read(&stranger) ? complete : waiting).push_back(std::move(stranger));
  // The newest stay: they may be ranks, of which only strangers can be as many and silent.
  if (waiting.size() > kMostStrangers)
    waiting.erase(waiting.begin(), waiting.end() - static_cast<std::ptrdiff_t>(kMostStrangers));
  strangers_ = std::move(waiting);
  for (Stranger& stranger : complete) {
    if (stranger.greeting.size() == greeting_bytes_)
      welcome(std::move(stranger.fd), stranger.greeting);
  }
}

void Reception::AcceptFrom(int listener) {
  for (int i = 0; i < kMostAccepted; ++i) {
    UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    SetTcpOptions(fd.get());  // no effect on a local one
    strangers_.push_back({std::move(fd)});
  }
}

bool Reception::Read(Stranger* stranger) const {
  std::string& greeting = stranger->greeting;
  char part[256];
  const size_t missing = greeting_bytes_ - greeting.size();
  const ssize_t n = recv(stranger->fd.get(), part, std::min(missing, sizeof(part)), MSG_DONTWAIT);
  if (n < 0) return !WouldBlock();
  greeting.append(part, static_cast<size_t>(n));
  return n == 0 || greeting.size() == greeting_bytes_;
}

}  // namespace caffe2rt
