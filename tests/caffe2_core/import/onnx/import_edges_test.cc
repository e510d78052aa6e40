// What the import computes or knows at the edges: integers that wrap before they are widened, contents that no constant
// holds, dims that only look equal, outputs that the file states, models in the current folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::import_edges_test {
namespace {

using namespace node_forms;  // used throughout this file

constexpr int kInt8 = 3, kUint16 = 4, kInt16 = 5, kHalf = 10, kUint32 = 12, kUint64 = 13;
const std::string kEdgeY = "output { name: 'y' } ";

using Ints64 = std::vector<int64_t>;

// The text of an error of the import or of the run; "" if there is none.
std::string EdgeError(const std::string& graph, int64_t opset = 18) try {
  (void)RunOnnxBytes(OnnxBytes(graph + kEdgeY, opset), {}, "y");
  return "";
} catch (const EnforceNotMet& error) {
  return error.message();
}
Ints64 EdgeInts(const std::string& graph, int64_t opset = 18) {
  EXPECT_EQ(EdgeError(graph, opset), "") << graph;
  if (!EdgeError(graph, opset).empty()) return {};
  return IntsOf(RunOnnxBytes(OnnxBytes(graph + kEdgeY, opset), {}, "y"));
}
std::string TypedList(const std::string& name, int type, const Ints64& values) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type,
                                " dims: ", values.size(), " ");
  for (const int64_t value : values)
    text += MakeString(type == kUint32 ? "uint64_data: " : "int32_data: ", value, " ");
  return text + "} ";
}

// --- constants ---

// The steps on constants and the same steps by operators, whose inputs are fed.
TEST(ImportEdgesTest, IntegersWrapBeforeTheyAreWidened) {
  const struct {
    const char* node;
    int type;
    Ints64 a, b, want;
  } rows[] = {
      {"Add", kInt8, {127, -128}, {1, -1}, {-128, 127}},
      {"Add", kInt16, {32767, -32768}, {2, -1}, {-32767, 32767}},
      {"Add", kUint8, {255, 3}, {1, 4}, {0, 7}},
      {"Add", kUint16, {65535, 3}, {5, 4}, {4, 7}},
      {"Add", kInt32, {2147483647, 1}, {1, 1}, {-2147483648, 2}},
      {"Sub", kInt8, {-128, 0}, {1, -128}, {127, -128}},
      {"Sub", kInt16, {-32768, 0}, {1, -32768}, {32767, -32768}},
      {"Sub", kUint8, {0, 9}, {1, 4}, {255, 5}},
      {"Sub", kUint16, {0, 9}, {1, 4}, {65535, 5}},
      {"Mul", kInt8, {16, -128}, {16, -1}, {0, -128}},
      {"Mul", kInt16, {256, 300}, {256, 300}, {0, 24464}},
      {"Mul", kUint8, {16, 255}, {17, 255}, {16, 1}},
      {"Mul", kUint16, {256, 65535}, {257, 65535}, {256, 1}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(MakeString(row.node, " of type ", row.type));
    EXPECT_EQ(EdgeInts(TypedList("a", row.type, row.a) + TypedList("b", row.type, row.b) +
                       Node(row.node, "ab", "", "c") + Node("Cast", "c", Int("to", kInt64))),
              row.want);
  }
  for (const auto& [type, low] : {std::pair(kInt8, int64_t{-128}), {kInt16, -32768}}) {
    for (const char* node : {"Neg", "Abs"}) {
      EXPECT_EQ(EdgeInts(TypedList("a", type, {low, 5, low + 1}) + Node(node, "a", "", "c") +
                         Node("Cast", "c", Int("to", kInt64))),
                (Ints64{low, node[0] == 'N' ? -5 : 5, -low - 1}))
          << node << type;
    }
    EXPECT_EQ(EdgeInts(TypedList("a", type, {low, low}) + Node("ReduceSum", "a", "", "c") +
                       Node("Cast", "c", Int("to", kInt64))),
              Ints64{0});
  }
  // Casts wrap as well: 65536 + 7, 32768 and 256 + 200 in narrower types.
  for (const auto& [type, want] : {std::pair(kInt16, Ints64{7, -32768, 456}),
                                   {kUint16, {7, 32768, 456}},
                                   {kInt8, {7, 0, -56}},
                                   {kUint8, {7, 0, 200}},
                                   {kInt32, {65543, 32768, 456}},
                                   {kUint32, {65543, 32768, 456}}}) {
    EXPECT_EQ(EdgeInts(List("a", {65543, 32768, 456}) + Node("Cast", "a", Int("to", type), "c") +
                       Node("Cast", "c", Int("to", kInt64))),
              want)
        << type;
  }
}

// -2^63 / -1 does not fit; the remainder is 0.
TEST(ImportEdgesTest, RemaindersOfTheSmallestInteger) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(EdgeInts(List("a", {least, 7, least}) + List("b", {-1, -1, 3}) + Node("Mod", "ab")),
            (Ints64{0, 0, 1}));
}

