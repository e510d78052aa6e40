// One rank of a world, for tests that start several: rank_program SCENARIO FOLDER RANK SIZE TIMEOUT_MS [WORD...]
//
// Prints a line for each result, and "lost 1,2: MESSAGE" or "error: MESSAGE" for exceptions.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/collective_engine.h"
#include "operators/distributed/common_world.h"

extern "C" const caffe2rt::CollectiveEngine* caffe2rt_gloo_engine();

namespace caffe2rt {
namespace {

struct Program {
  std::string scenario, folder;
  int rank, size, timeout_ms;
  std::vector<std::string> words;

  StoreBlob Store() const { return MakeFileStore(folder, "run", FileAccess::Free()); }
  WorldOptions Options(const std::string& name = "world") const {
    return {.engine = "GLOO",
            .name = name,
            .rank = rank,
            .size = size,
            .timeout = std::chrono::milliseconds(timeout_ms)};
  }
  CommonWorldBlob World() const { return CommonWorld::Create(Options(), Store()); }
};

void Print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

// Whole numbers, whose sums are exact in every type and order, or any numbers.
template <class T>
T Value(int rank, size_t i, bool whole) {
  const auto number = static_cast<uint32_t>(i * 7 + static_cast<size_t>(rank) * 3 + 1);
  if (whole || std::is_integral_v<T>) return static_cast<T>(static_cast<float>(number % 11));
  return static_cast<T>(static_cast<float>((number * 2654435761u) >> 8) * 0x1p-23f - 1);
}

template <class T>
std::vector<T> Values(int rank, size_t count, bool whole) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = Value<T>(rank, i, whole);
  return values;
}

template <class T>
void Check(bool ok, const char* what, size_t count) {
  if (!ok)
    Print(MakeString("WRONG ", what, " of ", count, " elements of type ",
                     TypeMeta::Make<T>().name()));
}

template <class T>
std::vector<T> PlainSum(const Program& program, size_t count) {
  std::vector<T> sum(count);
  for (size_t i = 0; i < count; ++i) {
    double total = 0;
    for (int rank = 0; rank < program.size; ++rank)
      total += static_cast<double>(Value<T>(rank, i, true));
    sum[i] = static_cast<T>(static_cast<float>(total));
  }
  return sum;
}

template <class T>
uint64_t Bits(const std::vector<T>& values) {
  uint64_t hash = 14695981039346656037u;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

template <class T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void CheckAllreduce(const Program& program, CommonWorld& world, size_t count) {
  const TypeMeta type = TypeMeta::Make<T>();
  std::vector<T> values = Values<T>(program.rank, count, true);
  world.Allreduce({"a"}, values.data(), count, type);
  Check<T>(Same(values, PlainSum<T>(program, count)), "Allreduce", count);
  std::vector<T> any = Values<T>(program.rank, count, false);
  world.Allreduce({"b"}, any.data(), count, type);
  Print(MakeString("bytes ", type.name(), " ", count, " ", Bits(any)));
}

template <class T>
void CheckOthers(const Program& program, CommonWorld& world, size_t count) {
  const TypeMeta type = TypeMeta::Make<T>();
  const auto size = static_cast<size_t>(program.size);
  for (int root = 0; root < program.size; ++root) {
    std::vector<T> values = Values<T>(program.rank, count, true);
    world.Broadcast({"c"}, values.data(), count, type, root);
    Check<T>(Same(values, Values<T>(root, count, true)), "Broadcast", count);
    values = Values<T>(program.rank, count, true);
    world.Reduce({"d"}, values.data(), count, type, root);
    Check<T>(program.rank != root || Same(values, PlainSum<T>(program, count)), "Reduce", count);
  }
  const std::vector<T> own = Values<T>(program.rank, count, true);
  std::vector<T> all(count * size), wanted;
  world.Allgather({"e"}, own.data(), all.data(), count, type);
  for (int rank = 0; rank < program.size; ++rank) {
    const std::vector<T> part = Values<T>(rank, count, true);
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  Check<T>(Same(all, wanted), "Allgather", count);
  // The first rank gets what remains.
  std::vector<int> counts(size, static_cast<int>(count / size));
  counts[0] += static_cast<int>(count % size);
  std::vector<T> scattered = Values<T>(program.rank, count, true);
  world.ReduceScatter({"f"}, scattered.data(), counts, type);
  const std::vector<T> sum = PlainSum<T>(program, count);
  size_t begin = 0;
  for (int rank = 0; rank < program.rank; ++rank)
    begin += static_cast<size_t>(counts[static_cast<size_t>(rank)]);
  const auto part = static_cast<size_t>(counts[static_cast<size_t>(program.rank)]);
  Check<T>(
      Same(std::vector<T>(scattered.begin(), scattered.begin() + static_cast<std::ptrdiff_t>(part)),
           std::vector<T>(sum.begin() + static_cast<std::ptrdiff_t>(begin),
                          sum.begin() + static_cast<std::ptrdiff_t>(begin + part))),
      "ReduceScatter", count);
}

template <class T>
void CheckType(const Program& program, CommonWorld& world) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{1001}}) {
    CheckAllreduce<T>(program, world, count);
    CheckOthers<T>(program, world, count);
  }
  CheckAllreduce<T>(program, world, 1000000);
}

