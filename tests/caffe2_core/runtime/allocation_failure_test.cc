// Every allocation fails once, and from every allocation on all fail: while files are loaded, nets
// and predictors are made, and nets and plans run. Nothing but OutOfMemory comes out (or the
// action goes on without the memory), nothing leaks, and the same action gives the right result
// afterwards.
//
// CAFFE2_TEST_ALLOCATION_STRIDE=1 tries every allocation; CI takes every seventh.
//
// Not held to this, because it happens inside of other libraries:
//
//   protobuf  RepeatedPtrField::Add, Reflection::AddMessage: one element leaks when the array of a
//             repeated field cannot grow, because the element is made first
//             RepeatedPtrField's copy constructor and MergeFrom: the elements that are copied
//             already leak, because they are counted at the end
//             copy constructors of messages (ArenaStringPtr::Set): the strings that are copied
//             already leak, because their fields have no destructors
//   LevelDB   libleveldb.so is compiled without exceptions: what it holds leaks, and a database
//             whose mutex stays locked is given up
//   oneDNN    libdnnl.so: its own allocations never fail here

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/net_validation.h"
#include "caffe2_core/runtime/predictor.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

#ifdef CAFFE2RT_SANITIZED
#include <sanitizer/lsan_interface.h>

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:google::protobuf::internal::RepeatedPtrFieldBase::\n"
         "leak:google::protobuf::RepeatedPtrField<*>::Add\n"
         "leak:google::protobuf::Reflection::AddMessage\n"
         "leak:google::protobuf::internal::ArenaStringPtr::Set\n";
}
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
#endif

namespace caffe2rt {
namespace {

using test::FailingAllocations;
using test::ParseNet;
using test::SourcePath;
using test::TempDir;
using Mode = FailingAllocations::Mode;

bool LeaksFound() {
#ifdef CAFFE2RT_SANITIZED
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

// While one lives, what the thread allocates may leak.
class LeaksAllowed {
 public:
  explicit LeaksAllowed(bool allowed) : allowed_(allowed) { Set(true); }
  ~LeaksAllowed() { Set(false); }
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;

 private:
  void Set([[maybe_unused]] bool begin) const {
#ifdef CAFFE2RT_SANITIZED
    if (allowed_) begin ? __lsan_disable() : __lsan_enable();
#endif
  }
  [[maybe_unused]] const bool allowed_;
};

int64_t Stride() {
  const char* text = std::getenv("CAFFE2_TEST_ALLOCATION_STRIDE");
  return text != nullptr ? std::max(1, std::atoi(text)) : 7;
}

// Tensors' memory, which is not from operator new, fails as well.
class FailingCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override {
    if (test::AllocationFails(nullptr, false)) throw std::bad_alloc();
    return sound_.New(nbytes);
  }
  MemoryDeleter GetDeleter() override { return sound_.GetDeleter(); }

 private:
  DefaultCPUAllocator sound_;
};

// What is done with failing memory, and again with enough; the second time it must succeed.
struct Action {
  std::function<void()> act;
  std::function<void()> verify;
};

class AllocationFailureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    SetCPUAllocator(new FailingCPUAllocator);
    SetLogThreshold(3);
  }
  static void TearDownTestSuite() {
    SetCPUAllocator(new DefaultCPUAllocator);
    SetLogThreshold(2);
  }