TEST(ImportEdgesTest, TypesThatConstantsDoNotHoldAreLeftToOperators) {
  // Without a sign, -1 is the largest number.
  EXPECT_EQ(EdgeInts(List("a", {-1, 300}) + Node("Cast", "a", Int("to", kUint32), "c") +
                     Node("Cast", "c", Int("to", kInt64))),
            (Ints64{4294967295, 300}));
  EXPECT_EQ(EdgeInts(List("a", {-1, 300}) + Node("Cast", "a", Int("to", kUint64), "c") +
                     Node("Cast", "c", Int("to", kInt64))),
            (Ints64{-1, 300}));
  // Half precision has 11 digits.
  EXPECT_EQ(EdgeInts(List("a", {2049, 2051}) + Node("Cast", "a", Int("to", kHalf), "c") +
                     Node("Cast", "c", Int("to", kInt64))),
            (Ints64{2048, 2052}));
  EXPECT_EQ(
      EdgeInts(TypedList("a", kUint32, {4000000000, 5}) + TypedList("b", kUint32, {400000000, 6}) +
               Node("Add", "ab", "", "c") + Node("Cast", "c", Int("to", kInt64))),
      (Ints64{105032704, 11}));
}

TEST(ImportEdgesTest, RangesEndBeforeTheirLimit) {
  const auto range = [](int64_t start, int64_t limit, int64_t step) {
    return List("a", {start}, true) + List("b", {limit}, true) + List("c", {step}, true) +
           Node("Range", "abc");
  };
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(EdgeInts(range(5, 1, -2)), (Ints64{5, 3}));
  EXPECT_EQ(EdgeInts(range(5, 0, -2)), (Ints64{5, 3, 1}));
  EXPECT_EQ(EdgeInts(range(-1, -4, -1)), (Ints64{-1, -2, -3}));
  EXPECT_EQ(EdgeInts(range(-3, 3, 3)), (Ints64{-3, 0}));
  EXPECT_EQ(EdgeInts(range(-3, 4, 3)), (Ints64{-3, 0, 3}));
  EXPECT_EQ(EdgeInts(range(2, 3, 100)), (Ints64{2}));
  EXPECT_EQ(EdgeInts(range(3, 2, -100)), (Ints64{3}));
  EXPECT_EQ(EdgeInts(range(most - 3, most, 2)), (Ints64{most - 3, most - 1}));
  EXPECT_NE(EdgeError(range(1, 5, 0)), "");
}

// A list of exactly the limit is computed; one more is left to operators, which compute the same.
TEST(ImportEdgesTest, TheLimitCountsTheElementsOfTheResult) {
  for (const int64_t count : {4096, 4097}) {
    // 64 columns, and 64 or 65 rows.
    const int64_t rows_of_u = count - 4032;
    const std::string broadcast =
        Constant("u", kInt64, {rows_of_u, 1}, std::vector<double>(static_cast<size_t>(rows_of_u))) +
        Constant("v", kInt64, {1, 64}, std::vector<double>(64));
    const std::string dims = List("d", {count}), two = List("d", {2, (count + 1) / 2});
    const struct {
      std::string graph;
      const char* op;
      int64_t elements;
    } rows[] = {{dims + Node("ConstantOfShape", "d"), "ConstantFill", count},
                {dims + List("a", {3}) + Node("Expand", "ad"), "Expand", count},
                {two + Constant("a", kInt64, {2, 1}, {3, 4}) + Node("Expand", "ad"), "Expand",
                 (count + 1) / 2 * 2},
                {List("p", {0}, true) + List("q", {count}, true) + List("s", {1}, true) +
                     Node("Range", "pqs"),
                 "Range", count},
                {broadcast + Node("Add", "uv"), "Add", 64 * rows_of_u},
                {broadcast + Constant("w", kBool, {1}, {1}) + Node("Where", "wuv"), "Where",
                 64 * rows_of_u}};
    for (const auto& row : rows) {
      SCOPED_TRACE(row.graph);
      const std::string bytes = OnnxBytes(row.graph + kEdgeY, 18);
      ASSERT_EQ(OnnxImportError(bytes), "");
      const OnnxModel model = ImportOnnxFromMemory(bytes, {});
      std::string types;
      for (const NetDef* net : {&model.init_net, &model.predict_net}) {
        for (const OperatorDef& op : net->op()) types += op.type() + " ";
      }
      EXPECT_EQ(types.find(row.op) == std::string::npos, row.elements <= 4096) << types;
      EXPECT_EQ(RunOnnxBytes(bytes, {}, "y").numel(), row.elements);
    }
  }
}

