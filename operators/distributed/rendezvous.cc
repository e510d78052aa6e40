#include "operators/distributed/rendezvous.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/distributed/common_world.h"

namespace caffe2rt {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPause{10};
constexpr milliseconds kGiveUpPatience{1000};
constexpr milliseconds kOthersPeriod{200};
constexpr milliseconds kLongestTurn{500};

std::string HostName() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof(host) - 1);
  return host;
}

// When the process started, in ticks since the machine did: tells a process from a later one with the same
// number. "" if there is no such process.
std::string StartOfProcess(int process) {
  const UniqueFd file(open(MakeString("/proc/", process, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[1024];
  const ssize_t bytes = file.is_open() ? read(file.get(), buffer, sizeof(buffer)) : 0;
  if (bytes <= 0) return "";
  const std::string text(buffer, static_cast<size_t>(bytes));
  const size_t name_end = text.rfind(')');  // the name may contain spaces
  if (name_end == std::string::npos) return "";
  const std::vector<std::string> fields = absl::StrSplit(text.substr(name_end + 2), ' ');
  if (fields.empty() || fields[0] == "Z" || fields[0] == "X") return "";  // ended, not yet reaped
  return fields.size() > 19 ? fields[19] : "";
}

// Hosts and containers may share a name; those of other places have other processes of the same numbers.
const std::string& OwnPlace() {
  static const std::string place = PlaceOfThisProcess("pid");
  return place;
}

constexpr char kGaveUp[] = " gave_up=";

// The value of a rank's key.
struct RankRecord {
  std::string host, place, start, address;
  int process = 0, port = 0, size = 0, generation = 0;
  uint64_t token = 0;
  std::optional<GroupFailure> failure = {};  // the rank has given up

  static RankRecord OfThisProcess(const GroupOptions& options) {
    RankRecord record;
    record.host = HostName();
    record.place = OwnPlace();
    record.process = getpid();
    record.start = StartOfProcess(record.process);
    record.address = AddressOfInterface(options.interface);
    record.size = options.size;
    record.generation = options.generation;
    return record;
  }

  std::string Text() const {
    std::string gave_up;
    if (failure)
      gave_up = MakeString(kGaveUp, absl::StrJoin(failure->lost, ","), " ", failure->reason);
    return MakeString("host=", host, " place=", place, " process=", process, " start=", start,
                      " address=", address, " port=", port, " size=", size,
                      " generation=", generation, " token=", token, gave_up);
  }

  static std::optional<RankRecord> Parse(const std::string& value) {
    const size_t end = value.find(kGaveUp);
    const std::string text = value.substr(0, end);
    std::map<std::string, std::string> fields;
    for (const absl::string_view field : absl::StrSplit(text, ' ')) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(field, absl::MaxSplits('=', 1));
      fields[parts.first] = parts.second;
    }
    RankRecord record;
    record.host = fields["host"];
    record.place = fields["place"];
    record.start = fields["start"];
    record.address = fields["address"];
    if (!absl::SimpleAtoi(fields["process"], &record.process) ||
        !absl::SimpleAtoi(fields["port"], &record.port) ||
        !absl::SimpleAtoi(fields["size"], &record.size) ||
        !absl::SimpleAtoi(fields["generation"], &record.generation) ||
        !absl::SimpleAtoi(fields["token"], &record.token)) {
      return std::nullopt;
    }
    if (end != std::string::npos)
      record.failure = ParseFailure(value.substr(end + sizeof(kGaveUp) - 1));
    return record;
  }

  // "0,2 the reason".
  static GroupFailure ParseFailure(const std::string& text) {
    const size_t space = text.find(' ');
    GroupFailure failure;
    for (const absl::string_view rank :
         absl::StrSplit(text.substr(0, space), ',', absl::SkipEmpty())) {
      int number = 0;
      if (absl::SimpleAtoi(rank, &number)) failure.lost.push_back(number);
    }
    if (space != std::string::npos) failure.reason = text.substr(space + 1);
    return failure;
  }

  std::string Writer() const { return MakeString("process ", process, " on host ", host); }

  // Whether the process has ended, as far as this machine can know.
  bool HasEnded() const {
    return !place.empty() && place == OwnPlace() && StartOfProcess(process) != start;
  }
};

class Rendezvous {
 public:
  Rendezvous(const GroupOptions& options, Store& store)
      : options_(options),
        store_(store),
        deadline_(ControlClock::now() + options.timeout),
        connections_(static_cast<size_t>(options.size)) {
    own_ = RankRecord::OfThisProcess(options);
    std::random_device random;
    own_.token = (static_cast<uint64_t>(random()) << 32) | random();
  }

  Meeting Run() {
    UniqueFd listener = ListenOn(own_.address);
    own_.port = PortOf(listener.get());
    WriteKey();
    try {
      for (int rank = 0; rank < options_.rank; ++rank) MeetRank(rank);
      AcceptHigherRanks(std::move(listener));
    } catch (const RanksLost& error) {
      GiveUp({error.ranks(), MakeString("rank ", options_.rank, " gave up: ", error.message())});
      throw;
    } catch (const std::exception& error) {
      GiveUp({{options_.rank}, MakeString("rank ", options_.rank, " gave up: ", error.what())});
      throw;
    }
    return {std::move(connections_), own_.address};
  }

 private:
  std::string OwnKey() const { return RankKey(options_, options_.rank); }

  void WriteKey() {
    if (store_.SetNew(OwnKey(), own_.Text())) return;
    const std::optional<std::string> text = store_.Find(OwnKey());
    const std::optional<RankRecord> other = text ? RankRecord::Parse(*text) : std::nullopt;
    CAFFE_THROW(
        "world \"", options_.name, "\" cannot be created: key \"", OwnKey(), "\" exists in ",
        store_.Describe(), ", written by ", other ? other->Writer() : "an unknown process",
        other && other->HasEnded()
            ? ", which has ended: an earlier run with the same id left it; use another id, or "
              "remove the folder"
            : ": another process has this rank, or an earlier run with the same id left the key");
  }

  void GiveUp(const GroupFailure& failure) {
    const std::string frame = FrameOf(FrameKind::kFailed, EncodeFailure(failure));
    for (const UniqueFd& connection : connections_) {
      if (connection.is_open()) SendAll(connection.get(), frame);
    }
    try {
      own_.failure = failure;
      store_.Set(OwnKey(), own_.Text());
      WaitForReaders(failure);
      store_.Erase(OwnKey());
    } catch (const std::exception& error) {
      LOG(WARNING) << error.what();
    }
  }

  // Ranks that have not connected to this one yet must learn why: from its key, or from those of the lost
  // ranks. Does not wait for those that have not come.
  void WaitForReaders(const GroupFailure& failure) {
    const auto deadline = ControlClock::now() + kGiveUpPatience;
    const auto is_lost = [&failure](int rank) {
      return std::find(failure.lost.begin(), failure.lost.end(), rank) != failure.lost.end();
    };
    const bool all_see_it = std::all_of(failure.lost.begin(), failure.lost.end(),
                                        [this](int rank) { return IsKnownToBeLost(rank); });
    if (all_see_it && !failure.lost.empty()) return;
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank == options_.rank || is_lost(rank)) continue;
      while (ControlClock::now() < deadline && !Knows(rank)) std::this_thread::sleep_for(kPause);
    }
  }

  // Whether its key shows everybody that it will not come. This rank's own is erased at the end.
  bool IsKnownToBeLost(int rank) {
    if (rank == options_.rank) return false;
    const std::optional<std::string> text = store_.Find(RankKey(options_, rank));
    const std::optional<RankRecord> record = text ? RankRecord::Parse(*text) : std::nullopt;
    return record && (record->failure || record->HasEnded());
  }

  bool Knows(int rank) {
    if (connections_[static_cast<size_t>(rank)].is_open()) return true;
    const std::optional<std::string> text = store_.Find(RankKey(options_, rank));
    if (!text) return false;
    const std::optional<RankRecord> record = RankRecord::Parse(*text);
    return !record || record->failure || record->HasEnded();
  }

  [[noreturn]] void ThrowLost(std::vector<int> ranks, const std::string& reason) const {
    const std::string text = RanksText(ranks);
    throw RanksLost(options_.name, std::move(ranks),
                    MakeString("world \"", options_.name, "\" (rank ", options_.rank, " of ",
                               options_.size, ") cannot be created: ", text, " ", reason));
  }

  // THROWS if the run is stopped, if a rank that is already connected has ended or given up, or if `waited_for`
  // have not come in time.
  void Check(const std::vector<int>& waited_for) {
    ThrowIfStopped();
    for (int rank = 0; rank < options_.size; ++rank) CheckConnection(rank);
    for (const int rank : waited_for) CheckProcess(rank);
    // The loss of another rank may be why those do not come.
    const auto now = ControlClock::now();
    if (now >= others_due_) {
      others_due_ = now + kOthersPeriod;
      for (int rank = 0; rank < options_.size; ++rank) {
        if (rank != options_.rank && !connections_[static_cast<size_t>(rank)].is_open())
          CheckProcess(rank);
      }
    }
    // A process that was stopped must still wait for the others, which may have been stopped with it.
    if (now - last_check_ > kLongestTurn) deadline_ += now - last_check_;
    last_check_ = now;
    if (now < deadline_) return;
    std::vector<int> absent;
    for (const int rank : waited_for) {
      if (!store_.Find(RankKey(options_, rank))) absent.push_back(rank);
    }
    if (!absent.empty()) {
      ThrowLost(std::move(absent), MakeString("did not come within ", options_.timeout.count(),
                                              " ms: no key in ", store_.Describe()));
    }
    ThrowLost(waited_for, MakeString("did not answer within ", options_.timeout.count(), " ms"));
  }

  void CheckConnection(int rank) {
    const int fd = connections_[static_cast<size_t>(rank)].get();
    if (fd < 0) return;
    FrameHeader header{};
    const ssize_t n = recv(fd, &header, sizeof(header), MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      ThrowLost({rank}, "did not answer: its connection closed, so its process ended");
    }
    if (n < static_cast<ssize_t>(sizeof(header)) ||
        header.kind != static_cast<uint32_t>(FrameKind::kFailed))
      return;
    if (header.bytes > kMostFrameBytes) return;
    std::string frame(sizeof(header) + header.bytes, '\0');
    if (recv(fd, frame.data(), frame.size(), MSG_PEEK | MSG_DONTWAIT) <
        static_cast<ssize_t>(frame.size()))
      return;
    GroupFailure failure = DecodeFailure(std::string_view(frame).substr(sizeof(header)));
    ThrowLost(std::move(failure.lost), MakeString("did not answer: ", failure.reason));
  }

  // A rank whose process on this machine has ended, or that has other ideas of the world.
  void CheckProcess(int rank) {
    const std::string key = RankKey(options_, rank);
    const std::optional<std::string> text = store_.Find(key);
    if (!text) return;
    const std::optional<RankRecord> record = RankRecord::Parse(*text);
    CAFFE_ENFORCE(record, "key \"", key, "\" in ", store_.Describe(),
                  " was not written by a world: \"", *text, "\"");
    CAFFE_ENFORCE(record->size == options_.size, "world \"", options_.name, "\" has size ",
                  options_.size, " on rank ", options_.rank, " and size ", record->size,
                  " on rank ", rank, " (", record->Writer(), ")");
    if (record->failure)
      ThrowLost(record->failure->lost, MakeString("did not answer: ", record->failure->reason));
    if (record->HasEnded()) {
      ThrowLost(
          {rank},
          MakeString(
              "did not answer: ", record->Writer(), ", which wrote key \"", key, "\" to ",
              store_.Describe(),
              ", has ended; if an earlier run with the same id left the key, use another id, or "
              "remove the folder"));
    }
  }

  void Pause(const std::vector<int>& waited_for) {
    Check(waited_for);
    const WaitingThread waiting;
    std::this_thread::sleep_for(kPause);
  }

  Hello HelloTo(uint64_t token) const {
    Hello hello{};
    std::memcpy(hello.magic, Hello::kMagic, sizeof(hello.magic));
    hello.world = HashOf(options_.name);
    hello.from_token = own_.token;
    hello.to_token = token;
    hello.generation = options_.generation;
    hello.size = options_.size;
    hello.rank = options_.rank;
    return hello;
  }

  void MeetRank(int rank) {
    const std::string key = RankKey(options_, rank);
    while (true) {
      const std::optional<std::string> text = store_.Find(key);
      if (text) {
        Check({rank});
        const std::optional<RankRecord> record = RankRecord::Parse(*text);
        if (record && TryConnect(rank, *record)) return;
      }
      Pause({rank});
    }
  }

  // Returns false if the rank does not listen there (any more).
  bool TryConnect(int rank, const RankRecord& record) {
    const WaitCheck check = [this, rank] { Check({rank}); };
    UniqueFd fd = ConnectTo(record.address, record.port, check);
    if (!fd.is_open() || !SendAll(fd.get(), BytesOf(HelloTo(record.token)))) return false;
    Hello reply{};
    if (!ReceiveAll(fd.get(), &reply, sizeof(reply), check)) return false;
    if (std::memcmp(reply.magic, Hello::kMagic, sizeof(reply.magic)) != 0 ||
        reply.to_token != own_.token)
      return false;
    CheckHello(reply);
    if (reply.rank != rank) return false;
    connections_[static_cast<size_t>(rank)] = std::move(fd);
    return true;
  }

  // THROWS if the sender has other ideas of the world.
  void CheckHello(const Hello& hello) const {
    CAFFE_ENFORCE(hello.size == options_.size && hello.generation == options_.generation,
                  "world \"", options_.name, "\" has size ", options_.size, " and generation ",
                  options_.generation, " on rank ", options_.rank, ", and size ", hello.size,
                  " and generation ", hello.generation, " on rank ", hello.rank);
  }

  std::vector<int> MissingHigherRanks() const {
    std::vector<int> missing;
    for (int rank = options_.rank + 1; rank < options_.size; ++rank) {
      if (!connections_[static_cast<size_t>(rank)].is_open()) missing.push_back(rank);
    }
    return missing;
  }

  void AcceptHigherRanks(UniqueFd listener) {
    std::vector<UniqueFd> listeners;
    listeners.push_back(std::move(listener));
    Reception reception(std::move(listeners), sizeof(Hello));
    for (std::vector<int> missing = MissingHigherRanks(); !missing.empty();
         missing = MissingHigherRanks()) {
      Check(missing);
      reception.Turn([this](UniqueFd fd, std::string_view greeting) {
        Hello hello;
        std::memcpy(&hello, greeting.data(), sizeof(hello));
        Welcome(std::move(fd), hello);
      });
    }
  }

  void Welcome(UniqueFd fd, const Hello& hello) {
    if (std::memcmp(hello.magic, Hello::kMagic, sizeof(hello.magic)) != 0 ||
        hello.to_token != own_.token || hello.world != HashOf(options_.name)) {
      LOG(WARNING) << "world \"" << options_.name
                   << "\": rejected a connection that is not from one of its ranks";
      return;
    }
    // The other side checks it as well.
    const bool sent = SendAll(fd.get(), BytesOf(HelloTo(hello.from_token)));
    if (hello.rank <= options_.rank || hello.rank >= options_.size) return;
    CheckHello(hello);
    UniqueFd& connection = connections_[static_cast<size_t>(hello.rank)];
    if (sent && !connection.is_open()) connection = std::move(fd);
  }

  const GroupOptions& options_;
  Store& store_;
  ControlClock::time_point deadline_;
  ControlClock::time_point last_check_ = ControlClock::now();
  ControlClock::time_point others_due_{};
  RankRecord own_;
  std::vector<UniqueFd> connections_;
};

}  // namespace

