// The names of inputs and outputs by which documents, drawings and messages call them, of operators that move, choose,
// reduce and fill elements, of updates, losses, sequences and states. Where the original's documents name an operand,
// it is the same one here.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test::operand_names_test {
namespace {

std::string NamesOfOperands(const std::vector<OpSchema::NamedDoc>& docs) {
  return absl::StrJoin(docs, " | ", [](std::string* text, const OpSchema::NamedDoc& doc) {
    text->append(doc.name);
  });
}

// Each row is "TYPE: INPUT | INPUT > OUTPUT | OUTPUT".
void ExpectOperandNames(const std::vector<std::string>& rows) {
  EnsureBuiltinOperators();
  for (const std::string& row : rows) {
    const std::string type = row.substr(0, row.find(':'));
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr) << type;
    const std::string inputs = NamesOfOperands(schema->input_docs());
    const std::string outputs = NamesOfOperands(schema->output_docs());
    EXPECT_EQ(type + ":" + (inputs.empty() ? "" : " ") + inputs + " >" +
                  (outputs.empty() ? "" : " ") + outputs,
              row);
  }
}

TEST(OperandNamesTest, OfOperatorsThatMoveElements) {
  ExpectOperandNames({
      "BatchGather: DATA | INDICES > OUTPUT",
      "BatchGatherGradient: DATA | INDICES | OUTPUT_grad > DATA_grad",
      "BitCast: X > Y",
      "CenterCropPad: X | shape > Y",
      "Concat: X1, X2, ... > concat_result | split_info",
      "CopyRowsToTensor: input_tensor | indices | row > output_tensor",
      "CopyRowsToTensorGradient: doutput > dinput",
      "DepthConcat: X1, X2, ... > concat_result | split_info",
      "DepthSplit: input | split > [output_0, output_1, ...]",
      "DepthToSpace: X > Y",
      "EnsureDense: input > output",
      "Expand: X | shape > Y",
      "ExpandDims: data > expanded",
      "ExpandGradient: dY | X > dX",
      "Flatten: input > output",
      "FlattenToVec: input > output",
      "Gather: DATA | INDICES > OUTPUT",
      "GatherElements: data | indices > Y",
      "GatherElementsGradient: data | indices | dY > dX",
      "GatherND: data | indices > Y",
      "MergeDim: data > reshaped",
      "NCHW2NHWC: data > output",
      "NHWC2NCHW: data > output",
      "ONNXCol2Im: columns | image_shape | block_shape > Y",
      "ONNXExpand: X | shape > Y",
      "ONNXSlice: X | starts | ends | axes | steps > Y",
      "ONNXSliceGradient: X | starts | ends | axes | steps | dY > dX",
      "ONNXSqueeze: X | axes > Y",
      "ONNXTile: X | repeats > Y",
      "Pad: X | pads | value | axes > Y",
      "PrependDim: data > reshaped",
      "Reshape: data | new_shape > reshaped | old_shape",
      "ResizeLike: data | shape_tensor > output",
      "ReverseSequence: X | lengths > Y",
      "ScatterAssign: DATA | INDICES | SLICES > DATA",
      "ScatterElements: data | indices | updates > Y",
      "ScatterND: data | indices | updates > Y",
      "ScatterWeightedSum: X_0 | Weight_0 | INDICES | X_1 | Weight_1 > X_0",
      "Shape: X > shape",
      "Size: X > size",
      "Slice: X | starts | ends > Y",
      "SliceGradient: X | starts | ends | dY > dX",
      "SpaceToDepth: X > Y",
      "SparseToDense: indices | values | data_to_infer_dim > output",
      "SparseToDenseMask: indices | values | default_value | lengths > output | presence_mask",
      "SparseToDenseMaskGradient: indices | d_output | lengths > d_values",
      "Split: input | split > [output_0, output_1, ...]",
      "SplitByLengths: input | lengths > [output_0, output_1, ...]",
      "Squeeze: data > squeezed",
      "TensorScatter: cache | update | start > Y",
      "Tile: X | tiles | axis > Y",
      "TileGradient: dY | tiles | axis > dX",
      "Transpose: X > Y",
      "Trilu: X | k > Y",
      "Unsqueeze: X | axes > Y",
  });
}

