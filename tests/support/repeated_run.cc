#include "tests/support/repeated_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/rehearsal.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/support/other_inputs.h"
#include "tests/support/other_types.h"

namespace caffe2rt::test {
namespace {

constexpr int64_t kMostElements = 3000;

const Tensor* PlainTensor(const Workspace& ws, const std::string& name) {
  const Blob* const blob = ws.GetBlob(name);
  if (blob == nullptr || !blob->IsTensor(CPU)) return nullptr;
  const Tensor& tensor = blob->Get<Tensor>();
  return tensor.dtype().IsSet() && tensor.dtype().IsPlainData() && tensor.HasData() ? &tensor
                                                                                    : nullptr;
}

bool HaveSameBytes(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() && a.dtype() == b.dtype() &&
         (a.numel() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0);
}

bool IsNear(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::abs(a - b) <= 1e-5f * std::max(1.0f, std::abs(b));
}

// Weights that change are no longer prepared, so that products are rounded otherwise.
bool HaveNearElements(const Tensor& a, const Tensor& b) {
  if (!a.IsType<float>() || !b.IsType<float>() || a.dims() != b.dims()) return HaveSameBytes(a, b);
  return std::equal(a.data<float>(), a.data<float>() + a.numel(), b.data<float>(), IsNear);
}

// Whether the storage of an input is that of another output, as memory plans place them.
bool SharesMemory(const Workspace& ws, const OperatorDef& def, const std::string& input) {
  return std::any_of(def.output().begin(), def.output().end(), [&](const std::string& name) {
    const Tensor* const output = PlainTensor(ws, name);
    return name != input && output != nullptr &&
           output->storage() == PlainTensor(ws, input)->storage();
  });
}

// Whether results depend on how often the weights have changed: those in bf16 or bytes are made for constant ones.
bool NeedsConstantWeights(const OperatorDef& def) {
  return std::any_of(def.arg().begin(), def.arg().end(),
                     [](const Argument& arg) { return arg.name() == "precision"; });
}

// Whether the names of the outputs differ from each other.
bool HasSeparateOutputs(const OperatorDef& def) {
  std::set<std::string> outputs;
  return std::all_of(def.output().begin(), def.output().end(),
                     [&](const std::string& name) { return outputs.insert(name).second; });
}

bool MayRepeat(const Workspace& ws, const OperatorDef& def) {
  if (def.output_size() == 0 || !HasSeparateOutputs(def)) return false;
  if (!OnlyComputes(def, nullptr) || MemoryTraitsOf(def.type()).keeps_memory) return false;
  int64_t elements = 0;
  for (const std::string& name : def.input()) {
    const Tensor* const tensor = PlainTensor(ws, name);
    if (tensor == nullptr || SharesMemory(ws, def, name)) return false;
    elements += tensor->numel();
  }
  return elements <= kMostElements;
}

}  // namespace

std::unique_ptr<RepeatedRun> RepeatedRun::Of(const Workspace& ws, const OperatorDef& def) {
  if (def.has_device_option() || OpSchemaRegistry::Schema(def.type()) == nullptr) return nullptr;
  std::unique_ptr<RepeatedRun> run(new RepeatedRun(def));
  for (const std::string& name : def.input()) {
    const Blob* const blob = ws.GetBlob(name);
    if (blob == nullptr || !blob->IsTensor(CPU) || !blob->Get<Tensor>().dtype().IsSet())
      return nullptr;
    const Tensor& tensor = blob->Get<Tensor>();
    run->shapes_.push_back(CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype())));
  }
  run->repeats_ = MayRepeat(ws, def);
  for (const std::string& name : def.input()) {
    if (run->repeats_)
      run->copies_.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(
          ws.GetBlob(name)->Get<Tensor>());
  }
  return run;
}

void RepeatedRun::ExpectInferredFrom(const std::vector<TensorShape>& shapes,
                                     const Workspace& ws) const {
  const OpSchema& schema = *OpSchemaRegistry::Schema(def_.type());
  const std::vector<TensorShape> inferred = schema.InferTensor(def_, shapes);
  for (size_t i = 0; i < inferred.size() && i < static_cast<size_t>(def_.output_size()); ++i) {
    const Tensor* const output = PlainTensor(ws, def_.output(static_cast<int>(i)));
    if (output == nullptr || inferred[i].unknown_shape()) continue;
    EXPECT_EQ(GetDimsVector(inferred[i]), output->dims()) << "inferred shape of output " << i;
    if (&shapes != &shapes_) continue;  // the type may be that of the unknown one
    EXPECT_EQ(inferred[i].data_type(), TypeMetaToDataType(output->dtype()))
        << "inferred type of output " << i;
  }
}

void RepeatedRun::ExpectInferred(const Workspace& ws) const {
  ExpectInferredFrom(shapes_, ws);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    SCOPED_TRACE(MakeString("if the shape of input ", i, " is unknown"));
    std::vector<TensorShape> shapes = shapes_;
    shapes[i].Clear();
    shapes[i].set_unknown_shape(true);
    ExpectInferredFrom(shapes, ws);
  }
}

