#include "tests/style/operator_type_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt::test {
namespace {

using Types = std::set<std::string>;

struct AllowedFolder {
  const char* path;
  const char* reason;
};

constexpr AllowedFolder kAllowedFolders[] = {
    {"caffe2_core/compat/", "forwarding headers under the original's paths"},
    {"caffe2_core/import/", "translates the layers and nodes of other formats into operators"},
    {"caffe2_core/export/", "translates operators into nodes of another format"},
    {"caffe2_core/training/",
     "makes nets: layers, losses and solvers are operators of these types"},
};

struct AllowedFile {
  const char* path;  // below caffe2_core/
  const char* reason;
  Types types;
};

// clang-format off
const AllowedFile kAllowedTypes[] = {
    {"graph/backward_pass.cc", "the backward pass begins with a fill, and ends at these types",
     {"ConstantFill", "StopGradient", "ZeroGradient"}},
    {"graph/device_inference.h", "the copies between devices, which passes insert",
     {"Copy", "CopyFromCPUInput", "EnsureCPUOutput"}},
    {"graph/drawing/operator_family.cc", "parts of names, for types that state no family",
     {"Accuracy", "AffineChannel", "Conv", "CreateDB", "CrossEntropy", "ImageInput", "LRN", "Load",
      "Range", "ReadNextBatch", "RoIAlign", "SpatialBN"}},
    {"graph/drawing/weight_inputs.cc", "parts of names, for types that state no weights",
     {"FC", "GRU", "LSTM", "PRelu", "Recurrent"}},
    {"graph/gradient_sums.cc", "the backward pass adds gradients up with these types",
     {"Concat", "Sum"}},
    {"graph/net_file.cc", "paths of databases in the arguments of operators that open them",
     {"CreateDB", "DBExists", "Load"}},
    {"graph/passes/fuse_attention.cc", "a pattern is a list of operators",
     {"Add", "BatchMatMul", "Cast", "IsNaN", "ONNXWhere", "Reshape", "Softmax",
      "Transpose"}},
    {"graph/passes/fuse_fc.cc", "a pattern is a list of operators",
     {"Add", "BatchMatMul", "FC", "FCTransposed", "Gelu", "MatMul"}},
    {"graph/passes/fuse_gelu.cc", "a pattern is a list of operators",
     {"Add", "Erf", "Gelu", "Mul"}},
    {"graph/passes/fuse_layer_norm.cc", "a pattern is a list of operators",
     {"Add", "Div", "LayerNorm", "LayerNormFusion", "Mul", "Pow", "ReduceBackMean", "ReduceMean",
      "Rsqrt", "Sqr", "Sqrt", "Sub"}},
    {"graph/passes/fused_operators.h", "the types that passes make",
     {"ConvFusion", "FCFusion", "MultiHeadAttention", "SpatialBNFusion"}},
    {"graph/shape_inference.cc", "the gradient of Reshape is a Reshape to the shape of before",
     {"Reshape"}},
    {"inspect/precision_search.cc", "its results hide the noise of what it reads", {"Concat", "GroupSpatialSoftmax", "HardSigmoid", "Sigmoid", "Softmax", "Tanh"}},
    {"io/double_fills.cc", "beside the fills of given_values.cc", {"BitCast", "Sum"}},
    {"io/weights_file.cc", "as given_values.cc", {"GivenTensorFill"}},
    {"io/given_values.cc", "a format of weights in files of nets; io is below the schemas",
     {"GivenTensorBoolFill", "GivenTensorByteStringToUInt8Fill", "GivenTensorDoubleFill",
      "GivenTensorFill", "GivenTensorInt16Fill", "GivenTensorInt64Fill", "GivenTensorIntFill",
      "Int8GivenIntTensorFill", "Int8GivenTensorFill"}},
};
// clang-format on

// The contents of the string literals of a line, without comments.
std::vector<std::string> LiteralsOf(const std::string& line) {
  std::vector<std::string> literals;
  for (size_t i = 0; i < line.size(); ++i) {
    const char quote = line[i];
    if (line.compare(i, 2, "//") == 0) break;
    if (quote != '"' && quote != '\'') continue;
    std::string content;
    for (++i; i < line.size() && line[i] != quote; ++i) {
      if (line[i] == '\\') ++i;
      if (i < line.size()) content += line[i];
    }
    if (quote == '"') literals.push_back(content);
  }
  return literals;
}

const Types& BuiltinTypes() {
  static const Types types = [] {
    const std::vector<std::string> list = OpSchemaRegistry::Types();
    return Types(list.begin(), list.end());
  }();
  return types;
}

const AllowedFile* FindAllowed(const std::string& path) {
  for (const AllowedFile& file : kAllowedTypes) {
    if (path == std::string("caffe2_core/") + file.path) return &file;
  }
  return nullptr;
}

}  // namespace

namespace {

bool MustAskTraits(const SourceFile& file) {
  return file.IsCode() && file.IsUnder("caffe2_core/") &&
         std::none_of(std::begin(kAllowedFolders), std::end(kAllowedFolders),
                      [&](const AllowedFolder& folder) { return file.IsUnder(folder.path); });
}

}  // namespace

Violations CheckOperatorTypesInCore(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    if (!MustAskTraits(file)) continue;
    const AllowedFile* const allowed = FindAllowed(file.path);
    Types unused = allowed != nullptr ? allowed->types : Types();
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& literal : LiteralsOf(file.lines[i])) {
        if (!BuiltinTypes().contains(literal)) continue;
        unused.erase(literal);
        if (allowed != nullptr && allowed->types.contains(literal)) continue;
        violations.push_back(file.path + ":" + std::to_string(i + 1) + " names operator type " +
                             literal + ", want a trait (caffe2_core/graph/operator_traits.h)");
      }
    }
    for (const std::string& type : unused) {
      violations.push_back(file.path + " does not name operator type " + type +
                           ", which the rule allows it");
    }
  }
  return violations;
}

}  // namespace caffe2rt::test