TEST(OperandNamesTest, OfChoices) {
  ExpectOperandNames({
      "Accuracy: predictions | labels > accuracy",
      "ArgMax: X > Indices",
      "ArgMin: X > Indices",
      "BatchBucketOneHot: data | lengths | boundaries > output",
      "BatchOneHot: data | lengths | values > output",
      "BooleanMask: data | mask > masked_data | masked_indices",
      "BooleanMaskGradient: mask | dmasked_data > ddata",
      "BooleanUnmask: mask_0, values_0, mask_1, ... > unmasked_data",
      "Compress: X | condition > Y",
      "FindDuplicateElements: data > indices",
      "HasElements: X1, X2, ... > has_elements",
      "IndexHash: Indices > HashedIndices",
      "IsEmpty: tensor > is_empty",
      "KeySplit: keys > positions_0, positions_1, ...",
      "MultiClassAccuracy: prediction | labels > accuracies | amounts",
      "NonZero: X > indices",
      "ONNXOneHot: indices | depth | values > Y",
      "ONNXTopK: X | k > values | indices",
      "ONNXUnique: X > Y | indices | inverse | counts",
      "ONNXWhere: condition | X | Y > Z",
      "OneHot: indices | index_size_tensor > one_hots",
      "Print: tensor >",
      "SegmentOneHot: lengths | indices | index_size_tensor > one_hots",
      "StringEndsWith: strings > bools",
      "StringEquals: strings > bools",
      "StringPrefix: strings > prefixes",
      "StringStartsWith: strings > bools",
      "StringSuffix: strings > suffixes",
      "Summarize: data > summary",
      "TfIdfVectorizer: X > Y",
      "TopK: X | k > Values | Indices | Flattened indices",
      "TopKGradient: dY | Indices | X > dX",
  });
}

