// Replays one operator on inputs that are repeated along an axis.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/original_faults.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {
namespace {

// The largest operand has about as many elements, so that the work is divided among vectors, blocks and threads.
constexpr int64_t kWantedElements = 20000, kMostTimes = 4001;

struct Blocks {
  size_t count = 1, times = 1;
};

// `field` holds count blocks of equal size; each comes `times` times.
template <class Field>
void RepeatBlocks(const Blocks& blocks, Field* field) {
  const Field once = *field;
  const auto size = static_cast<std::ptrdiff_t>(static_cast<size_t>(once.size()) / blocks.count);
  field->Clear();
  field->Reserve(once.size() * static_cast<int>(blocks.times));
  for (size_t block = 0; block < blocks.count; ++block) {
    const auto first = once.begin() + static_cast<std::ptrdiff_t>(block) * size;
    for (size_t t = 0; t < blocks.times; ++t) {
      for (auto it = first; it != first + size; ++it) *field->Add() = *it;
    }
  }
}

void RepeatBytes(const Blocks& blocks, std::string* bytes) {
  const size_t size = bytes->size() / blocks.count;
  std::string repeated;
  for (size_t block = 0; block < blocks.count; ++block) {
    for (size_t t = 0; t < blocks.times; ++t) repeated += bytes->substr(block * size, size);
  }
  *bytes = repeated;
}

TensorProto ProtoOf(const oracle::Blob& blob) {
  TensorProto proto;
  const bool quantized = blob.value_case() == oracle::Blob::kInt8;
  if (!quantized && blob.value_case() != oracle::Blob::kTensor)
    throw UnsupportedBlob("blob \"" + blob.name() + "\" is no tensor");
  CAFFE_ENFORCE(proto.ParseFromString(quantized ? blob.int8().tensor() : blob.tensor()),
                "recorded blob \"", blob.name(), "\" is not a TensorProto");
  return proto;
}

// THROWS UnsupportedBlob if the blob has no such axis.
oracle::Blob Repeated(const oracle::Blob& blob, int axis, int64_t times) {
  TensorProto proto = ProtoOf(blob);
  if (proto.dims_size() <= axis) throw UnsupportedBlob("\"" + blob.name() + "\" lacks the axis");
  Blocks blocks{.times = static_cast<size_t>(times)};
  for (int i = 0; i < axis; ++i) blocks.count *= static_cast<size_t>(proto.dims(i));
  proto.set_dims(axis, proto.dims(axis) * times);
  if (blocks.count > 0) {
    RepeatBlocks(blocks, proto.mutable_float_data());
    RepeatBlocks(blocks, proto.mutable_double_data());
    RepeatBlocks(blocks, proto.mutable_int32_data());
    RepeatBlocks(blocks, proto.mutable_int64_data());
    RepeatBlocks(blocks, proto.mutable_string_data());
    if (proto.has_byte_data()) RepeatBytes(blocks, proto.mutable_byte_data());
  }
  oracle::Blob repeated = blob;
  *(blob.value_case() == oracle::Blob::kInt8 ? repeated.mutable_int8()->mutable_tensor()
                                             : repeated.mutable_tensor()) =
      proto.SerializeAsString();
  return repeated;
}

int64_t ElementsOf(const oracle::Blob& blob) {
  const TensorProto proto = ProtoOf(blob);
  return CheckedProduct(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()));
}

int64_t TimesFor(const oracle::OperatorCase& recorded) {
  int64_t largest = 1;
  for (const oracle::Blob& blob : recorded.output()) largest = std::max(largest, ElementsOf(blob));
  for (const oracle::Blob& blob : recorded.input()) largest = std::max(largest, ElementsOf(blob));
  return std::clamp<int64_t>(kWantedElements / largest, 2, kMostTimes) | 1;
}

bool Holds(const std::vector<int>& inputs, const OperatorDef& def, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(), [&](int i) { return def.input(i) == name; });
}

}  // namespace

CaseResult ReplayRepeated(const oracle::OperatorCase& recorded, int axis,
                          const std::vector<int>& inputs) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    if (!HasOperator(CPU, def.type())) return CaseResult::NotImplemented(def.type());
    if (recorded.throws() || recorded.stochastic() || recorded.output_before_size() > 0)
      return CaseResult::NotImplemented("no values are recorded that could be repeated");
    if (std::any_of(inputs.begin(), inputs.end(), [&](int i) { return i >= def.input_size(); }))
      return CaseResult::NotImplemented("the call has fewer inputs");
    const int64_t times = TimesFor(recorded);
    Workspace ws;
    for (const oracle::Blob& blob : recorded.input())
      MakeBlob(Holds(inputs, def, blob.name()) ? Repeated(blob, axis, times) : blob, &ws);
    std::vector<oracle::Blob> wanted;
    for (const oracle::Blob& blob : recorded.output())
      wanted.push_back(Repeated(blob, axis, times));
    try {
      if (!ws.RunOperatorOnce(def)) return CaseResult::Failed("the run returned false");
    } catch (const EnforceNotMet& error) {
      return CaseResult::NotImplemented(
          error.message());  // an argument or another input fits the recorded sizes only
    }
    CompareRules rules;
    rules.rtol = recorded.rtol();
    for (const oracle::Blob& blob : wanted) {
      const std::string difference = CompareBlob(blob, ws, rules);
      if (!difference.empty() && FaultOfRecord(recorded, def).empty())
        return CaseResult::Failed(MakeString(times, " times: ", difference));
    }
    return {};
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