TEST(ImportEdgesTest, WhatNoOperatorComputesIsAnError) {
  const std::string list = List("l", {1, 2, 3}), m = Constant("m", kInt64, {2, 2}, {1, 2, 3, 4});
  const std::string rows[] = {
      list + List("i", {3}) + Node("Gather", "li"),
      list + List("i", {-4}) + Node("Gather", "li"),
      list + List("i", {0}) + Node("Gather", "li", Int("axis", 1)),
      list + List("b", {0}) + List("e", {3}) + List("a", {0}) + List("s", {0}) +
          Node("Slice", "lbeas"),
      list + List("b", {0}) + List("e", {3}) + List("a", {1}) + Node("Slice", "lbea"),
      list + List("d", {2, 2}) + Node("Reshape", "ld"),
      list + List("d", {2, -1}) + Node("Reshape", "ld"),
      list + List("d", {3, 0}) + Node("Reshape", "ld"),  // 0: the axis of the same number
      list + List("d", {2}) + Node("Expand", "ld"),
      list + List("d", {2, 5}) + Node("Add", "ld"),
      list + m + Node("Concat", "lm", Int("axis", 0)),
      m + List("a", {0}) + Node("Squeeze", "ma"),
      m + List("a", {5}) + Node("Unsqueeze", "ma"),
      list + List("z", {0, 1, 1}) + Node("Div", "lz"),
      list + List("d", {1, 1, 1}) + Node("Where", "ld"),
      list + Node("Gather", "l"),
      List("s", {1}, true) + Node("Range", "s"),
      List("s", {1}, true) + Node("Range", "ss"),
  };
  for (const std::string& graph : rows) EXPECT_NE(EdgeError(graph), "") << graph;
  // Their neighbours.
  EXPECT_EQ(EdgeInts(list + List("i", {2, -3}) + Node("Gather", "li")), (Ints64{3, 1}));
  EXPECT_EQ(EdgeInts(list + List("d", {3, -1}) + Node("Reshape", "ld")), (Ints64{1, 2, 3}));
  EXPECT_EQ(EdgeInts(list + List("d", {1, 1}) + Node("Expand", "ld")), (Ints64{1, 2, 3}));
  EXPECT_EQ(EdgeInts(m + List("a", {0, 1}) + Node("Unsqueeze", "ma")), (Ints64{1, 2, 3, 4}));
  EXPECT_EQ(EdgeInts(list + List("z", {2, 2, 2}) + Node("Div", "lz")), (Ints64{0, 1, 1}));
}