TEST(OperandNamesTest, OfSegments) {
  ExpectOperandNames({
      "AccumulateHistogram: X > CurHist | AccHist",
      "LengthsIndicesInGradientMeanGradient: SEGMENT_GRADS | LENGTHS | INDICES > DATA_grad",
      "LengthsIndicesInGradientSumGradient: SEGMENT_GRADS | LENGTHS | INDICES > DATA_grad",
      "LengthsMax: DATA | LENGTHS > OUTPUT",
      "LengthsMaxWithMainInputAndForwardOutputGradient: OUTPUT | SEGMENT_GRADS | LENGTHS | DATA > "
      "DATA_grad",
      "LengthsMean: DATA | LENGTHS > OUTPUT",
      "LengthsMeanGradient: SEGMENT_GRADS | LENGTHS > DATA_grad",
      "LengthsSum: DATA | LENGTHS > OUTPUT",
      "LengthsSumGradient: SEGMENT_GRADS | LENGTHS > DATA_grad",
      "LengthsWeightedSum: DATA | SCALARS | LENGTHS > OUTPUT",
      "LengthsWeightedSumGradient: SCALARS | SEGMENT_GRADS | LENGTHS > DATA_grad",
      "LengthsWeightedSumWithMainInputGradient: SCALARS | SEGMENT_GRADS | LENGTHS | DATA > "
      "DATA_grad | SCALARS_grad",
      "SortedSegmentMean: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentMeanGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SortedSegmentRangeLogMeanExp: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentRangeLogMeanExpGradient: DATA | OUTPUT | SEGMENT_GRADS | SEGMENT_IDS > "
      "DATA_grad",
      "SortedSegmentRangeLogSumExp: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentRangeLogSumExpGradient: DATA | OUTPUT | SEGMENT_GRADS | SEGMENT_IDS > "
      "DATA_grad",
      "SortedSegmentRangeMax: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentRangeMaxGradient: DATA | OUTPUT | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SortedSegmentRangeMean: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentRangeMeanGradient: DATA | OUTPUT | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SortedSegmentRangeSum: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentRangeSumGradient: DATA | OUTPUT | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SortedSegmentSum: DATA | SEGMENT_IDS > OUTPUT",
      "SortedSegmentSumGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SortedSegmentWeightedSum: DATA | SCALARS | SEGMENT_IDS > OUTPUT",
      "SortedSegmentWeightedSumGradient: SCALARS | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseLengthsIndicesInGradientMeanGradient: SEGMENT_GRADS | LENGTHS | INDICES > DATA_grad",
      "SparseLengthsIndicesInGradientSumGradient: SEGMENT_GRADS | LENGTHS | INDICES > DATA_grad",
      "SparseLengthsIndicesInGradientWeightedSumGradient: SCALARS | SEGMENT_GRADS | LENGTHS | "
      "INDICES > DATA_grad",
      "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient: SCALARS | SEGMENT_GRADS | "
      "LENGTHS | DATA | INDICES > DATA_grad | SCALARS_grad",
      "SparseLengthsMean: DATA | INDICES | LENGTHS > OUTPUT",
      "SparseLengthsMeanGradient: SEGMENT_GRADS | LENGTHS > DATA_grad",
      "SparseLengthsPositionalWeightedSum: DATA | WEIGHT | INDICES | LENGTHS > OUTPUT",
      "SparseLengthsSum: DATA | INDICES | LENGTHS > OUTPUT",
      "SparseLengthsSumGradient: SEGMENT_GRADS | LENGTHS > DATA_grad",
      "SparseLengthsWeightedSum: DATA | SCALARS | INDICES | LENGTHS > OUTPUT",
      "SparseLengthsWeightedSumGradient: SCALARS | SEGMENT_GRADS | LENGTHS > DATA_grad",
      "SparseLengthsWeightedSumWithMainInputGradient: SCALARS | SEGMENT_GRADS | LENGTHS | DATA | "
      "INDICES > DATA_grad | SCALARS_grad",
      "SparseSortedSegmentMean: DATA | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseSortedSegmentMeanGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseSortedSegmentSum: DATA | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseSortedSegmentSumGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseSortedSegmentWeightedSum: DATA | SCALARS | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseSortedSegmentWeightedSumGradient: SCALARS | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseUnsortedSegmentMean: DATA | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseUnsortedSegmentMeanGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseUnsortedSegmentSum: DATA | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseUnsortedSegmentSumGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "SparseUnsortedSegmentWeightedSum: DATA | SCALARS | INDICES | SEGMENT_IDS > OUTPUT",
      "SparseUnsortedSegmentWeightedSumGradient: SCALARS | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "TTSparseLengthsSum: core0 | core1 | core2 | index | lengths > OUTPUT | core0_output | "
      "core1_output | indices",
      "TTSparseLengthsSumGradient: core0 | core1 | core2 | lengths | core0_output | core1_output | "
      "indices | dOUTPUT > dcore0 | dcore1 | dcore2",
      "Unique: indices > unique_indices | remapping",
      "UnsortedSegmentMean: DATA | SEGMENT_IDS > OUTPUT",
      "UnsortedSegmentMeanGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "UnsortedSegmentSum: DATA | SEGMENT_IDS > OUTPUT",
      "UnsortedSegmentSumGradient: SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
      "UnsortedSegmentWeightedSum: DATA | SCALARS | SEGMENT_IDS > OUTPUT",
      "UnsortedSegmentWeightedSumGradient: SCALARS | SEGMENT_GRADS | SEGMENT_IDS > DATA_grad",
  });
}

TEST(OperandNamesTest, OfReductions) {
  ExpectOperandNames({
      "ColwiseMax: X > Y",
      "ColwiseMaxGradient: X | Y | dY > dX",
      "ReduceBackMax: X | lengths > Y",
      "ReduceBackMaxGradient: dY | X | Y | lengths > dX",
      "ReduceBackMean: X | lengths > Y",
      "ReduceBackMeanGradient: dY | X | lengths > dX",
      "ReduceBackSum: X | lengths > Y",
      "ReduceBackSumGradient: dY | X | lengths > dX",
      "ReduceFrontMax: X | lengths > Y",
      "ReduceFrontMaxGradient: dY | X | Y | lengths > dX",
      "ReduceFrontMean: X | lengths > Y",
      "ReduceFrontMeanGradient: dY | X | lengths > dX",
      "ReduceFrontSum: X | lengths > Y",
      "ReduceFrontSumGradient: dY | X | lengths > dX",
      "ReduceL1: X | axes > Y",
      "ReduceL1Gradient: dY | X | Y > dX",
      "ReduceL2: X | axes > Y",
      "ReduceL2Gradient: dY | X | Y > dX",
      "ReduceLogSum: X | axes > Y",
      "ReduceLogSumExp: X | axes > Y",
      "ReduceMax: X | axes > Y",
      "ReduceMaxGradient: dY | X | Y > dX",
      "ReduceMean: X | axes > Y",
      "ReduceMeanGradient: dY | X | Y > dX",
      "ReduceMin: X | axes > Y",
      "ReduceMinGradient: dY | X | Y > dX",
      "ReduceProd: X | axes > Y",
      "ReduceSum: X | axes > Y",
      "ReduceSumGradient: dY | X | Y > dX",
      "ReduceSumSquare: X | axes > Y",
      "ReduceTailSum: X > Y",
      "RowwiseMax: X > Y",
      "RowwiseMaxGradient: X | Y | dY > dX",
      "SumElements: X > sum",
      "SumElementsGradient: X | dY > dX",
      "SumElementsInt: X > sum",
      "SumReduceLike: A | B > Y",
      "SumSqrElements: X > sum",
  });
}

