// The schemas of the built-in operators, compared with what the original's registry answered when it was asked
// (reference/caffe2_registry_1_8.tsv: numbers of inputs and outputs, operands that may or must be in place, whether there
// is a gradient) and with the defaults and names that the original's sources state (reference/caffe2_operators.tsv).
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::schema_facts_test {
namespace {

constexpr char kRegistry[] = "reference/caffe2_registry_1_8.tsv";
constexpr char kOperators[] = "reference/caffe2_operators.tsv";
constexpr int kProbed = 10;  // numbers of inputs and outputs from 0 to 10 were tried

using Row = std::map<std::string, std::string>;

// The rows of a table whose first line names its columns.
std::vector<Row> ReadTable(const std::string& file) {
  std::ifstream in(SharedPath(file));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = absl::StrSplit(line, '\t');
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < std::min(names.size(), cells.size()); ++i) row[names[i]] = cells[i];
  }
  return rows;
}

// "2,3" or "1..inf", as the numbers from 0 to kProbed.
std::vector<int> Numbers(const std::string& text) {
  std::vector<int> numbers;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    const std::vector<std::string> ends = absl::StrSplit(part, "..");
    int first = 0, last = kProbed;
    if (!absl::SimpleAtoi(ends.front(), &first)) continue;
    if (ends.back() != "inf" && !absl::SimpleAtoi(ends.back(), &last)) continue;
    for (int n = first; n <= std::min(last, kProbed); ++n) numbers.push_back(n);
  }
  return numbers;
}

template <class Allowed>
std::vector<int> Accepted(const Allowed& allowed) {
  std::vector<int> numbers;
  for (int n = 0; n <= kProbed; ++n) {
    if (allowed(n)) numbers.push_back(n);
  }
  return numbers;
}

// The pairs of an input and an output that `recorded` ("0>0,1>0") or `allowed` names, for the numbers of inputs and
// outputs with which the original was asked ("3>2").
struct InplacePairs {
  InplacePairs(const std::string& probed, const std::string& recorded) {
    const std::vector<std::string> sizes = absl::StrSplit(probed, '>');
    known = absl::SimpleAtoi(sizes.front(), &inputs) && absl::SimpleAtoi(sizes.back(), &outputs);
    const std::vector<std::string> pairs = absl::StrSplit(recorded, ',');
    for (const std::string& pair : pairs) {
      const std::vector<std::string> ends = absl::StrSplit(pair, '>');
      int i = 0, k = 0;
      if (!absl::SimpleAtoi(ends.front(), &i) || !absl::SimpleAtoi(ends.back(), &k)) continue;
      if (i < inputs && k < outputs) want.insert({i, k});
    }
  }
  template <class Allowed>
  std::set<std::pair<int, int>> Of(const Allowed& allowed) const {
    std::set<std::pair<int, int>> pairs;
    for (int i = 0; i < inputs; ++i) {
      for (int k = 0; k < outputs; ++k) {
        if (allowed(i, k)) pairs.insert({i, k});
      }
    }
    return pairs;
  }

  bool known = false;
  int inputs = 0, outputs = 0;
  std::set<std::pair<int, int>> want;
};

// Types whose schema accepts other numbers of operands than the original's.
const std::set<std::string>& OtherNumbers() {
  static const std::set<std::string> types = {
      // The original's schema accepts any number, or more than its operator can compute.
      "AffineChannelGradient", "BooleanUnmask", "MergeIdLists", "SparseDropoutWithReplacement",
      "ColwiseMaxGradient", "RowwiseMaxGradient", "Int8Conv", "Int8ConvRelu", "Int8ConvTranspose",
      "Int8Slice", "Int8Sum", "Int8SumRelu", "MaxPoolWithIndexGradient", "RoIPool",
      "MergeMultiScalarFeatureTensors", "MergeSingleListFeatureTensors",
      "MergeSingleScalarFeatureTensors", "NumpyTile", "ScatterWeightedSum", "SliceGradient",
      "SoftmaxWithLoss", "SoftmaxWithLossGradient", "SpatialSoftmaxWithLossGradient", "WeightedSum",
      "WeightedSumGradient",
      // The axes may be an input, as in ONNX.
      "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum",
      // The library collects nothing, too.
      "CollectTensor",
      // The original has no schema of it.
      "C10LayerNorm_DontUseThisOpYet"};
  return types;
}

