#include "tests/support/devices_agree.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <type_traits>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/words.cuh"
#include "tests/support/device_run.h"

namespace caffe2rt::test {
namespace {

using Tensors = std::map<std::string, Tensor>;

// Sets the largest size for which kernels use 32-bit indices, and restores it.
class NarrowLimit {
 public:
  explicit NarrowLimit(int64_t limit) : before_(GlobalIndexOptions()) {
    GlobalIndexOptions().narrow_limit = limit;
  }
  ~NarrowLimit() { GlobalIndexOptions() = before_; }
  NarrowLimit(const NarrowLimit&) = delete;
  NarrowLimit& operator=(const NarrowLimit&) = delete;

 private:
  const IndexOptions before_;
};

Tensors CopyInputs(const Workspace& ws, const OperatorDef& def) {
  Tensors copies;
  for (const std::string& name : def.input()) {
    const Blob* const blob = ws.GetBlob(name);
    CAFFE_ENFORCE(blob != nullptr, "input \"", name, "\" is not in the workspace");
    copies.try_emplace(name, blob->Get<Tensor>(), CPU);
  }
  return copies;
}

void PutInputs(const Tensors& inputs, const Agreement& agreement, Workspace* there) {
  for (const auto& [name, tensor] : inputs) {
    const DeviceType where = agreement.stay.contains(name) ? CPU : agreement.device;
    there->CreateBlob(name)->GetMutableTensor(where)->CopyFrom(tensor);
  }
}

// The inputs with their elements in reverse order: other values of the same shapes.
Tensors Reversed(const Tensors& inputs) {
  Tensors reversed;
  for (const auto& [name, tensor] : inputs) {
    Tensor& copy = reversed.try_emplace(name, tensor, CPU).first->second;
    if (!tensor.dtype().IsPlainData() || tensor.numel() == 0) continue;
    const size_t size = tensor.dtype().itemsize();
    const auto* const from = static_cast<const char*>(tensor.raw_data());
    auto* const to = static_cast<char*>(copy.raw_mutable_data(tensor.dtype()));
    for (size_t at = 0; at < tensor.nbytes(); at += size)
      std::memcpy(to + at, from + tensor.nbytes() - at - size, size);
  }
  return reversed;
}

// Runs the operator, which may reject the inputs.
void TryRun(OperatorBase* op) {
  try {
    (void)op->Run();
  } catch (const EnforceNotMet&) {
    // Only what it may have kept for the next run matters.
  }
}

// Resizes `tensor` to [numel] and fills it with bytes that no test expects.
void FillWithGarbage(TypeMeta type, int64_t numel, Tensor* tensor) {
  if (!type.IsPlainData()) return;
  Tensor garbage(CPU);
  garbage.Resize(numel);
  std::memset(garbage.raw_mutable_data(type), 0x7f, garbage.nbytes());
  tensor->CopyFrom(garbage);
}

// Calls f(name, the CPU's tensor, expected device) for each output that is not an input.
template <class F>
void ForNewOutputs(const OperatorDef& def, const Workspace& ws, const Agreement& agreement, F f) {
  for (const std::string& name : def.output()) {
    if (std::count(def.input().begin(), def.input().end(), name) > 0) continue;
    f(name, ws.GetBlob(name)->Get<Tensor>(),
      agreement.on_cpu.contains(name) ? CPU : agreement.device);
  }
}

// A pool may give an output a block that still holds the right values, written by another engine.
// So blocks of the outputs' sizes are filled and freed first.
void SpoilFreeMemory(const OperatorDef& def, const Workspace& want, const Agreement& agreement) {
  std::vector<Tensor> freed;
  ForNewOutputs(def, want, agreement,
                [&](const std::string&, const Tensor& tensor, DeviceType where) {
                  FillWithGarbage(tensor.dtype(), tensor.numel(), &freed.emplace_back(where));
                });
}

// Gives outputs another shape and other values. Their memory suffices for the results.
void SpoilOutputs(const OperatorDef& def, const Workspace& want, const Agreement& agreement,
                  Workspace* there) {
  ForNewOutputs(def, want, agreement,
                [&](const std::string& name, const Tensor& tensor, DeviceType where) {
                  FillWithGarbage(tensor.dtype(), tensor.numel() + 1,
                                  there->CreateBlob(name)->GetMutableTensor(where));
                });
}

template <class T>
bool IsSame(const T& got, const T& want, double tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(want)) return std::isnan(got);
    if (tolerance > 0 && std::isfinite(want)) {
      const double wide = want;
      return std::abs(got - wide) <= tolerance * std::max(1.0, std::abs(wide));
    }
  }
  return std::memcmp(&got, &want, sizeof(T)) == 0;
}

void ExpectSame(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_STREQ(got.dtype().name(), want.dtype().name());
  ASSERT_EQ(got.dims(), want.dims());
  DispatchByType<float, double, int32_t, int64_t, bool, uint8_t, int8_t, uint16_t, int16_t,
                 float16>(want.dtype(), "the output", [&](auto element) {
    // The byte of a wrong bool may be neither true nor false. A float16 is printed as bytes.
    using T =
        std::conditional_t<std::is_same_v<decltype(element), bool>, uint8_t, decltype(element)>;
    const T* const got_values = static_cast<const T*>(got.raw_data());
    const T* const want_values = static_cast<const T*>(want.raw_data());
    int reported = 0;
    for (int64_t i = 0; i < want.numel() && reported < 5; ++i) {
      if (IsSame(got_values[i], want_values[i], tolerance)) continue;
      ++reported;
      ADD_FAILURE() << "element " << i << " is " << testing::PrintToString(got_values[i])
                    << ", want " << testing::PrintToString(want_values[i]);
    }
  });
}