TEST(OperandNamesTest, OfNumbers) {
  ExpectOperandNames({
      "BitShift: X | S > Y",
      "CumProd: X | axis > Y",
      "CumSum: X | axis > Y",
      "Det: X > Y",
      "Einsum: X0, X1, ... > Y",
      "Hardmax: X > Y",
      "ONNXArgMax: X > Indices",
      "ONNXArgMin: X > Indices",
      "ONNXClip: X | min | max > Y",
      "ONNXDropout: X | ratio | training_mode > Y | mask",
      "ONNXMatMul: A | B > Y",
      "ONNXMax: X0, X1, ... > Y",
      "ONNXMin: X0, X1, ... > Y",
      "ONNXMod: A | B > Y",
      "ONNXPow: A | B > Y",
  });
}

TEST(OperandNamesTest, OfFills) {
  ExpectOperandNames({
      "ConstantFill: input | value > output",
      "DiagonalFill: input > output",
      "EyeLike: X > Y",
      "Float16UniformFill: > output",
      "GaussianFill: input > output",
      "GivenTensorBoolFill: input > output",
      "GivenTensorByteStringToUInt8Fill: input > output",
      "GivenTensorDoubleFill: input > output",
      "GivenTensorFill: input > output",
      "GivenTensorInt16Fill: input > output",
      "GivenTensorInt64Fill: input > output",
      "GivenTensorIntFill: input > output",
      "GivenTensorStringFill: input > output",
      "LengthsRangeFill: lengths > range_sequence",
      "MSRAFill: input > output",
      "ONNXRange: start | limit | delta > Y",
      "Range: start | stop | step > output",
      "RangeFill: input > output",
      "UniformFill: input | min | max > output",
      "UniformIntFill: input | min | max > output",
      "UniqueUniformFill: input | avoid > output",
      "XavierFill: input > output",
  });
}