void CheckMessages(const Program& program, CommonWorld& world) {
  const int next = (program.rank + 1) % program.size;
  const int before = (program.rank + program.size - 1) % program.size;
  const std::vector<int64_t> dims{2, 3};
  std::vector<float> got;
  const auto receive = [&](int source) {
    const ReceivedTensor received =
        world.Receive({"m"}, source, 5, [&got](const ReceivedTensor& tensor) {
          size_t count = 1;
          for (const int64_t dim : tensor.dims) count *= static_cast<size_t>(dim);
          got.resize(count);
          return got.data();
        });
    Check<float>(received.source == before && received.tag == 5 && received.dims == dims &&
                     received.type == TypeMeta::Make<float>() &&
                     got == Values<float>(before, 6, true),
                 "ReceiveTensor", 6);
  };
  const std::vector<float> own = Values<float>(program.rank, 6, true);
  const auto send = [&] { world.Send({"m"}, own.data(), dims, TypeMeta::Make<float>(), next, 5); };
  if (program.rank % 2 == 0) {
    send();
    receive(before);
  } else {
    receive(-1);
    send();
  }
}

void AllTypes(const Program& program) {
  const CommonWorldBlob world = program.World();
  CheckType<float>(program, *world);
  CheckType<double>(program, *world);
  CheckType<float16>(program, *world);
  CheckType<bfloat16>(program, *world);
  CheckType<int8_t>(program, *world);
  CheckType<uint8_t>(program, *world);
  CheckType<int16_t>(program, *world);
  CheckType<uint16_t>(program, *world);
  CheckType<int32_t>(program, *world);
  CheckType<uint32_t>(program, *world);
  CheckType<int64_t>(program, *world);
  CheckType<uint64_t>(program, *world);
  if (program.size % 2 == 0) CheckMessages(program, *world);
  world->Barrier({"end"});
  Print("done");
}

// Both ranks do something else: words[rank] is sum:COUNT, double:COUNT, root:ROOT, label:TEXT, or barrier.
void Different(const Program& program) {
  const CommonWorldBlob world = program.World();
  const std::string& word = program.words.at(static_cast<size_t>(program.rank));
  const std::string kind = word.substr(0, word.find(':')), value = word.substr(word.find(':') + 1);
  std::vector<double> data(1000);
  try {
    if (kind == "sum")
      world->Allreduce({"x"}, data.data(), std::stoul(value), TypeMeta::Make<float>());
    if (kind == "double")
      world->Allreduce({"x"}, data.data(), std::stoul(value), TypeMeta::Make<double>());
    if (kind == "label") world->Allreduce({value}, data.data(), 10, TypeMeta::Make<float>());
    if (kind == "root")
      world->Broadcast({"x"}, data.data(), 10, TypeMeta::Make<float>(), std::stoi(value));
    if (kind == "barrier") world->Barrier({"x"});
    Print("no error");
  } catch (const EnforceNotMet& error) {
    Print("error: " + error.message());
  }
  std::vector<float> ones(5, 1);
  world->Allreduce({"after"}, ones.data(), ones.size(), TypeMeta::Make<float>());
  Print(MakeString("after ", ones[4]));
}

// Collectives until one fails. Prints when the first has ended.
void Loop(const Program& program) {
  const CommonWorldBlob world = program.World();
  const CommonWorldBlob clone = world->Clone("clone");
  std::vector<float> data(program.words.empty() ? 100000 : std::stoul(program.words[0]));
  for (int step = 0;; ++step) {
    world->Broadcast({"w"}, data.data(), data.size(), TypeMeta::Make<float>(), step % program.size);
    clone->Allreduce({"g"}, data.data(), data.size(), TypeMeta::Make<float>());
    if (step == 0) Print("running");
  }
}