// Types that allow other operands in place than the original.
const std::set<std::string>& OtherInplace() {
  static const std::set<std::string> types = {
      // The original enforces them; collectives also write to other blobs.
      "Allreduce", "Broadcast", "NCCLBroadcast",
      // The original scales an input that an earlier output has overwritten.
      "ScaleBlobs"};
  return types;
}

// The rows of types that are built in, without those of an engine, and their schemas.
template <class Check>
int ForEachKnownType(const std::string& file, const std::string& column, const Check& check) {
  int count = 0;
  for (const Row& row : ReadTable(file)) {
    const auto engine = row.find("engine");
    if (engine != row.end() && engine->second != "-") continue;
    const OpSchema* const schema = OpSchemaRegistry::Schema(row.at(column));
    if (schema == nullptr) continue;
    ++count;
    check(row, *schema);
  }
  return count;
}

std::string Text(const std::set<std::pair<int, int>>& pairs) {
  return absl::StrJoin(pairs, ",", absl::PairFormatter(">"));
}

TEST(SchemaFactsTest, NumbersOfOperandsAreTheOriginals) {
  SKIP_WITHOUT_SHARED(kRegistry);
  const int count =
      ForEachKnownType(kRegistry, "operator", [](const Row& row, const OpSchema& schema) {
        if (row.at("inputs_allowed") == "?" || OtherNumbers().contains(schema.type())) return;
        EXPECT_EQ(Accepted([&](int n) {
                    return n >= schema.min_input() && n <= schema.max_input() &&
                           schema.num_inputs_allowed(n);
                  }),
                  Numbers(row.at("inputs_allowed")))
            << schema.type();
        EXPECT_EQ(Accepted([&](int n) {
                    return n >= schema.min_output() && n <= schema.max_output() &&
                           schema.num_outputs_allowed(n);
                  }),
                  Numbers(row.at("outputs_allowed")))
            << schema.type();
      });
  EXPECT_GT(count, 500);
}

TEST(SchemaFactsTest, OperandsInPlaceAreTheOriginals) {
  SKIP_WITHOUT_SHARED(kRegistry);
  ForEachKnownType(kRegistry, "operator", [](const Row& row, const OpSchema& schema) {
    if (OtherInplace().contains(schema.type())) return;
    const InplacePairs allowed(row.at("probed_with"), row.at("inplace_allowed"));
    if (!allowed.known) return;
    const InplacePairs enforced(row.at("probed_with"), row.at("inplace_enforced"));
    EXPECT_EQ(Text(allowed.Of([&](int i, int k) { return schema.inplace_allowed(i, k); })),
              Text(allowed.want))
        << schema.type();
    EXPECT_EQ(Text(enforced.Of([&](int i, int k) { return schema.inplace_enforced(i, k); })),
              Text(enforced.want))
        << schema.type();
  });
}

TEST(SchemaFactsTest, GradientsExistWhereTheOriginalHasOne) {
  SKIP_WITHOUT_SHARED(kRegistry);
  ForEachKnownType(kRegistry, "operator", [](const Row& row, const OpSchema& schema) {
    const bool registered =
        GradientRegistry()->Has(schema.type()) || NetGradientRegistry()->Has(schema.type());
    const std::string& gradient = row.at("gradient");
    if (schema.type() == "Python") return;  // the module of Python registers it
    if (gradient == "yes" || gradient == "none" || gradient == "not-differentiable") {
      EXPECT_TRUE(registered) << schema.type() << ": " << gradient;
    }
  });
}

// The value of a default as the original's source writes it, as text of a number or a string; empty if it is an
// expression.
std::string PlainDefault(std::string text) {
  if (text.size() > 1 && text.front() == '"') return text.substr(1, text.size() - 2);
  static const std::map<std::string, std::string> constants = {{"true", "1"},
                                                               {"false", "0"},
                                                               {"LegacyPadding::NOTSET", "0"},
                                                               {"TensorProto_DataType_FLOAT", "1"},
                                                               {"TensorProto_DataType_INT32", "2"},
                                                               {"1.0 / 16", "0.0625"}};
  if (const auto found = constants.find(text); found != constants.end()) return found->second;
  if (text.ends_with('f')) text.pop_back();
  double number = 0;
  return absl::SimpleAtod(text, &number) ? text : "";
}