  // `make` gives a fresh action for every point.
  static void Sweep(const std::function<Action()>& make) {
    for (int i = 0; i < 2; ++i) {  // what is made once in a process is made now
      const Action action = make();
      action.act();
      action.verify();
    }
    for (const Mode mode : {Mode::kOne, Mode::kFrom}) {
      bool failed = true;
      for (int64_t n = 0; failed; n += Stride()) {
        SCOPED_TRACE(MakeString(mode == Mode::kOne ? "only" : "from", " allocation ", n));
        const size_t before = GetCPUMemoryUsage().in_use_bytes;
        {
          const Action action = make();
          failed = ActWithout(n, mode, action);
          ASSERT_NO_THROW(action.act());
          action.verify();
        }
        ASSERT_EQ(GetCPUMemoryUsage().in_use_bytes, before);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
    EXPECT_FALSE(LeaksFound());
  }

 private:
  // Whether an allocation failed.
  static bool ActWithout(int64_t n, Mode mode, const Action& action) {
    std::exception_ptr thrown;
    int64_t asked = 0;
    {
      const FailingAllocations failing(n, mode);
      try {
        action.act();
      } catch (...) {
        thrown = std::current_exception();
      }
      asked = failing.asked();
    }
    if (thrown == nullptr) return asked > n;
    try {
      std::rethrow_exception(thrown);
    } catch (const EnforceNotMet&) {
      // OutOfMemory, or what is said of the part that failed.
    } catch (...) {
      ADD_FAILURE() << "threw " << CurrentExceptionMessage();
    }
    return true;
  }
};

// An action over a state that `make_state` gives.
template <class State>
Action On(std::shared_ptr<State> state, std::function<void(State&)> act,
          std::function<void(State&)> verify) {
  return {.act = [state, act] { act(*state); }, .verify = [state, verify] { verify(*state); }};
}

// --- load ---

class LoadWithoutMemoryTest : public AllocationFailureTest {
 protected:
  const TempDir dir_;
};

const char kNet[] = R"(name: "net"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
  op { type: "Relu" input: "y" output: "y" }
  op { type: "Softmax" input: "y" output: "z" name: "a name that is not short at all" }
  external_input: "x" external_input: "w" external_input: "b" external_output: "z")";

TEST_F(LoadWithoutMemoryTest, ReadsProtos) {
  const NetDef want = ParseNet(kNet);
  const std::string bytes = want.SerializeAsString();
  for (const std::string& file : {dir_.Write("net.pb", bytes), dir_.Write("net.pbtxt", kNet)}) {
    Sweep([&] {
      return On<NetDef>(
          std::make_shared<NetDef>(), [&](NetDef& net) { LoadProto(file, &net); },
          [&](NetDef& net) { EXPECT_EQ(net.SerializeAsString(), bytes); });
    });
  }
}

TEST_F(LoadWithoutMemoryTest, ReadsArraysAndPictures) {
  Tensor array(std::vector<int64_t>{2, 3}, CPU);
  for (int i = 0; i < 6; ++i) array.mutable_data<float>()[i] = static_cast<float>(i);
  const std::string npy = dir_.path("a.npy");
  WriteNpy(npy, array);
  Sweep([&] {
    return On<Tensor>(
        std::make_shared<Tensor>(CPU), [&](Tensor& read) { read = ReadNpy(npy); },
        [&](Tensor& read) { EXPECT_EQ(read.data<float>()[5], 5); });
  });
  const std::string picture = SourcePath("binaries/demo/stripes/pictures/rising_1.png");
  const std::vector<uint8_t> pixels = LoadImage(picture).rgb;
  Sweep([&] {
    return On<Image>(
        std::make_shared<Image>(), [&](Image& image) { image = LoadImage(picture); },
        [&](Image& image) { EXPECT_EQ(image.rgb, pixels); });
  });
}

TEST_F(LoadWithoutMemoryTest, WritesAndReadsDatabases) {
  for (const std::string type : {"minidb", "leveldb", "lmdb"}) {
    SCOPED_TRACE(type);
    const std::string path = dir_.path(type);
    const std::string value(3000, 'v');
    {
      const auto database = db::OpenDB(type, path, db::NEW);
      const auto transaction = database->NewTransaction();
      transaction->Put("key", value);
      transaction->Commit();
    }
    struct Record {
      std::string key, value;
    };
    Sweep([&] {
      return On<Record>(
          std::make_shared<Record>(),
          [&](Record& record) {
            const LeaksAllowed leaks(type == "leveldb");
            db::DBReader(type, path).Read(&record.key, &record.value);
          },
          [&](Record& record) { EXPECT_EQ(record.value, value); });
    });
  }
}

TEST_F(LoadWithoutMemoryTest, SerializesBlobs) {
  Blob blob;
  Tensor* tensor = blob.GetMutableTensor(CPU);
  tensor->Resize(3);
  for (int i = 0; i < 3; ++i) {
    tensor->mutable_data<std::string>()[i] = std::string(40, static_cast<char>('a' + i));
  }
  struct Copy {
    std::string bytes;
    Blob blob;
  };
  Sweep([&] {
    return On<Copy>(
        std::make_shared<Copy>(),
        [&](Copy& copy) {
          copy.bytes = SerializeBlob(blob, "name");
          DeserializeBlob(copy.bytes, &copy.blob);
        },
        [&](Copy& copy) {
          EXPECT_EQ(copy.blob.Get<Tensor>().data<std::string>()[2], std::string(40, 'c'));
        });
  });
}

// --- tensors ---

class TensorWithoutMemoryTest : public AllocationFailureTest {};

TEST_F(TensorWithoutMemoryTest, AllocatesGrowsAndCopies) {
  Tensor strings(std::vector<int64_t>{2, 3}, CPU);
  for (int i = 0; i < 6; ++i) strings.mutable_data<std::string>()[i] = std::string(40, 'x');
  Sweep([&] {
    return On<Tensor>(
        std::make_shared<Tensor>(CPU),
        [&](Tensor& tensor) {
          tensor.CopyFrom(strings);
          tensor.ExtendTo(10, 50);
          tensor = tensor.Clone();
          tensor.Resize(2, 2);
          tensor.mutable_data<float>()[3] = 3;
          tensor.ReserveSpace(100);
          tensor.mutable_data<float>()[3] += 4;
        },
        [](Tensor& tensor) { EXPECT_EQ(tensor.data<float>()[3], 4); });
  });
}

TEST_F(TensorWithoutMemoryTest, KeepsReadOnlyDataWhenItCannotBeCopied) {
  struct Weights {
    Tensor shared{CPU}, own{CPU};
  };
  Sweep([] {
    auto weights = std::make_shared<Weights>();
    weights->shared.Resize(2);
    weights->shared.mutable_data<float>()[0] = 5;
    weights->shared.MarkReadOnly();
    weights->own = weights->shared;
    return On<Weights>(
        weights, [](Weights& w) { w.own.mutable_data<float>()[1] = 7; },
        [](Weights& w) {
          EXPECT_EQ(w.own.data<float>()[0], 5);
          EXPECT_EQ(w.own.data<float>()[1], 7);
          EXPECT_EQ(w.shared.data<float>()[1], 0);
        });
  });
}

TEST_F(TensorWithoutMemoryTest, FreesForeignMemoryOnce) {
  struct Foreign {
    Tensor tensor{CPU};
    int freed = 0;
    float data[2] = {1, 2};
  };
  Sweep([] {
    auto foreign = std::make_shared<Foreign>();
    foreign->tensor.Resize(2);
    return On<Foreign>(
        foreign,
        [](Foreign& f) {
          f.tensor.FreeMemory();
          f.freed = 0;
          f.tensor.ShareExternalPointer(
              f.data, 0,
              MemoryDeleter([](void*, void* count) { ++*static_cast<int*>(count); }, &f.freed));
        },
        [](Foreign& f) {
          f.tensor.FreeMemory();
          EXPECT_EQ(f.freed, 1);
        });
  });
}

// --- create and run ---

// x [2,3], w [4,3], b [4].
const char kInit[] = R"(name: "init"
  op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 ints: 3 }
       arg { name: "value" f: 1 } }
  op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 4 ints: 3 }
       arg { name: "values" floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 floats: 1
             floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 floats: 1 } }
  op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 4 } }
  op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 1 }
       arg { name: "values" strings: "a string that is longer than its object" } })";
