// Names that sources take from operator.h alone, because Caffe2's header included theirs.
#include "caffe2/core/operator.h"
#include "test.h"

namespace caffe2 {
namespace {

// Classes of namespace c10 are visible inside namespace caffe2.
int SumOnPool(int n) {
  std::atomic<int> sum(0);
  TaskThreadPool pool(2);
  for (int i = 1; i <= n; ++i) pool.run([&sum, i]() { sum += i; });
  pool.waitWorkComplete();
  return sum;
}

template <typename T, class Context, class Engine = DefaultEngine>
void SetTo(int n, T value, T* data, Context* context) {
  math::Set<T, Context>(n, value, data, context);
}

}  // namespace
}  // namespace caffe2

STYLE_TEST(OperatorHeaderBringsTheStandardLibrary) {
  std::queue<int> queue;
  queue.push(1);
  std::deque<int> deque(3);
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  condition.notify_all();
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setw(4) << std::setfill('0') << 7;
  STYLE_EXPECT(text.str() == "0007");
  const auto start = std::chrono::steady_clock::now();
  STYLE_EXPECT(std::chrono::steady_clock::now() >= start && queue.size() + deque.size() == 4);
  std::ifstream missing("/nowhere/at/all");
  STYLE_EXPECT(!missing.good());
  std::mt19937 generator(1);
  STYLE_EXPECT(generator() == 1791095845u);  // the first value that the standard prescribes
}

STYLE_TEST(OperatorHeaderBringsMathAndThreadPools) {
  caffe2::CPUContext context;
  float data[3];
  caffe2::SetTo(3, 2.f, data, &context);
  STYLE_EXPECT(data[2] == 2 && caffe2::SumOnPool(10) == 55);
}