void ExpectOutputs(const OperatorDef& def, const Workspace& got, const Workspace& want,
                   const Agreement& agreement) {
  for (const std::string& name : def.output()) {
    SCOPED_TRACE("output \"" + name + '"');
    const DeviceType where = agreement.on_cpu.contains(name) ? CPU : agreement.device;
    ASSERT_TRUE(got.GetBlob(name)->IsTensor(where)) << "is not on " << DeviceTypeName(where);
    ExpectSame(Tensor(got.GetBlob(name)->Get<Tensor>(), CPU), want.GetBlob(name)->Get<Tensor>(),
               agreement.tolerance);
  }
}

// An operator must not write to inputs that are not outputs.
void ExpectInputsKept(const OperatorDef& def, const Tensors& inputs, const Workspace& there) {
  for (const auto& [name, want] : inputs) {
    if (std::count(def.output().begin(), def.output().end(), name) > 0) continue;
    if (!want.dtype().IsPlainData()) continue;
    SCOPED_TRACE("input \"" + name + '"');
    ExpectSame(Tensor(there.GetBlob(name)->Get<Tensor>(), CPU), want, 0);
  }
}

// Nothing that an operator keeps from a run may depend on the values of its inputs.
void ExpectUsedOperatorAgrees(const OperatorDef& def, const Tensors& inputs, const Workspace& want,
                              const Agreement& agreement) {
  SCOPED_TRACE(MakeString("engine \"", def.engine(), "\", run after a run on other values"));
  Workspace there;
  PutInputs(Reversed(inputs), agreement, &there);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &there);
  TryRun(op.get());
  SpoilOutputs(def, want, agreement, &there);
  PutInputs(inputs, agreement, &there);
  ASSERT_TRUE(op->Run());
  ExpectOutputs(def, there, want, agreement);
}

// If CAFFE2_TEST_ENGINES names a file, runs the operator once more and adds its type and the engine
// that ran, for a report: an engine that is not available is replaced without an error.
void ReportEngine(const OperatorDef& def, const Tensors& inputs, const Agreement& agreement) {
  const char* const file = std::getenv("CAFFE2_TEST_ENGINES");
  if (file == nullptr) return;
  Workspace ws;
  PutInputs(inputs, agreement, &ws);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
  ASSERT_TRUE(op->Run());
  static std::set<std::string> reported;
  const std::string line = def.type() + "\t" + op->engine() + "\n";
  if (op->engine().empty() || !reported.insert(line).second) return;
  std::ofstream(file, std::ios::app) << line;
}

// THROWS if one of `names` is not in `of`.
template <class Names>
void EnforceNamesOf(const std::set<std::string>& names, const Names& of, const char* subject) {
  for (const std::string& name : names) {
    CAFFE_ENFORCE(std::count(of.begin(), of.end(), name) > 0, "the operator has no ", subject,
                  " \"", name, '"');
  }
}

}  // namespace

void OnDeviceTest::SetUp() {
  const std::string problem = ProblemOfTestDevice(device_);
  if (!problem.empty()) GTEST_SKIP() << problem;
}

void ExpectDevicesAgree(Workspace* ws, const std::string& text, const Agreement& agreement) {
  SCOPED_TRACE(text);
  const OperatorDef def = ParseOp(text);
  EnforceNamesOf(agreement.stay, def.input(), "input");
  EnforceNamesOf(agreement.on_cpu, def.output(), "output");
  CAFFE_ENFORCE(!agreement.engines.empty(), "the agreement names no engine");
  const Tensors inputs = CopyInputs(*ws, def);
  ASSERT_TRUE(ws->RunOperatorOnce(def)) << "on the CPU";
  for (const std::string& engine : agreement.engines) {
    OperatorDef on_device = def;
    on_device.mutable_device_option()->set_device_type(agreement.device);
    if (!engine.empty()) on_device.set_engine(engine);
    Workspace there;
    for (const bool second_run : {false, true}) {
      SCOPED_TRACE(
          MakeString("engine \"", engine, "\", ", second_run ? "second" : "first", " run"));
      // Outputs first: after the first run they may share the memory of inputs.
      if (second_run) SpoilOutputs(def, *ws, agreement, &there);
      PutInputs(inputs, agreement, &there);
      if (!second_run) SpoilFreeMemory(def, *ws, agreement);
      const NarrowLimit limit(second_run ? 0 : GlobalIndexOptions().narrow_limit);
      ASSERT_TRUE(there.RunOperatorOnce(on_device));
      ExpectOutputs(def, there, *ws, agreement);
      ExpectInputsKept(def, inputs, there);
    }
    ExpectUsedOperatorAgrees(on_device, inputs, *ws, agreement);
    ReportEngine(on_device, inputs, agreement);
  }
}

void ExpectDeviceThrows(Workspace* ws, const std::string& text, const std::string& part,
                        DeviceType device) {
  SCOPED_TRACE(text);
  OperatorDef def = ParseOp(text);
  def.mutable_device_option()->set_device_type(device);
  Workspace there;
  PutInputs(CopyInputs(*ws, def), {.device = device}, &there);
  ExpectThrows([&] { there.RunOperatorOnce(def); }, part);
}

}  // namespace caffe2rt::test
