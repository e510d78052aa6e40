// Names of the standard library, checks and logging, with using-directives for both namespaces.
#include "caffe2/core/common.h"

#include "caffe2/core/init.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/timer.h"
#include "caffe2/utils/string_utils.h"
#include "caffe2/utils/thread_pool.h"
#include "test.h"

using namespace std;     // NOLINT: as users write
using namespace caffe2;  // NOLINT

namespace caffe2 {

// Names that users define themselves.
void run() { std::cout << vector<int64_t>{1, 2} << std::endl; }
void print(const TensorCPU& tensor) { std::cout << tensor.dims() << std::endl; }
class Net {};
class Model {};
class Table {};
struct LSTM {};
struct Transpose {};
struct Softmax {};
struct TimeObserver {};
struct GradientSlice {};

struct Owner {
  Owner() = default;
  int value = 0;
  DISABLE_COPY_AND_ASSIGN(Owner);
};

}  // namespace caffe2

STYLE_TEST(StandardNamesAreThere) {
  auto workspace = make_unique<Workspace>();
  vector<TIndex> dims{2, 3};
  CaffeMap<string, int> map{{"a", 1}};
  STYLE_EXPECT(caffe2::to_string(3) == "3");
  STYLE_EXPECT(caffe2::stoi("4") == 4 && c10::stoi("5") == 5 && c10::to_string(6) == "6");
  STYLE_EXPECT((SkipIndices<1, 3>::Contains(3)));
  STYLE_EXPECT(split(',', "a,b").size() == 2);
  caffe2::run();
  TensorCPU tensor(dims, CPU);
  caffe2::print(tensor);
  std::ostringstream text;
  text << tensor.dims() << ' ' << map;
  STYLE_EXPECT(text.str() == "2 3 (a, 1)");
}

STYLE_TEST(ChecksTakeWorkingCallsPointersAndManyParts) {
  Workspace ws;
  NetDef def;
  def.set_name("n");
  CAFFE_ENFORCE(ws.CreateNet(def));
  CAFFE_ENFORCE(ws.RunNet(def.name()), "net ", def.name(), ' ', 3);
  std::vector<int> v(2);
  CAFFE_ENFORCE_EQ(v.size(), 2, "n");
  TensorCPU t(CPU);
  t.Resize(1, 2);
  CAFFE_ENFORCE_GT(t.ndim(), 0);
  int calls = 0;
  CAFFE_ENFORCE(++calls, v);
  STYLE_EXPECT(calls == 1);
  std::unique_ptr<int> pointer(new int(1));
  CAFFE_ENFORCE(pointer);
  CAFFE_ENFORCE_THAT(calls == 1, "one call");
}

STYLE_TEST(ErrorsAreStandardExceptionsWithTheText) {
  bool caught = false;
  try {
    CAFFE_THROW("bad ", 1);
  } catch (const std::exception& e) {
    caught = std::string(e.what()).find("bad 1") != std::string::npos;
  }
  STYLE_EXPECT(caught);
  try {
    CAFFE_ENFORCE_EQ(6, 4, "text");
  } catch (caffe2::EnforceNotMet& e) {
    STYLE_EXPECT(e.msg().find("6 vs 4") != std::string::npos);
    STYLE_EXPECT(!e.msg_stack().empty());
  }
  try {
    CAFFE_NOT_IMPLEMENTED;
  } catch (caffe2::EnforceNotMet&) {
    caught = false;
  }
  STYLE_EXPECT(!caught);
}

STYLE_TEST(LogsByTheUsualMacros) {
  int a = 1, b = 1;
  LOG(INFO) << "seen at level 0 " << vector<int>{1};
  VLOG(1) << 2;
  LOG_IF(WARNING, a == 2) << "no";
  CHECK_EQ(a, b) << "x";
  CHECK(a == b) << "y";
  DCHECK_LT(a, b + 1);
  CHECK_NOTNULL(&a);
  Timer timer;
  STYLE_EXPECT(timer.MicroSeconds() >= 0);
  STYLE_EXPECT(timer.Seconds() < 100);
}

STYLE_TEST(RunsTasksOnAPool) {
  std::atomic<int> sum{0};
  caffe2::TaskThreadPool pool(2);
  for (int i = 1; i <= 10; ++i) pool.run([&sum, i] { sum += i; });
  pool.waitWorkComplete();
  STYLE_EXPECT(sum == 55);
}