bool RepeatedRun::ExpectSameValues(const std::string& name, const Tensor& want) const {
  const Tensor* const got = PlainTensor(copies_, name);
  const bool same = got != nullptr && HaveNearElements(*got, want);
  EXPECT_TRUE(same) << "output \"" << name << "\" differs" << (got == nullptr ? ": absent" : "");
  return same;
}

void RepeatedRun::ExpectSame(const Workspace& ws) {
  SCOPED_TRACE("a checked run of " + def_.ShortDebugString());
  // How many numbers are drawn may depend on values.
  const bool draws = OpSchemaRegistry::Schema(def_.type())->has_effect(Effect::kRandom, def_);
  if (!draws) {
    ASSERT_NO_THROW(ExpectInferred(ws));
  }
  if (repeats_) ExpectRepeated(ws);
}

// Tests of gradients run an operator on a thousand slightly different inputs.
bool RepeatedRun::HasRunOften() const {
  constexpr int kMostRuns = 3;
  thread_local std::map<std::string, int> runs;
  std::string key = def_.SerializeAsString();
  for (const TensorShape& shape : shapes_) key += shape.SerializeAsString();
  return ++runs[key] > kMostRuns;
}

void RepeatedRun::ExpectRepeated(const Workspace& ws) {
  std::map<std::string, Tensor> inputs;
  for (const std::string& name : def_.input()) {
    inputs.emplace(name, Tensor(copies_.GetBlob(name)->Get<Tensor>(), CPU));
    if (HasOutput(def_, name)) continue;
    const Tensor* const after = PlainTensor(ws, name);
    EXPECT_TRUE(after != nullptr && HaveSameBytes(*after, copies_.GetBlob(name)->Get<Tensor>()))
        << "the run changed input \"" << name << "\"";
  }
  NetDef net_def;
  net_def.set_name("repeated");
  *net_def.add_op() = def_;
  const auto create = [&] { return copies_.CreateNet(net_def, /*overwrite=*/true); };
  NetBase* const net = create();
  ASSERT_TRUE(net->Run());
  std::map<std::string, Tensor> outputs;  // without those that the operator leaves as they are
  for (const std::string& name : def_.output()) {
    const Tensor* const tensor = PlainTensor(ws, name);
    if (tensor != nullptr && PlainTensor(copies_, name) != nullptr)
      outputs.emplace(name, Tensor(*tensor, CPU));
  }
  const auto expect = [&] {
    bool same = true;
    for (const auto& [name, want] : outputs) same = ExpectSameValues(name, want) && same;
    return same;
  };
  if (!expect() || HasRunOften()) return;
  const auto restore = [&] {  // those in place of which there is an output
    for (const auto& [name, tensor] : inputs)
      copies_.GetBlob(name)->GetMutableTensor(CPU)->CopyFrom(tensor);
  };
  restore();
  if (!NeedsConstantWeights(def_)) {
    ExpectSameAfterOtherInputs(&copies_, net, def_, expect);
    restore();
    ExpectSameAfterOthersFirst(&copies_, def_, create, expect);
  }
  restore();
  ExpectSameInPlace(outputs);
  ExpectSameInOtherTypes(copies_, def_, outputs);
}

// An output may take the place of an input if the schema allows that and they look alike.
void RepeatedRun::ExpectSameInPlace(const std::map<std::string, Tensor>& outputs) {
  const OpSchema& schema = *OpSchemaRegistry::Schema(def_.type());
  for (int i = 0; i < def_.input_size(); ++i) {
    const Tensor& input = copies_.GetBlob(def_.input(i))->Get<Tensor>();
    if (HasOutput(def_, def_.input(i))) return;
    if (std::count(def_.input().begin(), def_.input().end(), def_.input(i)) > 1) continue;
    for (int k = 0; k < def_.output_size(); ++k) {
      const auto found = outputs.find(def_.output(k));
      if (!schema.inplace_allowed(i, k) || found == outputs.end()) continue;
      if (found->second.dims() != input.dims() || found->second.dtype() != input.dtype()) continue;
      SCOPED_TRACE(MakeString("with output ", k, " in place of input ", i));
      Workspace ws;
      for (const std::string& name : def_.input())
        ws.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(copies_.GetBlob(name)->Get<Tensor>());
      OperatorDef def = def_;
      def.set_output(k, def_.input(i));
      try {
        ws.RunOperatorOnce(def);
      } catch (const EnforceNotMet&) {  // the arguments rule it out
        continue;
      }
      for (int o = 0; o < def_.output_size(); ++o) {
        const auto want = outputs.find(def_.output(o));
        const Tensor* const got = PlainTensor(ws, def.output(o));
        if (want == outputs.end() || got == nullptr) continue;
        EXPECT_TRUE(HaveNearElements(*got, want->second)) << "output " << o << " differs";
      }
    }
  }
}

}  // namespace caffe2rt::test
