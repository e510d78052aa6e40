// What built-in operators state about the objects that they share with other operators. Executors and plans keep the
// order of operators by it, so a statement that is missing is a race.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::stated_effects_test {
namespace {

constexpr int kMostOperands = 6;

const OpSchema& SchemaOf(const std::string& type) { return *OpSchemaRegistry::Schema(type); }

// The built-in types of which `states` returns a text, which is appended to the name.
std::string Types(const std::function<std::string(const OpSchema&)>& states) {
  std::set<std::string> types;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    if (!IsBuiltinOperator(type)) continue;
    const std::string text = states(SchemaOf(type));
    if (!text.empty()) types.insert(type + text);
  }
  return absl::StrJoin(types, " ");
}

std::string Numbers(const std::function<bool(int)>& holds) {
  std::string text;
  for (int i = 0; i < kMostOperands; ++i) {
    if (holds(i)) text += MakeString(":", i);
  }
  return text;
}

std::string TypesWithEffect(Effect effect) {
  return Types([effect](const OpSchema& schema) -> std::string {
    OperatorDef def;
    def.set_type(schema.type());
    return schema.has_effect(effect, def) ? ":" : "";
  });
}

TEST(StatedEffectsTest, ObjectsThatOperatorsChangeAreStated) {
  EXPECT_EQ(
      Types([](const OpSchema& schema) {
        return Numbers([&](int i) { return schema.modifies_input(i); });
      }),
      "Allgather:0 Allreduce:0 AllreduceCoalesced:0 Barrier:0 Broadcast:0 CloseBlobsQueue:0 "
      "CloseRebatchingQueue:0 ComputeOffset:0 ConditionalSetAtomicBool:0 CountDown:0 CountUp:0 "
      "DequeueBlobs:0 "
      "DequeueRebatchingQueue:0 EnqueueBlobs:0 EnqueueRebatchingQueue:0 ImageInput:0 IndexGet:0 "
      "Load:0:1:2:3:4:5 ReadNextBatch:0 ReadRandomBatch:0 ReceiveTensor:0 Reduce:0 ReduceScatter:0 "
      "ResetCounter:0 ResetCursor:0 SafeDequeueBlobs:0 SafeEnqueueBlobs:0 SendTensor:0 "
      "TensorProtosDBInput:0 TextFileReaderRead:0 TimerEnd:0 TimerGet:0 TimerGetAndEnd:0 "
      "WeightedSampleDequeueBlobs:0:1:2:3:4:5");
}

TEST(StatedEffectsTest, ObjectsThatConcurrentStepsMayUseAreStated) {
  EXPECT_EQ(
      Types([](const OpSchema& schema) {
        return Numbers([&](int i) { return schema.input_is_synchronized(i); });
      }),
      "Allgather:0 Allreduce:0 AllreduceCoalesced:0 AtomicAppend:0 AtomicFetchAdd64:0:1 "
      "AtomicFetchAdd:0:1 AtomicIter:0:1 Barrier:0 "
      "Broadcast:0 CheckAtomicBool:0 CheckCounterDone:0 CloneCommonWorld:0 CloseBlobsQueue:0 "
      "CloseRebatchingQueue:0 ComputeOffset:0 ConditionalSetAtomicBool:0 CountDown:0 CountUp:0 "
      "CreateBlobsQueueDB:0 CreateCommonWorld:0 "
      "DequeueBlobs:0 DequeueRebatchingQueue:0 EnqueueBlobs:0 EnqueueRebatchingQueue:0 "
      "GetCursorOffset:0 ImageInput:0 IndexFreeze:0 IndexGet:0 IndexLoad:0 IndexSize:0 "
      "IndexStore:0 "
      "LastNWindowCollector:3 ReadNextBatch:0 ReadRandomBatch:0 ReceiveTensor:0 Reduce:0 "
      "ReduceScatter:0 ReservoirSampling:3 ResetCounter:0 ResetCursor:0 RetrieveCount:0 "
      "SafeDequeueBlobs:0 "
      "SafeEnqueueBlobs:0 SendTensor:0 SortAndShuffle:0 StatRegistryExport:0 StatRegistryUpdate:2 "
      "StoreAdd:0 StoreGet:0 StoreSet:0 StoreWait:0 TensorProtosDBInput:0 TextFileReaderRead:0 "
      "WeightedSampleDequeueBlobs:0:1:2:3:4:5");
  EXPECT_EQ(Types([](const OpSchema& schema) {
              return Numbers([&](int i) { return schema.output_is_synchronized(i); });
            }),
            "AtomicAppend:0:1:2:3:4:5 AtomicFetchAdd64:0 AtomicFetchAdd:0 AtomicIter:0 "
            "ReservoirSampling:0:1:2:3");
}

TEST(StatedEffectsTest, OutputsThatShareMemoryAreStated) {
  EXPECT_EQ(Types([](const OpSchema& schema) -> std::string {
              const auto& pairs = schema.shared_memory();
              return pairs.empty() ? "" : ":" + absl::StrJoin(pairs, ",", absl::PairFormatter(">"));
            }),
            "Alias:0>0 AliasWithName:0>0 rnn_internal_apply_link:1>0");
}