// Clones in another order, operators on them in parallel.
void Clones(const Program& program) {
  const CommonWorldBlob world = program.World();
  std::map<std::string, CommonWorldBlob> clones;
  for (int i = 0; i < 8; ++i) {
    const std::string name = MakeString("clone", (i + program.rank) % 8);
    clones[name] = world->Clone(name);
  }
  std::vector<std::thread> threads;
  for (const auto& entry : clones) {
    threads.emplace_back([&program, &entry] {
      std::vector<float> data(1000 + entry.first.back(), 1);
      for (int i = 0; i < 20; ++i) {
        std::fill(data.begin(), data.end(), 1.0f);
        entry.second->Allreduce({"x"}, data.data(), data.size(), TypeMeta::Make<float>());
        Check<float>(data.back() == static_cast<float>(program.size), "Allreduce on clones",
                     data.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Print("done");
}

// Rank 0 starts an operation on the world, rank 1 on its clone.
void Crossed(const Program& program) {
  const CommonWorldBlob world = program.World();
  const CommonWorldBlob clone = world->Clone("clone");
  (program.rank == 0 ? world : clone)->Barrier({"b"});
}

// Threads use one world, each for the same operations.
void Threads(const Program& program) {
  const CommonWorldBlob world = program.World();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&program, &world] {
      std::vector<float> data(10000);
      for (int step = 0; step < 20; ++step) {
        std::fill(data.begin(), data.end(), 1.0f);
        world->Allreduce({"x"}, data.data(), data.size(), TypeMeta::Make<float>());
        const auto sum = static_cast<float>(program.size);
        Check<float>(std::count(data.begin(), data.end(), sum) == 10000, "Allreduce", 10000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Print("done");
}

std::unique_ptr<CollectiveTransport> ConnectSlowly(const TransportOptions& options,
                                                   TransportBootstrap& bootstrap) {
  auto transport = caffe2rt_gloo_engine()->connect(options, bootstrap);
  if (options.rank > 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return transport;
}

// Rank 0 leaves while the others still create the world.
void Brief(const Program& program) {
  static const CollectiveEngine slow{.connect = &ConnectSlowly};
  RegisterCollectiveEngine("GLOO", &slow);
  program.World().reset();
  Print("done");
}

size_t OpenDescriptors() {
  size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

// In each generation the last rank ends, and the others make a smaller world, until one is left.
void Survivors(const Program& program) {
  const size_t before = OpenDescriptors();
  WorldOptions options = program.Options();
  for (; options.size > 1; ++options.generation) {
    const CommonWorldBlob world = CommonWorld::Create(options, program.Store());
    try {
      world->Barrier({"all"});
      if (options.rank == options.size - 1) raise(SIGKILL);
      world->Barrier({"survivors"});
      Print("no error");
    } catch (const RanksLost& error) {
      if (error.ranks() != std::vector<int>{options.size - 1}) throw;
      --options.size;
    }
  }
  Print(MakeString("generation ", options.generation,
                   OpenDescriptors() == before ? "" : ", descriptors are left"));
}

// Runs the nets in files: words are NET_FILE [BLOB...]. "@RANK@", "@SIZE@" and "@FOLDER@" in them are replaced.
void Nets(const Program& program) {
  Workspace ws;
  size_t word = 0;
  for (; word < program.words.size() && program.words[word].find(".pbtxt") != std::string::npos;
       ++word) {
    std::string text;
    std::FILE* const file = std::fopen(program.words[word].c_str(), "r");
    CAFFE_ENFORCE(file != nullptr, "cannot read ", program.words[word]);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
    const std::map<std::string, std::string> values = {
        {"@RANK@", MakeString(program.rank)},
        {"@SIZE@", MakeString(program.size)},
        {"@TIMEOUT@", MakeString(program.timeout_ms)},
        {"@FOLDER@", program.folder}};
    for (const auto& [name, value] : values) {
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
        text.replace(at, name.size(), value);
      }
    }
    NetDef net;
    ParseTextProto(text, program.words[word], &net);
    CAFFE_ENFORCE(ws.RunNetOnce(net), "net failed");
  }
  for (; word < program.words.size(); ++word) {
    const Tensor& tensor = ws.GetBlob(program.words[word])->Get<Tensor>();
    std::string line = program.words[word];
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      line += MakeString(" ", tensor.dtype() == TypeMeta::Make<float>() ? tensor.data<float>()[i]
                              : tensor.dtype() == TypeMeta::Make<int64_t>()
                                  ? static_cast<float>(tensor.data<int64_t>()[i])
                                  : static_cast<float>(tensor.data<int32_t>()[i]));
    }
    Print(line);
  }
}

void Meet(const Program& program) {
  const CommonWorldBlob world = program.World();
  world->Barrier({"b"});
  Print("done");
}

void Run(const Program& program) {
  const std::map<std::string, void (*)(const Program&)> scenarios = {
      {"types", &AllTypes},  {"different", &Different}, {"loop", &Loop},
      {"clones", &Clones},   {"nets", &Nets},           {"meet", &Meet},
      {"crossed", &Crossed}, {"survivors", &Survivors}, {"threads", &Threads},
      {"brief", &Brief}};
  scenarios.at(program.scenario)(program);
}

}  // namespace
}  // namespace caffe2rt

int main(int argc, char** argv) {
  using namespace caffe2rt;
  if (argc < 6) return 2;
  RegisterCollectiveEngine("GLOO", caffe2rt_gloo_engine());
  const Program program{argv[1],
                        argv[2],
                        std::atoi(argv[3]),
                        std::atoi(argv[4]),
                        std::atoi(argv[5]),
                        {argv + 6, argv + argc}};
  try {
    Run(program);
    return 0;
  } catch (const RanksLost& error) {
    std::string ranks;
    for (const int rank : error.ranks()) ranks += MakeString(ranks.empty() ? "" : ",", rank);
    Print(MakeString("lost ", ranks, ": ", error.message()));
    return 3;
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const EnforceNotMet*>(&error);
    Print(MakeString("error: ", known != nullptr ? known->message() : error.what()));
    return 4;
  }
}
