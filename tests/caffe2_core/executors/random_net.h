#pragma once
// Random nets for tests of executors: operators in place, control inputs, aliases, nested nets, slow
// and failing ones.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// The built-in net types besides simple.
inline const char* const kTypesBesidesSimple[] = {
    "dag",      "prof_dag",     "async_dag", "async_polling",  "async_scheduling",
    "parallel", "async_simple", "rnn",       "simple_refcount"};

struct RandomNetOptions {
  int most_operators = 60;  // at least 5
  bool draws = true;        // has operators that draw random numbers
};

// A net of at least 5 operators on the blobs b0 to b9, which all have 8 floats and are inputs and
// outputs. Operators ExecutorTestCall (call_operator.h) have the names slow and flaky.
class RandomNet {
 public:
  RandomNet(uint32_t seed, const RandomNetOptions& options);
  // Inserts an operator at a random position.
  void Insert(const std::string& op);
  // With num_workers for the types that have one thread without.
  NetDef Def(const std::string& type) const;
  std::string text() const;

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }
  std::string Blob();
  std::string Control();
  std::string OneOperator();
  std::string AnyOperator();

  std::mt19937 random_;
  const bool draws_;
  std::vector<std::string> operators_;
};

// Writes the initial values of b0 to b9, and what the nets also read.
void FeedBlobs(Workspace* ws);
// The bytes of b0 to b9.
std::string BytesOfBlobs(const Workspace& ws);
// A number from the environment, or `otherwise`.
int NumberFromEnvironment(const char* name, int otherwise);

}  // namespace caffe2rt::test