TEST(OperandNamesTest, OfUpdates) {
  ExpectOperandNames({
      "Adadelta: param | moment | moment_delta | grad | lr > param | moment | moment_delta",
      "Adagrad: param | moment | grad | lr > param | moment | effective_lr | update",
      "Adam: param | moment_1 | moment_2 | grad | lr | iter > param | moment_1 | moment_2 | step",
      "AtomicIter: mutex | iter > iter",
      "ClipTensorByScaling: input_tensor | val | additional_threshold > clipped",
      "CreateMutex: > mutex",
      "EnsureClipped: param | indices | grad > output_param",
      "FP16MomentumSGDUpdate: grad | moment | lr | param > step | moment | param",
      "FP32MomentumSGDUpdate: grad | moment | lr | param > step | moment | param",
      "Ftrl: var | nz | grad | alpha > var | nz",
      "GFtrl: var | nz | grad | alpha > var | nz",
      "Iter: iter > iter",
      "Lars: X | dX | wd | trust | lr_max > lr_rescaled",
      "LearningRate: iter > lr",
      "LearningRateAdaption: lr | grad | effgrad > lr",
      "MomentumSGD: grad | moment | lr > step | moment",
      "MomentumSGDUpdate: grad | moment | lr | param > step | moment | param",
      "RmsProp: grad | mean_squares | moment | lr > step | mean_squares | moment",
      "RowWiseCounter: prev_iter | update_counter | indices | iter > prev_iter | update_counter",
      "RowWiseSparseAdagrad: param | moment | indices | grad | lr > param | moment",
      "RowWiseSparseAdam: param | moment_1 | moment_2 | indices | grad | lr | iter > param | "
      "moment_1 | moment_2 | step",
      "SparseAdadelta: param | moment | moment_delta | indices | grad | lr > param | moment | "
      "moment_delta",
      "SparseAdagrad: param | moment | indices | grad | lr > param | moment",
      "SparseAdam: param | moment_1 | moment_2 | indices | grad | lr | iter > param | moment_1 | "
      "moment_2 | step",
      "SparseFtrl: var | nz | indices | grad | alpha > var | nz",
      "SparseMomentumSGDUpdate: grad | moment | lr | param | indices > step | moment | param",
      "SparseStorm: param | moment | grad_sq_sum | grad | indices | lr > param | moment | "
      "grad_sq_sum",
      "SparseWngrad: param | seq_b | indices | grad | lr > param | seq_b",
      "Storm: param | moment | grad_sq_sum | grad | lr > param | moment | grad_sq_sum",
      "WeightScale: w | iter > nw",
      "Wngrad: param | seq_b | grad | lr > param | seq_b | effective_lr | update",
      "YellowFin: param | moment | lr | mu | curv_win | g_avg | g2_avg | scalars_memory | grad | "
      "iter > param | moment | lr | mu | curv_win | g_avg | g2_avg | scalars_memory",
  });
}

TEST(OperandNamesTest, OfLosses) {
  ExpectOperandNames({
      "AveragedLoss: X > Y",
      "AveragedLossGradient: X | dY > dX",
      "CosineSimilarity: X | Y > Z",
      "CosineSimilarityGradient: X | Y | dZ > dX | dY",
      "CrossEntropy: X | label > Y",
      "CrossEntropyGradient: X | label | dY > dX",
      "DotProduct: X | Y > Z",
      "DotProductGradient: X | Y | dZ > dX | dY",
      "DotProductWithPadding: X | Y > Z",
      "DotProductWithPaddingGradient: X | Y | dZ > dX | dY",
      "L1Distance: X | Y > Z",
      "L1DistanceGradient: X | Y | dZ > dX | dY",
      "LabelCrossEntropy: X | label > Y",
      "LabelCrossEntropyGradient: X | label | dY > dX",
      "MakeTwoClass: X > Y",
      "MakeTwoClassGradient: dY > dX",
      "MarginRankingCriterion: X1 | X2 | Y > loss",
      "MarginRankingCriterionGradient: X1 | X2 | Y | dloss > dX1 | dX2",
      "Perplexity: probabilities > output",
      "SigmoidCrossEntropyWithLogits: logits | targets > xentropy",
      "SigmoidCrossEntropyWithLogitsGradient: dY | logits | targets > dX",
      "SoftmaxWithLoss: X | labels | weights > softmax | loss",
      "SoftmaxWithLossGradient: X | labels | weights | softmax | dloss > dX",
      "SpatialSoftmaxWithLoss: X | labels | weights > softmax | loss",
      "SpatialSoftmaxWithLossGradient: X | labels | weights | softmax | dloss > dX",
      "SquaredL2Distance: X | Y > Z",
      "SquaredL2DistanceGradient: X | Y | dZ > dX | dY",
      "WeightedSigmoidCrossEntropyWithLogits: logits | targets | weights > xentropy",
      "WeightedSigmoidCrossEntropyWithLogitsGradient: dY | logits | targets | weights > dX",
  });
}