std::string RankKey(const GroupOptions& options, int rank) {
  return MakeString(options.name, "/generation_", options.generation, "/rank_", rank);
}

std::string AddressOfInterface(const std::string& interface) {
  if (interface.empty()) return "127.0.0.1";
  in_addr parsed{};
  if (inet_pton(AF_INET, interface.c_str(), &parsed) == 1) return interface;
  ifaddrs* list = nullptr;
  CAFFE_ENFORCE(getifaddrs(&list) == 0,
                "cannot list the network interfaces: ", std::strerror(errno));
  std::string found, known;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* const address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
    if (interface == one->ifa_name && found.empty()) found = text;
    known += MakeString(known.empty() ? "" : ", ", one->ifa_name, " (", text, ")");
  }
  freeifaddrs(list);
  CAFFE_ENFORCE(!found.empty(), "interface is \"", interface,
                "\", want the name or IPv4 address of one of: ", known);
  return found;
}

Meeting Meet(const GroupOptions& options, Store& store) { return Rendezvous(options, store).Run(); }

bool WriteLoss(const GroupOptions& options, Store& store, const std::string& reason) {
  RankRecord record = RankRecord::OfThisProcess(options);
  record.failure = GroupFailure{{options.rank}, reason};
  return store.SetNew(RankKey(options, options.rank), record.Text());
}

}  // namespace caffe2rt
