#include "operators/distributed/gloo/data_connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "operators/distributed/control_frame.h"

namespace caffe2rt {
namespace {

// Each is sent as its bytes: ranks have the same byte order (control_frame.h).
struct Secret {
  uint64_t words[2];
  bool operator==(const Secret&) const = default;
};

struct Offer {
  static constexpr size_t kTextBytes = 128;
  Secret secret;  // for the receiver of the offer alone
  int32_t port;
  int32_t local_name_bytes;
  char address[kTextBytes];  // these end with a zero
  char place[kTextBytes];    // the same for processes that reach each other's local sockets
  char local_name[kTextBytes];
};

struct Greeting {
  static constexpr char kMagic[9] = "c2rtgl01";
  char magic[8];
  Secret secret;  // from the receiver's offer
  int32_t rank;   // of the sender
  int32_t padding;
};

void CopyText(const std::string& text, char* to) {
  CAFFE_ENFORCE(text.size() < Offer::kTextBytes, "\"", text, "\" is longer than ",
                Offer::kTextBytes - 1, " bytes");
  std::memcpy(to, text.data(), text.size());
}

// Lets a local socket hold a segment of Gloo's ring, so that the sender need not wait for the reader. The
// kernel adapts the buffers of TCP itself.
void EnlargeBuffer(int fd) {
  constexpr int kBytes = 2 << 20;
  int family = 0;
  socklen_t length = sizeof(family);
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 && family == AF_UNIX)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof(kBytes));
}

class DataConnections {
 public:
  DataConnections(const TransportOptions& options, const WaitCheck& check)
      : options_(options), check_(check), connections_(static_cast<size_t>(options.size)) {}

  std::vector<UniqueFd> Run(TransportBootstrap& bootstrap) {
    std::vector<UniqueFd> listeners;
    listeners.push_back(ListenOn(options_.address));
    listeners.push_back(ListenLocally());
    MakeOffers(PortOf(listeners[0].get()), LocalNameOf(listeners[1].get()));
    ReadOffers(bootstrap);
    for (int rank = 0; rank < options_.rank; ++rank) ConnectWith(rank);
    Reception reception(std::move(listeners), sizeof(Greeting));
    while (IsHigherRankMissing()) {
      check_();
      reception.Turn(
          [this](UniqueFd fd, std::string_view greeting) { Welcome(std::move(fd), greeting); });
    }
    return std::move(connections_);
  }

 private:
  static size_t At(int rank) { return static_cast<size_t>(rank); }

  void MakeOffers(int port, const std::string& local_name) {
    std::random_device random;
    const auto word = [&random] { return (static_cast<uint64_t>(random()) << 32) | random(); };
    Offer offer{};
    offer.port = port;
    offer.local_name_bytes = static_cast<int32_t>(local_name.size());
    CopyText(options_.address, offer.address);
    CopyText(PlaceOfThisProcess("net"), offer.place);
    CopyText(local_name, offer.local_name);
    for (int rank = 0; rank < options_.size; ++rank) {
      offer.secret = {{word(), word()}};
      own_.push_back(offer);
    }
  }

  void ReadOffers(TransportBootstrap& bootstrap) {
    std::vector<std::string> messages;
    for (const Offer& offer : own_) messages.emplace_back(BytesOf(offer));
    const std::vector<std::string> answers = bootstrap.Exchange(messages);
    theirs_.resize(At(options_.size));
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank == options_.rank) continue;
      Offer& offer = theirs_[At(rank)];
      CAFFE_ENFORCE(ParseBytes(answers[At(rank)], &offer), "rank ", rank, " offered its port in ",
                    answers[At(rank)].size(), " bytes, want ", sizeof(Offer),
                    "; all ranks need the same version of the library");
      offer.address[Offer::kTextBytes - 1] = offer.place[Offer::kTextBytes - 1] = '\0';
      offer.local_name_bytes = std::clamp<int32_t>(offer.local_name_bytes, 0, Offer::kTextBytes);
    }
  }

  UniqueFd SocketTo(int rank) const {
    const Offer& offer = theirs_[At(rank)];
    const Offer& own = own_[At(rank)];
    const bool is_near = own.place[0] != '\0' && std::strcmp(own.place, offer.place) == 0 &&
                         std::strcmp(own.address, offer.address) == 0;
    if (!is_near) return ConnectTo(offer.address, offer.port, check_);
    return ConnectLocally({offer.local_name, static_cast<size_t>(offer.local_name_bytes)}, check_);
  }

  Greeting GreetingFor(int rank) const {
    Greeting greeting{};
    std::memcpy(greeting.magic, Greeting::kMagic, sizeof(greeting.magic));
    greeting.secret = theirs_[At(rank)].secret;
    greeting.rank = options_.rank;
    return greeting;
  }

  bool IsValid(const Greeting& greeting, int rank) const {
    return std::memcmp(greeting.magic, Greeting::kMagic, sizeof(greeting.magic)) == 0 &&
           greeting.rank == rank && greeting.secret == own_[At(rank)].secret;
  }

  void ConnectWith(int rank) {
    UniqueFd fd = SocketTo(rank);
    Greeting answer{};
    const bool answered = fd.is_open() && SendAll(fd.get(), BytesOf(GreetingFor(rank))) &&
                          ReceiveAll(fd.get(), &answer, sizeof(answer), check_);
    check_();
    CAFFE_ENFORCE(answered && IsValid(answer, rank), "rank ", rank, " does not answer at ",
                  theirs_[At(rank)].address, " port ", theirs_[At(rank)].port,
                  ", where it listens for data");
    EnlargeBuffer(fd.get());
    connections_[At(rank)] = std::move(fd);
  }

  void Welcome(UniqueFd fd, std::string_view bytes) {
    Greeting greeting;
    if (!ParseBytes(bytes, &greeting)) return;
    const int rank = greeting.rank;
    if (rank <= options_.rank || rank >= options_.size || !IsValid(greeting, rank)) return;
    if (connections_[At(rank)].is_open() || !SendAll(fd.get(), BytesOf(GreetingFor(rank)))) return;
    EnlargeBuffer(fd.get());
    connections_[At(rank)] = std::move(fd);
  }

  bool IsHigherRankMissing() const {
    return std::any_of(connections_.begin() + options_.rank + 1, connections_.end(),
                       [](const UniqueFd& fd) { return !fd.is_open(); });
  }

  const TransportOptions& options_;
  const WaitCheck& check_;
  std::vector<Offer> own_;     // by receiver
  std::vector<Offer> theirs_;  // by sender
  std::vector<UniqueFd> connections_;
};

}  // namespace

std::vector<UniqueFd> ConnectData(const TransportOptions& options, TransportBootstrap& bootstrap,
                                  const WaitCheck& check) {
  return DataConnections(options, check).Run(bootstrap);
}

}  // namespace caffe2rt
