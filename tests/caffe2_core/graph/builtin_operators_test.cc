// What every built-in operator type has: a schema that documents its inputs, outputs and arguments,
// shape inference, and a gradient maker. The types without shape inference or maker are listed with
// the reason.
#include "caffe2_core/graph/builtin_operators.h"

#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::builtin_operators_test {
namespace {

using Names = std::vector<std::string>;

// Types whose output shapes cannot be inferred from the shapes of their inputs.
const std::set<std::string>& WithoutInference() {
  static const std::set<std::string> types = {
      // The outputs are not tensors.
      "CollectTensor", "ConcatTensorVector", "CreateBlobsQueue", "CreateBlobsQueueDB",
      "CreateAtomicBool", "CreateCounter", "CreateDB", "CreateMap", "CreateMutex", "KeyValueToMap",
      "CreateRebatchingQueue", "CreateScope", "CreateTensorVector", "CreateTextFileReader",
      "CreateTreeCursor", "PackRecords", "CloneCommonWorld", "CreateCommonWorld",
      "DestroyCommonWorld", "FileStoreHandlerCreate", "IndexFreeze", "IndexLoad", "IntIndexCreate",
      "LongIndexCreate", "StringIndexCreate", "RecurrentNetworkBlobFetcher", "StatRegistryCreate",
      "TimerBegin",
      // The outputs are what other operators, files or other nets wrote.
      "Barrier", "IndexStore", "MapToKeyValue", "ReceiveTensor", "StoreAdd", "StoreGet",
      "DequeueBlobs", "DequeueRebatchingQueue", "Do", "EnqueueBlobs", "FeedBlob", "Free",
      "GetAllBlobNames", "Load", "ONNXWhile", "SafeDequeueBlobs", "SafeEnqueueBlobs", "Snapshot",
      "StatRegistryExport", "TensorProtosDBInput", "UnPackRecords", "WeightedSampleDequeueBlobs",
      "While",
      // The number of rows depends on the values of the inputs, or on the position of a cursor.
      "Allgather",  // on the number of ranks
      "AtomicAppend", "ComputeOffset", "GetCursorOffset", "LengthsRangeFill", "LengthsToSegmentIds",
      "LengthsToWeights", "OneHot", "Range", "ReadNextBatch", "ReadRandomBatch", "RemovePadding",
      "SampleAs", "SegmentIdsToLengths", "SegmentIdsToRanges", "SortAndShuffle",
      "TextFileReaderRead", "TrimDataset", "UnpackSegments"};
  return types;
}

// Forward types without a gradient maker, which GetGradientForOp reports.
const std::set<std::string>& WithoutMaker() {
  static const std::set<std::string> types = {
      // Graph passes make them from operators that have gradients.
      "FCFusion", "LayerNormFusion", "MultiHeadAttention", "SpatialBNFusion",
      // Caffe2 has no maker either.
      "Assert", "BatchBucketOneHot", "BRGNCHWCToPackedInt8BGRAStylizerDeprocess", "Bucketize",
      "DataCouple", "MergeDenseFeatureTensors", "NumpyTile", "ScaleBlobs",
      "SinusoidPositionEncoding", "SumInt", "UnsafeCoalesce", "CheckCounterDone",
      "C10LayerNorm_DontUseThisOpYet", "CopyFromCPUInput", "CreateMap", "GatherFused8BitRowwise",
      "Find", "GatherRanges", "Glu", "KeySplit", "KeyValueToMap", "MapToKeyValue",
      "FileStoreHandlerCreate", "IndexGet", "StoreAdd", "StoreGet", "StoreSet", "StoreWait",
      "CopyOnDeviceLike", "GatherPadding", "GetAllBlobNames", "GetCursorOffset",
      "HuffmanTreeHierarchy", "IsNaN", "LengthsToOffsets", "LengthsToRanges", "LengthsToWeights",
      "MergeDim", "Mod", "ONNXWhile", "PackedInt8BGRANHWCToNCHWCStylizerPreprocess",
      "PadEmptySamples", "ReduceTailSum", "SortAndShuffle", "SparseLengthsPositionalWeightedSum",
      "StatRegistryCreate", "StatRegistryExport", "StatRegistryUpdate", "SumReduceLike",
      "SumSqrElements", "TimerBegin", "TimerEnd", "TimerGet", "TimerGetAndEnd", "TrimDataset",
      "VariableLengthSequencePadding", "NormalizePlanarYUV", "SparseLpRegularizer",
      "WeightedMultiSampling", "AliasWithName", "AveragePut", "ByteWeightDequant",
      "ConcatBatchMatMulBatchGatherOp", "IncrementPut", "StdDevPut", "SumRelu"};
  return types;
}

// The types that run on the CPU, except those that operators use internally.
Names BuiltinTypes() {
  Names types;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    if (IsBuiltinOperator(type) && !schema->is_private()) types.push_back(type);
  }
  return types;
}