// Whether the library states another default on purpose.
bool HasOtherDefault(const std::string& type, const std::string& argument) {
  static const std::set<std::pair<std::string, std::string>> others = {
      // 0 means no limit there if the argument is absent.
      {"Clip", "min"},
      {"Clip", "max"},
      {"ClipGradient", "min"},
      {"ClipGradient", "max"},
      // -1 means the dimension of the channels there.
      {"Concat", "axis"},
      {"DepthConcat", "axis"},
      {"Split", "axis"},
      {"DepthSplit", "axis"},
      // Has no effect.
      {"LayerNormGradient", "epsilon"}};
  return others.contains({type, argument});
}

bool AreEqual(const std::string& a, const std::string& b) {
  float x = 0, y = 0;
  return a == b || (absl::SimpleAtof(a, &x) && absl::SimpleAtof(b, &y) && x == y);
}

TEST(SchemaFactsTest, DefaultsOfArgumentsAreTheOriginals) {
  SKIP_WITHOUT_SHARED(kOperators);
  int compared = 0;
  ForEachKnownType(kOperators, "name", [&](const Row& row, const OpSchema& schema) {
    const std::vector<std::string> reads = absl::StrSplit(row.at("args_read_by_code"), " | ");
    for (const std::string& read : reads) {
      for (const OpSchema::Argument& argument : schema.args()) {
        const size_t equals = read.find('=');
        if (!read.starts_with(argument.name + ":") || equals == std::string::npos) continue;
        std::string want = PlainDefault(read.substr(equals + 1));
        if (argument.default_value.empty() || want.empty()) continue;
        if (HasOtherDefault(schema.type(), argument.name)) continue;
        // Where the original reads 0, it goes on with 1.
        if (argument.name.starts_with("stride") || argument.name.starts_with("dilation"))
          want = "1";
        ++compared;
        EXPECT_TRUE(AreEqual(argument.default_value, want))
            << "argument " << argument.name << " of " << schema.type() << " is "
            << argument.default_value << ", want " << want;
      }
    }
  });
  EXPECT_GT(compared, 1000);
}

// Types of which an operand has another name on purpose: where the original says in other words what it is. It has no
// name for the first input of LC.
bool HasOtherNames(const std::string& type) {
  static const std::set<std::string> types = {"Adagrad",
                                              "Adam",
                                              "AffineChannelGradient",
                                              "CollectAndDistributeFpnRpnProposals",
                                              "ComputeOffset",
                                              "ConcatTensorVector",
                                              "Conditional",
                                              "CopyOnDeviceLike",
                                              "CreateMutex",
                                              "DequeueRebatchingQueue",
                                              "Fused8BitRowwiseQuantizedToFloat",
                                              "GroupSpatialSoftmaxGradient",
                                              "ImageInput",
                                              "IntIndexCreate",
                                              "LC",
                                              "LC1D",
                                              "LC2D",
                                              "LC3D",
                                              "Lars",
                                              "LearningRate",
                                              "LengthsMaxWithMainInputAndForwardOutputGradient",
                                              "LengthsTile",
                                              "LengthsToWeights",
                                              "LengthsWeightedSumWithMainInputGradient",
                                              "LongIndexCreate",
                                              "ONNXWhile",
                                              "PRelu",
                                              "PSRoIPool",
                                              "PSRoIPoolGradient",
                                              "PackRecords",
                                              "Pow",
                                              "ReadRandomBatch",
                                              "RoIPool",
                                              "RowWiseSparseAdagrad",
                                              "RowWiseSparseAdam",
                                              "SegmentIdsToLengths",
                                              "SegmentIdsToRanges",
                                              "Size",
                                              "SoftmaxWithLoss",
                                              "SoftsignGradient",
                                              "SortedSegmentRangeLogMeanExpGradient",
                                              "SortedSegmentRangeLogSumExpGradient",
                                              "SortedSegmentRangeMaxGradient",
                                              "SortedSegmentRangeMeanGradient",
                                              "SortedSegmentRangeSumGradient",
                                              "SparseAdagrad",
                                              "SparseAdam",
                                              "SparseLengthsPositionalWeightedSum",
                                              "SparseLengthsWeightedSumFused8BitRowwise",
                                              "SparseLengthsWeightedSumWithMainInputGradient",
                                              "SparseMomentumSGDUpdate",
                                              "SpatialSoftmaxWithLoss",
                                              "Sum",
                                              "Summarize",
                                              "TensorProtosDBInput",
                                              "TensorVectorSize",
                                              "TopK",
                                              "UnPackRecords",
                                              "UniformFill",
                                              "UnpackSegments",
                                              "WeightedSum",
                                              "Where",
                                              "YellowFin"};
  return types.contains(type);
}