TEST(ImportEdgesTest, SelectionsAndReductionsOfConstants) {
  const std::string column = Constant("c", kBool, {2, 1}, {1, 0});
  EXPECT_EQ(EdgeInts(column + List("a", {1, 2}) + List("b", {3, 4}) + Node("Where", "cab")),
            (Ints64{1, 2, 3, 4}));
  EXPECT_EQ(EdgeInts(Constant("c", kBool, {2}, {1, 0}) + Constant("a", kInt64, {2, 1}, {1, 2}) +
                     List("b", {3, 4}) + Node("Where", "cab")),
            (Ints64{1, 4, 2, 4}));
  const std::string list = List("l", {3, -4, 2}), zero = List("a", {0}), last = List("a", {-1});
  for (const std::string& axes : {zero, last}) {
    EXPECT_EQ(EdgeInts(list + axes + Node("ReduceSum", "la")), Ints64{1});
    EXPECT_EQ(EdgeInts(list + axes + Node("ReduceProd", "la", Int("keepdims", 0))), Ints64{-24});
    EXPECT_EQ(EdgeInts(list + axes + Node("ReduceMax", "la")), Ints64{3});
    EXPECT_EQ(EdgeInts(list + axes + Node("ReduceMin", "la")), Ints64{-4});
  }
  // No axes are all of them, or none where that is said.
  const std::string none = List("a", {}), noop = Int("noop_with_empty_axes", 1);
  EXPECT_EQ(EdgeInts(list + none + Node("ReduceSum", "la")), Ints64{1});
  EXPECT_EQ(EdgeInts(list + none + Node("ReduceSum", "la", noop)), (Ints64{3, -4, 2}));
  EXPECT_EQ(EdgeInts(list + Node("ReduceMax", "l", noop)), (Ints64{3, -4, 2}));
  EXPECT_EQ(EdgeInts(list + zero + Node("ReduceSum", "la", noop)), Ints64{1});
}

// Slices of a known dimension: positions beyond it end at it, and what ends before it begins is empty.
TEST(ImportEdgesTest, SlicesOfOneAxisAreClamped) {
  const struct {
    int64_t begin, end;
    std::vector<float> want;
  } rows[] = {{1, 3, {1, 2}},
              {3, 1, {}},
              {4, -4, {}},
              {2, 2, {}},
              {0, -9, {}},
              {-9, 2, {0, 1}},
              {-2, 99, {3, 4}},
              {4, INT64_MAX, {4}},
              {5, 9, {}},
              {9, 5, {}},
              {INT64_MIN, INT64_MAX, {0, 1, 2, 3, 4}},
              {-1, 0, {}},
              {-5, -4, {0}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(MakeString(row.begin, " to ", row.end));
    const std::string bounds = List("b", {row.begin}) + List("e", {row.end});
    const auto count = static_cast<int64_t>(row.want.size());
    for (const std::string& node : {Node("Slice", "xbe"), List("a", {-1}) + Node("Slice", "xbea"),
                                    List("a", {0}) + List("s", {1}) + Node("Slice", "xbeas"),
                                    List("s", {1}) + Node("Slice", "xbe-s")}) {
      const std::string bytes =
          OnnxBytes(OnnxValue("input", "x", {"5"}) + bounds + node + kEdgeY, 18);
      ASSERT_EQ(OnnxImportError(bytes), "");
      EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).output_dims.at("y"), Ints64{count});
      const Tensor y = RunOnnxBytes(bytes, {{"x", FloatTensor({5}, {0, 1, 2, 3, 4})}}, "y");
      EXPECT_EQ(y.dims(), Ints64{count});
      EXPECT_EQ(FloatsOf(y), row.want);
    }
  }
}

// --- dims ---

// The number that stands for "n" in the first world is 64: only the others tell it from a size.
TEST(ImportEdgesTest, ABranchOfSixtyFourElementsIsNotOneOfAnySize) {
  const auto branch = [](const std::string& name, const std::string& blob) {
    return "attribute { name: '" + name +
           "' type: GRAPH g { name: 'g' node { op_type: 'Neg' input: '" + blob + "' output: '" +
           name + "_y' } output { name: '" + name + "_y' } } } ";
  };
  const std::string inputs = OnnxValue("input", "x", {"n"}) + OnnxValue("input", "f", {"64"}) +
                             OnnxValue("input", "c", {}, kBool);
  for (const bool fixed_first : {false, true}) {
    const std::string bytes = OnnxBytes(inputs +
                                        Node("If", "c",
                                             branch("then_branch", fixed_first ? "f" : "x") +
                                                 branch("else_branch", fixed_first ? "x" : "f")) +
                                        kEdgeY);
    ASSERT_EQ(OnnxImportError(bytes), "");
    EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).output_dims.at("y"), Ints64{-1}) << fixed_first;
  }
  const std::string same = OnnxBytes(
      inputs + Node("If", "c", branch("then_branch", "f") + branch("else_branch", "f")) + kEdgeY);
  EXPECT_EQ(ImportOnnxFromMemory(same, {}).output_dims.at("y"), Ints64{64});
}