const char kMany[] = R"(name: "many"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
  op { type: "Relu" input: "y" output: "y" }
  op { type: "Concat" input: "y" input: "y" output: "c" output: "c_dims" arg { name: "axis" i: 1 } }
  op { type: "Transpose" input: "c" output: "t" }
  op { type: "ReduceBackSum" input: "c" output: "sum" }
  op { type: "Softmax" input: "y" output: "z" }
  op { type: "Tile" input: "s" output: "strings" arg { name: "tiles" i: 3 }
       arg { name: "axis" i: 0 } }
  external_input: "x" external_input: "w" external_input: "b" external_input: "s"
  external_output: "z" external_output: "sum" external_output: "strings")";

// All four classes are equally likely, the rows sum up 8 threes, and the string is there 3 times.
void VerifyMany(const Workspace& ws) {
  EXPECT_FLOAT_EQ(ws.GetBlob("z")->Get<Tensor>().data<float>()[7], 0.25F);
  EXPECT_FLOAT_EQ(ws.GetBlob("sum")->Get<Tensor>().data<float>()[1], 24);
  EXPECT_EQ(ws.GetBlob("strings")->Get<Tensor>().data<std::string>()[2],
            "a string that is longer than its object");
}

class NetWithoutMemoryTest : public AllocationFailureTest {
 protected:
  static std::shared_ptr<Workspace> Filled() {
    auto ws = std::make_shared<Workspace>();
    ws->RunNetOnce(ParseNet(kInit));
    return ws;
  }
};

TEST_F(NetWithoutMemoryTest, IsMade) {
  const NetDef net = ParseNet(kMany);
  Sweep([&] {
    return On<Workspace>(
        Filled(), [&](Workspace& ws) { ASSERT_NE(ws.CreateNet(net, true), nullptr); },
        [](Workspace& ws) {
          EXPECT_TRUE(ws.RunNet("many"));
          VerifyMany(ws);
        });
  });
}

TEST_F(NetWithoutMemoryTest, RunsForTheFirstTime) {
  const NetDef net = ParseNet(kMany);
  Sweep([&] {
    const std::shared_ptr<Workspace> ws = Filled();
    ws->CreateNet(net);
    return On<Workspace>(
        ws, [](Workspace& w) { EXPECT_TRUE(w.RunNet("many")); }, VerifyMany);
  });
}