// Whether a name of the original says only that a tensor is read or written. It is X or Y here.
bool IsGeneralName(const std::string& name) {
  static const std::set<std::string> names = {
      "input", "output",  "data",       "data_0",     "data_in", "tensor", "C",  "mat",
      "Y",     "reduced", "tiled_data", "transposed", "mean",    "max",    "min"};
  return names.contains(name);
}

// Compares the operands that have a name in both, up to a list of any length. Returns how many.
int CompareNames(const std::string& type, const std::string& wanted,
                 const std::vector<OpSchema::NamedDoc>& operands) {
  const std::vector<std::string> names = absl::StrSplit(wanted, ',');
  if (wanted == "-") return 0;
  int compared = 0;
  for (size_t i = 0; i < std::min(names.size(), operands.size()); ++i) {
    const std::string& name = operands[i].name;
    if (name.find("...") != std::string::npos) break;
    if (IsGeneralName(names[i]) && (name == "X" || name == "Y")) continue;
    ++compared;
    EXPECT_EQ(name, names[i]) << "operand " << i << " of " << type;
  }
  return compared;
}

TEST(SchemaFactsTest, NamesOfOperandsAreTheOriginals) {
  SKIP_WITHOUT_SHARED(kOperators);
  int compared = 0;
  ForEachKnownType(kOperators, "name", [&](const Row& row, const OpSchema& schema) {
    if (HasOtherNames(schema.type())) return;
    compared += CompareNames(schema.type(), row.at("input_names"), schema.input_docs());
    compared += CompareNames(schema.type(), row.at("output_names"), schema.output_docs());
  });
  EXPECT_GT(compared, 600);
}

// The arguments of a row that the original's sources read ("kernel:int=0 | order:string"), or that its schemas name.
std::set<std::string> ArgumentsOf(const Row& row) {
  std::set<std::string> names;
  const std::vector<std::string> reads = absl::StrSplit(row.at("args_read_by_code"), " | ");
  for (const std::string& read : reads) {
    if (absl::StrContains(read, ':')) names.insert(read.substr(0, read.find(':')));
  }
  const std::vector<std::string> listed = absl::StrSplit(row.at("arg_names"), ',');
  for (const std::string& name : listed) {
    if (name != "-") names.insert(name.substr(0, name.find_first_of(" !")));
  }
  std::erase_if(names, [](const std::string& name) { return absl::StrContains(name, '<'); });
  return names;
}

// Arguments that have no effect in the original, although it reads or documents them. A report of them helps.
bool HasNoEffect(const std::string& type, const std::string& argument) {
  static const std::set<std::string> gradients = {"AbsGradient",      "CosGradient",
                                                  "SigmoidGradient",  "SinGradient",
                                                  "SoftsignGradient", "TanhGradient"};
  static const std::set<std::string> of_gradients = {"axis", "axis_str", "broadcast", "order"};
  static const std::set<std::pair<std::string, std::string>> others = {
      {"AveragedLoss", "average"}, {"AveragedLossGradient", "average"},
      {"StoreWait", "blob_name"},  {"CollectAndDistributeFpnRpnProposals", "post_nms_topN"},
      {"ONNXWhile", "loop_net"},   {"Sum", "broadcast"}};
  // Documented; num_reduce_dim is read.
  if (argument == "num_reduce_dims") return true;
  if (gradients.contains(type)) return of_gradients.contains(argument);
  return others.contains({type, argument});
}

// So that `check` does not report arguments of the original's nets as unknown.
TEST(SchemaFactsTest, ArgumentsOfTheOriginalAreDeclared) {
  SKIP_WITHOUT_SHARED(kOperators);
  int compared = 0;
  ForEachKnownType(kOperators, "name", [&](const Row& row, const OpSchema& schema) {
    if (schema.accepts_any_argument()) return;
    for (const std::string& name : ArgumentsOf(row)) {
      if (HasNoEffect(schema.type(), name)) continue;
      const auto& args = schema.args();
      ++compared;
      EXPECT_TRUE(std::any_of(args.begin(), args.end(),
                              [&](const auto& argument) { return argument.name == name; }))
          << "argument " << name << " of " << schema.type();
    }
  });
  EXPECT_GT(compared, 1000) << compared;
}

}  // namespace
}  // namespace caffe2rt::test::schema_facts_test