// Nothing is known of one branch, and the other is a single number.
TEST(ImportEdgesTest, ABranchOfAnyRankIsNotANumber) {
  const auto branch = [](const std::string& name, const std::string& blob) {
    return "attribute { name: '" + name + "' type: GRAPH g { name: 'g' " +
           Node("Neg", blob, "", name.substr(0, 1)) + "output { name: '" + name[0] + "' } } } ";
  };
  const std::string inputs = "input { name: 'x' type { tensor_type { elem_type: 1 } } } " +
                             OnnxValue("input", "b", {}) + OnnxValue("input", "c", {}, kBool);
  for (const char* blobs : {"xb", "bx"}) {
    const std::string bytes = OnnxBytes(
        inputs +
        Node("If", "c", branch("then_branch", {blobs[0]}) + branch("else_branch", {blobs[1]})) +
        kEdgeY);
    ASSERT_EQ(OnnxImportError(bytes), "");
    EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).output_dims.count("y"), 0u) << blobs;
  }
}

// A 0 in a new shape stands for a dim of the input, of which nothing is known.
TEST(ImportEdgesTest, CopiedDimsOfAnyInputAreOpen) {
  const std::string bytes =
      OnnxBytes("input { name: 'x' type { tensor_type { elem_type: 1 } } } " +
                OnnxValue("input", "b", {"n", "m"}) + List("z", {0}) + Node("Shape", "b", "", "s") +
                Node("Concat", "zs", Int("axis", 0), "d") + Node("Reshape", "xd") + kEdgeY);
  ASSERT_EQ(OnnxImportError(bytes), "");
  EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).output_dims.at("y"), (Ints64{-1, -1, -1}));
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(
      RunOnnxBytes(bytes, {{"x", FloatTensor({2, 3}, six)}, {"b", FloatTensor({1, 3}, {0, 0, 0})}},
                   "y")
          .dims(),
      (Ints64{2, 1, 3}));
}

// A list whose length depends on a symbol gives a tensor whose rank does.
TEST(ImportEdgesTest, RanksMayDependOnASymbol) {
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"n"}) + Node("Shape", "x", "", "s") + List("t", {2}) +
                Node("Min", "st", "", "e") + List("l", {1, 2}) + List("b", {0}) +
                Node("Slice", "lbe", "", "d") + List("v", {5}) + Node("Expand", "vd") + kEdgeY);
  ASSERT_EQ(OnnxImportError(bytes), "");
  for (const auto& [n, want] : {std::pair<int64_t, Ints64>(3, {1, 2}), {2, {1, 2}}, {1, {1}}}) {
    const std::vector<float> x(static_cast<size_t>(n), 1);
    EXPECT_EQ(RunOnnxBytes(bytes, {{"x", FloatTensor({n}, x)}}, "y").dims(), want) << n;
  }
}

// Two dims without a name may differ; those with one name are equal.
TEST(ImportEdgesTest, DimsWithoutANameAreNotTheSame) {
  const auto model = [](const std::string& dim) {
    const auto input = [&](const std::string& name) {
      return "input { name: '" + name + "' type { tensor_type { elem_type: 1 shape { dim { " + dim +
             " } dim { dim_value: 3 } } } } } ";
    };
    return OnnxBytes(input("x") + input("b") + Node("Shape", "x", Int("end", 1), "p") +
                     Node("Shape", "b", Int("end", 1), "q") + Node("Equal", "pq") + kEdgeY);
  };
  const auto equal = [](const std::string& bytes, int64_t rows) {
    const auto matrix = [](int64_t n) {
      return FloatTensor({n, 3}, std::vector<float>(static_cast<size_t>(3 * n)));
    };
    return *RunOnnxBytes(bytes, {{"x", matrix(2)}, {"b", matrix(rows)}}, "y").data<bool>();
  };
  EXPECT_FALSE(equal(model(""), 4));
  EXPECT_TRUE(equal(model("dim_param: 'n'"), 2));
  EXPECT_FALSE(equal(model("dim_value: 0"), 4));  // 0 is open, too
}

