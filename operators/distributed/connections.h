#pragma once
// Connections between processes that begin with a greeting, by which ranks are told from strangers. For
// the rendezvous of the ranks, and for engines. Thread-compatible.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// A file descriptor that is closed with the object.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Reset();
  // The caller closes it.
  [[nodiscard]] int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

// This start of this machine and a namespace of this process, "net" or "pid": processes with the same ones reach
// each other's local sockets, or see each other's numbers. "" if the system does not say.
std::string PlaceOfThisProcess(const std::string& space);

// Sends all bytes. Returns false if the connection is closed, or if the other side has not read what was
// sent before within a second.
bool SendAll(int fd, std::string_view bytes);

// Called every few milliseconds by a function that waits. It throws to end the wait.
using WaitCheck = std::function<void()>;

// A socket that listens on an IPv4 address, at a port that the system chooses. THROWS EnforceNotMet.
UniqueFd ListenOn(const std::string& address);
int PortOf(int listener);
// One that only processes of this machine reach, faster than by its address. The system chooses the name.
UniqueFd ListenLocally();
std::string LocalNameOf(int listener);

// Connect to such sockets. Return one that is not open if nobody listens there. THROW what `check` does.
UniqueFd ConnectTo(const std::string& address, int port, const WaitCheck& check);
UniqueFd ConnectLocally(const std::string& name, const WaitCheck& check);

// Returns false if the connection closes before. THROWS what `check` does.
bool ReceiveAll(int fd, void* to, size_t bytes, const WaitCheck& check);

// Accepts connections and reads their greetings, any number at a time: who connects and says nothing
// keeps nobody waiting, and only 64 of those are kept.
class Reception {
 public:
  Reception(std::vector<UniqueFd> listeners, size_t greeting_bytes);

  // Waits a few milliseconds for connections and greetings. Calls `welcome` for each connection whose
  // greeting is complete, and closes it unless `welcome` moves it away.
  void Turn(const std::function<void(UniqueFd connection, std::string_view greeting)>& welcome);

 private:
  struct Stranger {
    UniqueFd fd;
    std::string greeting = "";
  };
  void AcceptFrom(int listener);
  // Returns whether the greeting is complete, or the connection closed.
  bool Read(Stranger* stranger) const;

  const std::vector<UniqueFd> listeners_;
  const size_t greeting_bytes_;
  std::vector<Stranger> strangers_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
