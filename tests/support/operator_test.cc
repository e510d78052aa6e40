#include "tests/support/operator_test.h"

#include <cstring>
#include <random>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/device_run.h"
#include "tests/support/repeated_run.h"

namespace caffe2rt::test {
namespace {

TensorShape ShapeOfBlob(const Workspace& ws, const std::string& name) {
  const Blob* blob = ws.GetBlob(name);
  const Tensor* tensor = blob != nullptr ? FindTensor(*blob) : nullptr;
  if (tensor == nullptr || !tensor->IsShaped()) return UnknownShape();
  return CreateTensorShape(tensor->dims(), TypeMetaToDataType(tensor->dtype()));
}

const OpSchema& SchemaOf(const std::string& type) {
  EnsureBuiltinOperators();
  const OpSchema* schema = OpSchemaRegistry::Schema(type);
  CAFFE_ENFORCE(schema != nullptr, "operator type \"", type, "\" has no schema");
  return *schema;
}

// Ends the test as skipped.
[[noreturn]] void Skip(const std::string& reason) {
  [&] { GTEST_SKIP() << reason; }();
  throw testing::AssertionException(
      testing::TestPartResult(testing::TestPartResult::kSkip, __FILE__, __LINE__, reason.c_str()));
}

// By default new memory is zero, which hides that an operator does not write all of its output.
void FillNewMemoryWithJunk() {
  [[maybe_unused]] static const bool once = [] {
    GlobalCPUMemoryOptions().fill = CPUMemoryFill::kJunk;
    return true;
  }();
}

// Runs `def` on TestDevice(), unless it names a device itself.
void RunOnTestDevice(Workspace* ws, const OperatorDef& def) {
  FillNewMemoryWithJunk();
  const DeviceType device = TestDevice();
  bool success = false;
  if (device == CPU || def.has_device_option()) {
    success = ws->RunOperatorOnce(def);
  } else {
    if (!HasOperator(device, def.type()) && HasOperator(CPU, def.type())) {
      Skip(MakeString(def.type(), " has no ", DeviceTypeName(device), " implementation"));
    }
    try {
      success = RunOperatorOn(device, def, ws);
    } catch (const ElementsStay& error) {
      Skip("the elements cannot be stored on the device: " + error.message());
    }
  }
  CAFFE_ENFORCE(success, "operator ", def.type(), " returned false");
}

}  // namespace

NetDef ParseNet(const std::string& text) {
  NetDef net;
  ParseTextProto(text, "text of the test", &net);
  return net;
}

OperatorDef ParseOp(const std::string& text) {
  OperatorDef def;
  ParseTextProto(text, "text of the test", &def);
  return def;
}

std::vector<float> RandomValues(int64_t count, float low, float high, uint32_t seed) {
  // The sequence of mt19937 is the same everywhere; the standard's distributions are not.
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = low + (high - low) * static_cast<float>(engine() * 0x1p-32);
  return values;
}

Tensor* FeedRandom(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                   float low, float high, uint32_t seed) {
  return Feed<float>(ws, name, dims, RandomValues(size_from_dim_(0, dims), low, high, seed));
}

void RunOp(Workspace* ws, const std::string& text) { RunOp(ws, ParseOp(text)); }
void RunOp(Workspace* ws, const OperatorDef& def) {
  const std::unique_ptr<RepeatedRun> repeated =
      TestDevice() == CPU ? RepeatedRun::Of(*ws, def) : nullptr;
  RunOnTestDevice(ws, def);
  if (repeated != nullptr) repeated->ExpectSame(*ws);
}

std::vector<int64_t> DimsOf(const Workspace& ws, const std::string& name) {
  const Blob* blob = ws.GetBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
  return blob->Get<Tensor>().dims();
}

void ExpectThrows(const std::function<void()>& act, const std::string& part) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown, want an error with \"" << part << "\"";
  } catch (const testing::AssertionException&) {  // skipped
    throw;
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr(part));
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw another exception, want EnforceNotMet: " << error.what();
  }
}

std::vector<TensorShape> InferShapes(const Workspace& ws, const OperatorDef& def) {
  std::vector<TensorShape> inputs;
  for (const std::string& name : def.input()) inputs.push_back(ShapeOfBlob(ws, name));
  return SchemaOf(def.type()).InferTensor(def, inputs);
}

void ExpectShapeInferred(Workspace* ws, const std::string& text, bool may_be_unknown) {
  const OperatorDef def = ParseOp(text);
  SCOPED_TRACE("shape inference of " + def.type());
  const std::vector<TensorShape> inferred = InferShapes(*ws, def);
  const std::vector<TensorShape> unknown(def.input_size(), UnknownShape());
  EXPECT_NO_THROW(SchemaOf(def.type()).InferTensor(def, unknown)) << "on unknown input shapes";
  RunOnTestDevice(ws, def);
  ASSERT_EQ(inferred.size(), static_cast<size_t>(def.output_size())) << "one shape per output";
  for (int i = 0; i < def.output_size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i) + " \"" + def.output(i) + "\"");
    if (inferred[i].unknown_shape()) {
      EXPECT_TRUE(may_be_unknown) << "the shape is not inferred";
      continue;
    }
    EXPECT_EQ(GetDimsVector(inferred[i]), DimsOf(*ws, def.output(i)));
    const TypeMeta type = ws->GetBlob(def.output(i))->Get<Tensor>().dtype();
    if (type.IsSet()) {
      EXPECT_EQ(TensorProto::DataType_Name(inferred[i].data_type()),
                TensorProto::DataType_Name(TypeMetaToDataType(type)));
    }
  }
}

void ExpectSameBitsForAllThreads(Workspace* ws, const std::string& text) {
  const OperatorDef def = ParseOp(text);
  std::vector<std::string> want;
  for (const int threads : {1, 2, 3}) {
    // What a run does not write must not be right by chance.
    for (int i = 0; threads > 1 && i < def.output_size(); ++i) {
      Tensor* const written = ws->GetBlob(def.output(i))->GetMutable<Tensor>();
      std::memset(written->raw_mutable_data(written->dtype()), 0x5a, written->nbytes());
    }
    SetNumThreads(threads);
    RunOp(ws, def);
    SetNumThreads(1);
    for (int i = 0; i < def.output_size(); ++i) {
      const Tensor& tensor = ws->GetBlob(def.output(i))->Get<Tensor>();
      std::string bytes(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
      if (threads == 1) {
        want.push_back(std::move(bytes));
      } else {
        EXPECT_TRUE(bytes == want[static_cast<size_t>(i)])
            << "output " << i << " with " << threads << " threads: " << text;
      }
    }
  }
}

}  // namespace caffe2rt::test