// The model does not state the type of x, so the cast stays: x may hold integers.
TEST(ImportEdgesTest, InputsWithoutATypeAreCastWhateverTheyHold) {
  for (const char* between : {"Transpose", "Identity", "Flatten"}) {
    const std::string bytes = OnnxBytes("input { name: 'x' } " + Node(between, "x", "", "t") +
                                        Node("Cast", "t", Int("to", kFloat)) + kEdgeY);
    ASSERT_EQ(OnnxImportError(bytes), "") << between;
    const Tensor y = RunOnnxBytes(bytes, {{"x", IntTensor({1, 2}, {3, -4})}}, "y");
    ASSERT_TRUE(y.IsType<float>()) << between;
    EXPECT_EQ(FloatsOf(y), (std::vector<float>{3, -4})) << between;
  }
  // Second outputs hold positions only for some nodes.
  const std::string parts =
      OnnxBytes("input { name: 'x' } " + Node("Split", "x", Int("num_outputs", 2), "at") +
                Node("Cast", "t", Int("to", kInt64)) + kEdgeY);
  ASSERT_EQ(OnnxImportError(parts), "");
  EXPECT_TRUE(RunOnnxBytes(parts, {{"x", FloatTensor({2}, {3, -4})}}, "y").IsType<int64_t>());
}

// The model states the dims of an output that does not follow from its inputs.
TEST(ImportEdgesTest, OutputsHaveTheDimsThatTheFileStates) {
  const auto dims = [](const std::string& output) {
    const std::string bytes = OnnxBytes(
        "input { name: 'x' type { tensor_type { elem_type: 1 } } } " + Node("Relu", "x") + output);
    EXPECT_EQ(OnnxImportError(bytes), "");
    const OnnxModel model = ImportOnnxFromMemory(bytes, {});
    const auto found = model.output_dims.find("y");
    return found == model.output_dims.end() ? Ints64{-7} : found->second;
  };
  EXPECT_EQ(dims(OnnxValue("output", "y", {"2", "n", "4"})), (Ints64{2, -1, 4}));
  EXPECT_EQ(dims("output { name: 'y' type { tensor_type { elem_type: 1 shape { dim { } dim { "
                 "dim_value: 5 } } } } } "),
            (Ints64{-1, 5}));
  EXPECT_EQ(dims(OnnxValue("output", "y", {})), Ints64{});
  EXPECT_EQ(dims(kEdgeY), Ints64{-7});
  EXPECT_EQ(dims("output { name: 'y' type { tensor_type { elem_type: 1 } } } "), Ints64{-7});
}

// --- files ---

TEST(ImportEdgesTest, ExternalDataLieBesideAModelInTheCurrentFolder) {
  const TempDir folder;
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"2"}) +
                "initializer { name: 'w' data_type: 1 dims: 2 data_location: EXTERNAL "
                "external_data { key: 'location' value: 'w.bin' } } " +
                "initializer { name: 'e' data_type: 1 dims: 0 data_location: EXTERNAL "
                "external_data { key: 'location' value: 'w.bin' } external_data { key: 'offset' "
                "value: '4' } external_data { key: 'length' value: '0' } } " +
                Node("Add", "xw", "", "s") + Node("Concat", "se", Int("axis", 0)) + kEdgeY);
  std::ofstream(folder.path("m.onnx"), std::ios::binary) << bytes;
  const float values[] = {10, 20};
  std::ofstream(folder.path("w.bin"), std::ios::binary)
      .write(reinterpret_cast<const char*>(values), sizeof(values));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::vector<float> got;
  std::string error;
  try {
    Workspace ws;
    RunOnnx(ImportOnnx({.net = "m.onnx"}), {{"x", FloatTensor({2}, {1, 2})}}, &ws);
    got = FloatsOf(ws.GetBlob("y")->Get<Tensor>());
  } catch (const EnforceNotMet& thrown) {
    error = thrown.message();
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(error, "");
  EXPECT_EQ(got, (std::vector<float>{11, 22}));
}

TEST(ImportEdgesTest, TextsOfTensorsMayBeEmpty) {
  const TempDir folder;
  const std::string path = folder.path("t.pb");
  Tensor texts(std::vector<int64_t>{2, 2}, CPU);
  const std::vector<std::string> want = {"", "a", std::string("b\0c", 3), ""};
  std::copy(want.begin(), want.end(), texts.mutable_data<std::string>());
  WriteOnnxTensor(path, "t", texts);
  const Tensor read = ReadOnnxTensor(path);
  ASSERT_TRUE(read.IsType<std::string>());
  EXPECT_EQ(read.dims(), (Ints64{2, 2}));
  EXPECT_EQ(std::vector<std::string>(read.data<std::string>(), read.data<std::string>() + 4), want);
}

}  // namespace
}  // namespace caffe2rt::test::import_edges_test
