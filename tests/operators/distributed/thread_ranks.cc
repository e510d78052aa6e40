#include "tests/operators/distributed/thread_ranks.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

namespace caffe2rt::test {
namespace {

// Bytes from one rank to another, in the order in which they were posted for a tag.
class Board {
 public:
  using Slot = std::tuple<std::string, int, int, uint64_t>;  // world, from, to, tag or message

  void Post(const Slot& slot, const void* data, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    posted_.emplace(slot, std::string(static_cast<const char*>(data), bytes));
    changed_.notify_all();
  }
  std::string Take(const Slot& slot, const bool& aborted) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return aborted || posted_.contains(slot); });
    if (aborted) throw std::runtime_error("the memory is closed");
    const auto found = posted_.lower_bound(slot);
    std::string bytes = std::move(found->second);
    posted_.erase(found);
    return bytes;
  }
  void Set(bool* aborted) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *aborted = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Slot, std::string> posted_;
};

Board& TheBoard() {
  static Board* const board = new Board;
  return *board;
}

ThreadEngineHooks& Hooks() {
  static ThreadEngineHooks* const hooks = new ThreadEngineHooks;
  return *hooks;
}

class ThreadTransport final : public CollectiveTransport {
 public:
  explicit ThreadTransport(const TransportOptions& options) : options_(options) {}

  void Allreduce(void* data, size_t count, const ElementSum& sum, uint32_t tag) override {
    const std::vector<std::string> all = Gather(data, count * sum.bytes, tag);
    std::memcpy(data, all[0].data(), all[0].size());
    for (size_t rank = 1; rank < all.size(); ++rank) sum.add(data, data, all[rank].data(), count);
    Moved();
  }
  void Reduce(void* data, size_t count, const ElementSum& sum, int root, uint32_t tag) override {
    std::vector<char> copy(count * sum.bytes);
    std::memcpy(copy.data(), data, copy.size());
    Allreduce(copy.data(), count, sum, tag);
    if (options_.rank == root) std::memcpy(data, copy.data(), copy.size());
  }
  void Broadcast(void* data, size_t bytes, int root, uint32_t tag) override {
    const std::vector<std::string> all = Gather(data, bytes, tag);
    std::memcpy(data, all[static_cast<size_t>(root)].data(), bytes);
    Moved();
  }
  void Allgather(const void* in, void* out, size_t bytes, uint32_t tag) override {
    char* to = static_cast<char*>(out);
    for (const std::string& part : Gather(in, bytes, tag)) {
      std::memcpy(to, part.data(), bytes);
      to += bytes;
    }
    Moved();
  }
  void Send(const void* data, size_t bytes, int peer, uint32_t number) override {
    TheBoard().Post({options_.world, options_.rank, peer, kMessages + number}, data, bytes);
  }
  void Receive(void* data, size_t bytes, int peer, uint32_t number) override {
    const std::string got =
        TheBoard().Take({options_.world, peer, options_.rank, kMessages + number}, aborted_);
    std::memcpy(data, got.data(), bytes);
  }
  void Abort() override {
    TheBoard().Set(&aborted_);
    if (Hooks().aborted) Hooks().aborted(options_.rank);
  }

 private:
  static constexpr uint64_t kMessages = uint64_t{1} << 32;

  // The bytes of all ranks.
  std::vector<std::string> Gather(const void* data, size_t bytes, uint32_t tag) {
    for (int to = 0; to < options_.size; ++to)
      TheBoard().Post({options_.world, options_.rank, to, tag}, data, bytes);
    std::vector<std::string> all;
    for (int from = 0; from < options_.size; ++from) {
      all.push_back(TheBoard().Take({options_.world, from, options_.rank, tag}, aborted_));
      EXPECT_EQ(all.back().size(), bytes);
    }
    return all;
  }
  void Moved() const {
    if (Hooks().moved) Hooks().moved(options_.rank);
  }

  const TransportOptions options_;
  bool aborted_ = false;
};

std::unique_ptr<CollectiveTransport> ConnectThreads(const TransportOptions& options,
                                                    TransportBootstrap& bootstrap) {
  if (Hooks().connecting) Hooks().connecting(options, bootstrap);
  return std::make_unique<ThreadTransport>(options);
}

constexpr CollectiveEngine kThreadEngine{
    .describe = [] { return std::string("memory of the process"); },
    .has_transport = [](const std::string& name) { return name == "memory" || name == "tcp"; },
    .connect = &ConnectThreads};

}  // namespace

void UseThreadEngine(ThreadEngineHooks hooks) {
  Hooks() = std::move(hooks);
  RegisterCollectiveEngine("THREADS", &kThreadEngine);
}

void RunRanks(int size, const std::function<void(int)>& act) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&act, rank] {
      try {
        act(rank);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace caffe2rt::test