TEST(StatedEffectsTest, EffectsBeyondBlobsAreStated) {
  EXPECT_EQ(TypesWithEffect(Effect::kOutput), "Assert: Print:");
  EXPECT_EQ(TypesWithEffect(Effect::kRandom),
            "CollectTensor: Dropout: Float16UniformFill: FloatToFusedRandRowwiseQuantized: "
            "GaussianFill: ImageInput: MSRAFill: "
            "ONNXDropout: ReservoirSampling: "
            "SparseDropoutWithReplacement: UniformFill: UniformIntFill: UniqueUniformFill: "
            "WeightedMultiSampling: WeightedSample: WeightedSampleDequeueBlobs: XavierFill:");
  EXPECT_EQ(
      TypesWithEffect(Effect::kEverything),
      "AccumulateHistogram: AveragePut: Fail: GetAllBlobNames: IncrementPut: StatRegistryExport: "
      "StatRegistryUpdate: StdDevPut: ThrowException: TimerBegin: TimerEnd: TimerGet: "
      "TimerGetAndEnd: WallClockTime:");
  EXPECT_EQ(
      TypesWithEffect(Effect::kCommunication),
      "Allgather: Allreduce: AllreduceCoalesced: Barrier: Broadcast: CloneCommonWorld: "
      "CreateCommonWorld: DestroyCommonWorld: ReceiveTensor: Reduce: ReduceScatter: SendTensor: "
      "StoreAdd: StoreGet: StoreSet: StoreWait:");
}

TEST(StatedEffectsTest, OperatorsThatWaitAreStated) {
  EXPECT_EQ(
      Types([](const OpSchema& schema) -> std::string { return schema.traits().waits ? ":" : ""; }),
      "Allgather: Allreduce: AllreduceCoalesced: Barrier: Broadcast: CloneCommonWorld: "
      "CreateCommonWorld: DequeueBlobs: DequeueRebatchingQueue: DestroyCommonWorld: EnqueueBlobs: "
      "EnqueueRebatchingQueue: ReceiveTensor: Reduce: ReduceScatter: SafeDequeueBlobs: "
      "SafeEnqueueBlobs: SendTensor: StoreAdd: StoreGet: StoreSet: StoreWait: "
      "WeightedSampleDequeueBlobs:");
  EXPECT_EQ(Types([](const OpSchema& schema) -> std::string {
              switch (schema.traits().queue_use) {
                case QueueUse::kPuts:
                  return ":puts";
                case QueueUse::kTakes:
                  return ":takes";
                case QueueUse::kCloses:
                  return ":closes";
                default:
                  return "";
              }
            }),
            "CloseBlobsQueue:closes CloseRebatchingQueue:closes DequeueBlobs:takes "
            "DequeueRebatchingQueue:takes EnqueueBlobs:puts EnqueueRebatchingQueue:puts "
            "SafeDequeueBlobs:takes SafeEnqueueBlobs:puts WeightedSampleDequeueBlobs:takes");
}

TEST(StatedEffectsTest, OperatorsThatUseUnlistedBlobsAreStated) {
  EXPECT_EQ(
      Types([](const OpSchema& schema) -> std::string {
        OperatorDef def;
        def.set_type(schema.type());
        return schema.accesses_unlisted_blobs(def) ? ":" : "";
      }),
      "PackedInt8BGRANHWCToNCHWCStylizerPreprocess: RecurrentNetwork: RecurrentNetworkBlobFetcher: "
      "RecurrentNetworkGradient:");
  EXPECT_EQ(Types([](const OpSchema& schema) -> std::string {
              return schema.memory().keeps_memory ? ":" : "";
            }),
            "Accumulate: Free: RecurrentNetwork: RecurrentNetworkBlobFetcher: "
            "RecurrentNetworkGradient: UnsafeCoalesce:");
  EXPECT_EQ(Types([](const OpSchema& schema) -> std::string {
              return schema.memory().same_blob_in_place ? ":" : "";
            }),
            "ConvFusion: SpatialBNFusion:");
  EXPECT_EQ(
      Types([](const OpSchema& schema) -> std::string {
        return schema.memory().quantized_outputs ? ":" : "";
      }),
      "Int8Add: Int8AddRelu: Int8AveragePool: Int8AveragePoolRelu: Int8ChannelShuffle: Int8Concat: "
      "Int8Conv: Int8ConvRelu: Int8ConvTranspose: Int8Dequantize: Int8FC: Int8Flatten: "
      "Int8GivenIntTensorFill: Int8GivenTensorFill: Int8LeakyRelu: Int8MaxPool: Int8MaxPoolRelu: "
      "Int8Quantize: Int8Relu: Int8Reshape: Int8ResizeNearest: Int8RoIAlign: Int8Sigmoid: "
      "Int8Slice: Int8Softmax: Int8Sum: Int8SumRelu: Int8Transpose:");
}

}  // namespace
}  // namespace caffe2rt::stated_effects_test