const OpSchema& SchemaOf(const std::string& type) { return *OpSchemaRegistry::Schema(type); }

// Whether each input or output that must exist has a name. Some types name repeated ones together:
// "X_0, X_1, ...".
bool AreNamed(const std::vector<OpSchema::NamedDoc>& docs, int min, int max) {
  const bool repeated = max == INT_MAX;
  return static_cast<int>(docs.size()) >= (repeated ? std::min(min, 1) : min) &&
         std::all_of(docs.begin(), docs.end(),
                     [](const OpSchema::NamedDoc& doc) { return !doc.name.empty(); });
}

bool IsGradient(const std::string& type) {
  return type.ends_with("Gradient") || type.ends_with("Grad");
}

TEST(BuiltinOperatorsTest, HaveSchemas) {
  EXPECT_GT(BuiltinTypes().size(), 500u);
  Names without;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    if (OpSchemaRegistry::Schema(type) == nullptr) without.push_back(type);
  }
  EXPECT_EQ(absl::StrJoin(without, " "), "");
}

TEST(BuiltinOperatorsTest, AreDocumented) {
  Names without;
  for (const std::string& type : BuiltinTypes()) {
    const OpSchema& schema = SchemaOf(type);
    if (schema.doc() == nullptr || schema.doc()[0] == '\0') without.push_back(type);
    for (const OpSchema::Argument& arg : schema.args()) {
      if (arg.doc.empty()) without.push_back(type + ", argument " + arg.name);
    }
    if (!AreNamed(schema.input_docs(), schema.min_input(), schema.max_input())) {
      without.push_back(type + ", inputs");
    }
    if (!AreNamed(schema.output_docs(), schema.min_output(), schema.max_output())) {
      without.push_back(type + ", outputs");
    }
  }
  EXPECT_EQ(absl::StrJoin(without, "; "), "");
}

TEST(BuiltinOperatorsTest, InferShapes) {
  Names without;
  for (const std::string& type : BuiltinTypes()) {
    const OpSchema& schema = SchemaOf(type);
    if (!schema.HasTensorInference() && schema.max_output() > 0) without.push_back(type);
  }
  const std::set<std::string> found(without.begin(), without.end());
  EXPECT_EQ(absl::StrJoin(found, " "), absl::StrJoin(WithoutInference(), " "));
}

TEST(BuiltinOperatorsTest, HaveAGradientMakerOrAReason) {
  for (const std::string& type : BuiltinTypes()) {
    const bool has = GradientRegistry()->Has(type) || NetGradientRegistry()->Has(type);
    EXPECT_TRUE(has || IsGradient(type) || WithoutMaker().contains(type))
        << type << " has neither a gradient maker nor a reason in this test";
  }
  for (const std::string& type : WithoutMaker()) {
    EXPECT_FALSE(GradientRegistry()->Has(type)) << type << " has a gradient maker";
  }
}

}  // namespace
}  // namespace caffe2rt::builtin_operators_test