TEST(OperandNamesTest, OfSequences) {
  ExpectOperandNames({
      "AddPadding: data_in | lengths | start_padding | end_padding > data_out | lengths_out",
      "GatherPadding: data_in | lengths > padding_sum | end_padding_sum",
      "LengthsGather: ITEMS | LENGTHS | INDICES > OUTPUT",
      "LengthsPad: DATA | LENGTHS > OUTPUT",
      "LengthsTile: data | lengths > output",
      "LengthsToOffsets: lengths > offsets",
      "LengthsToRanges: lengths > ranges",
      "LengthsToSegmentIds: lengths > segment_ids",
      "LengthsToShape: lengths > shape",
      "LengthsToWeights: lengths > weights",
      "MergeIdLists: lengths_0, values_0, lengths_1, ... > merged_lengths | merged_values",
      "PackSegments: lengths | tensor > packed_tensor | presence_mask",
      "RemovePadding: data_in | lengths > data_out | lengths_out",
      "ReversePackedSegs: data | lengths > reversed data",
      "SegmentIdsToLengths: segment_ids | data > lengths",
      "SegmentIdsToRanges: segment_ids | data > ranges",
      "SequenceMask: input | sequence_lengths > masked_tensor",
      "SparseDropoutWithReplacement: X | Lengths > Y | OutputLengths",
      "UnpackSegments: lengths | packed_tensor > tensor",
      "VariableLengthSequencePadding: X | lengths > Y",
  });
}

TEST(OperandNamesTest, OfStates) {
  ExpectOperandNames({
      "CheckCounterDone: counter > done",
      "CountDown: counter > done",
      "CountUp: counter > previous_count",
      "CreateCounter: > counter",
      "CreateMap: > map blob",
      "FeedBlob: > blob",
      "Free: X1, X2, ... > X1, X2, ...",
      "GetAllBlobNames: > blob_names",
      "GetGPUMemoryUsage: > usage",
      "IndexFreeze: handle > handle",
      "IndexGet: handle | keys > indices",
      "IndexLoad: handle | items > handle",
      "IndexSize: handle > items",
      "IndexStore: handle > items",
      "IntIndexCreate: > handle",
      "KeyValueToMap: key blob | value blob > map blob",
      "LongIndexCreate: > handle",
      "MapToKeyValue: map blob > key blob | value blob",
      "ResetCounter: counter > previous_value",
      "RetrieveCount: counter > count",
      "StatRegistryCreate: > handle",
      "StatRegistryExport: handle > keys | values | timestamps",
      "StatRegistryUpdate: keys | values | handle >",
      "StringIndexCreate: > handle",
      "TimerBegin: > timer",
      "TimerEnd: timer >",
      "TimerGet: timer > nanos",
      "TimerGetAndEnd: timer > nanos",
  });
}

TEST(OperandNamesTest, OfFunctionsOfSeveralElements) {
  ExpectOperandNames({
      "Add: A | B > Y",
      "AddGradient: dY | A | B > dA | dB",
      "Cast: X > Y",
      "CbrtGradient: dY | Y > dX",
      "ClipGradient: Y | dY > dX",
      "Conditional: C | X | Z > Y",
      "CopyOnDeviceLike: X | like > Y",
      "CoshGradient: dY | X > dX",
      "CubeGradient: dY | X > dX",
      "DivGradient: dY | A | B | Y > dA | dB",
      "Dropout: X > Y | mask",
      "DropoutGrad: dY | mask > dX",
      "ElementwiseLinear: X | w | b > Y",
      "ElementwiseLinearGradient: dY | X | w > dX | dw | db",
      "EnforceFinite: X >",
      "GeluGradient: dY | X > dX",
      "IsInf: X > Y",
      "LeakyReluGradient: Y | dY > dX",
      "MaxGradient: Y | dY | X0, X1, ... > dX0, dX1, ...",
      "MeanGradient: dY > dX0, dX1, ...",
      "MinGradient: Y | dY | X0, X1, ... > dX0, dX1, ...",
      "MishGradient: X | Y | dY > dX",
      "MulGradient: dY | A | B > dA | dB",
      "NanCheck: X > Y",
      "PRelu: X | W > Y",
      "PReluGradient: Y | dY | X | W > dX | dW",
      "Pow: A | B > Y",
      "RsqrtGradient: dY | Y > dX",
      "SoftsignGradient: X | dY > dX",
      "SubGradient: dY | A | B > dA | dB",
      "Sum: X0, X1, ... > Y",
      "SwishGradient: X | Y | dY > dX",
      "WeightedSum: X0 | W0 | X1, W1, ... > Y",
      "WeightedSumGradient: dY | X0, W0, X1, W1, ... > dX0, dX1, ... | dW0, dW1, ...",
      "Where: C | X | Z > Y",
      "ZeroGradient: X >",
  });
}

}  // namespace
}  // namespace caffe2rt::test::operand_names_test