TEST_F(NetWithoutMemoryTest, RunsOnce) {
  const NetDef init = ParseNet(kInit), net = ParseNet(kMany);
  Sweep([&] {
    return On<Workspace>(
        std::make_shared<Workspace>(),
        [&](Workspace& ws) { EXPECT_TRUE(ws.RunNetOnce(init) && ws.RunNetOnce(net)); }, VerifyMany);
  });
}

TEST_F(NetWithoutMemoryTest, IsCheckedAndInferred) {
  const NetDef net = ParseNet(kMany);
  const NetDef softmax = ParseNet(R"(op { type: "Softmax" input: "y" output: "z" })");
  const std::vector<const NetDef*> nets = {&softmax};
  const size_t findings = ValidateNet(net).size();
  Sweep([&] {
    auto given = std::make_shared<ShapeMap>();
    TensorShape& y = (*given)["y"];
    for (const int64_t dim : {2, 4}) y.add_dims(dim);
    y.set_data_type(TensorProto_DataType_FLOAT);
    return On<ShapeMap>(
        given,
        [&](ShapeMap& shapes) {
          (void)ValidateNet(net);  // may find that there is no memory
          InferOpShapes(nets, &shapes);
        },
        [&](ShapeMap& shapes) {
          EXPECT_EQ(ValidateNet(net).size(), findings);
          EXPECT_EQ(shapes.at("z").dims(1), 4);
        });
  });
}

TEST_F(NetWithoutMemoryTest, RunsPlans) {
  PlanDef plan;
  ASSERT_TRUE(ParseProtoFromText(R"(name: "plan"
    network { name: "one" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 }
              arg { name: "value" f: 1 } } }
    network { name: "a" op { type: "Add" input: "x" input: "x" output: "x" } }
    network { name: "b" op { type: "Copy" input: "one" output: "y" } }
    network { name: "start" op { type: "ConstantFill" output: "one" arg { name: "shape" ints: 1 }
              arg { name: "value" f: 3 } } }
    execution_step { name: "s0" network: "one" network: "start" }
    execution_step { name: "s1" concurrent_substeps: true
      substep { name: "left" network: "a" num_iter: 3 } substep { name: "right" network: "b" } })",
                                 &plan));
  Sweep([&] {
    return On<Workspace>(
        std::make_shared<Workspace>(), [&](Workspace& ws) { EXPECT_TRUE(ws.RunPlan(plan)); },
        [](Workspace& ws) {
          EXPECT_EQ(ws.GetBlob("x")->Get<Tensor>().data<float>()[0], 8);
          EXPECT_EQ(ws.GetBlob("y")->Get<Tensor>().data<float>()[0], 3);
        });
  });
}

// --- predictors ---

class PredictorWithoutMemoryTest : public AllocationFailureTest {
 protected:
  static Tensor Input() {
    Tensor x(std::vector<int64_t>{2, 3}, CPU);
    for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = 1;
    return x;
  }
  static void VerifyOutputs(const std::vector<Tensor>& out) {
    ASSERT_EQ(out.size(), 3u);
    EXPECT_FLOAT_EQ(out[0].data<float>()[7], 0.25F);
    EXPECT_FLOAT_EQ(out[1].data<float>()[1], 24);
  }
  const NetDef init_ = ParseNet(kInit), net_ = ParseNet(kMany);
};

TEST_F(PredictorWithoutMemoryTest, IsMade) {
  const Tensor input = Input();
  Sweep([&] {
    return On<std::optional<Predictor>>(
        std::make_shared<std::optional<Predictor>>(),
        [&](std::optional<Predictor>& predictor) { predictor.emplace(init_, net_); },
        [&](std::optional<Predictor>& predictor) {
          std::vector<Tensor> out;
          EXPECT_TRUE((*predictor)({input}, &out));
          VerifyOutputs(out);
        });
  });
}

TEST_F(PredictorWithoutMemoryTest, IsCalled) {
  const std::vector<Tensor> input = {Input()};
  struct Call {
    Predictor predictor;
    std::vector<Tensor> out, held;
  };
  Sweep([&] {
    return On<Call>(
        std::make_shared<Call>(Call{Predictor(init_, net_), {}, {}}),
        [&](Call& call) {
          EXPECT_TRUE(call.predictor(input, &call.out));
          call.held.swap(call.out);  // the next call needs new memory
          EXPECT_TRUE(call.predictor(input, &call.out));
        },
        [](Call& call) {
          VerifyOutputs(call.out);
          VerifyOutputs(call.held);
        });
  });
}

}  // namespace
}  // namespace caffe2rt
