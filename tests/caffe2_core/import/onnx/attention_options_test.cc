// Attention in the forms of ONNX and of ONNX Runtime, with random options, shapes and masks: compared
// with the definition, computed in double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test::attention_options_test {
namespace {

using namespace node_forms;  // used throughout this file

constexpr double kHidden = -std::numeric_limits<double>::infinity();

int64_t Below(Random* random, int count) {
  return static_cast<int64_t>(random->Below(static_cast<uint64_t>(count)));
}

// [batch, heads, length, size]
struct Part {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  std::vector<float> values = {};

  Part(int64_t b, int64_t h, int64_t l, int64_t s)
      : batch(b), heads(h), length(l), size(s), values(static_cast<size_t>(b * h * l * s)) {}
  float& At(int64_t b, int64_t h, int64_t i, int64_t c) {
    return values[static_cast<size_t>(((b * heads + h) * length + i) * size + c)];
  }
  float At(int64_t b, int64_t h, int64_t i, int64_t c) const {
    return const_cast<Part*>(this)->At(b, h, i, c);
  }
};

// Multiples of 1/8, which text gives exactly.
Part RandomPart(Random* random, int64_t b, int64_t h, int64_t l, int64_t s) {
  Part part(b, h, l, s);
  for (float& value : part.values) value = static_cast<float>(Below(random, 33) - 16) / 8;
  return part;
}

template <class Function>
Part EachOf(Part part, const Function& function) {
  for (int64_t b = 0; b < part.batch; ++b) {
    for (int64_t h = 0; h < part.heads; ++h) {
      for (int64_t i = 0; i < part.length; ++i) {
        for (int64_t c = 0; c < part.size; ++c) part.At(b, h, i, c) = function(b, h, i, c);
      }
    }
  }
  return part;
}

Part Behind(const Part& past, const Part& part) {
  const Part all(part.batch, part.heads, past.length + part.length, part.size);
  return EachOf(all, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    return i < past.length ? past.At(b, h, i, c) : part.At(b, h, i - past.length, c);
  });
}

Tensor HeadsFirst(const Part& part) {
  return FloatTensor({part.batch, part.heads, part.length, part.size}, part.values);
}
// [batch, length, heads * size]
Tensor Columns(const Part& part) {
  std::vector<float> values;
  for (int64_t b = 0; b < part.batch; ++b) {
    for (int64_t i = 0; i < part.length; ++i) {
      for (int64_t h = 0; h < part.heads; ++h) {
        for (int64_t c = 0; c < part.size; ++c) values.push_back(part.At(b, h, i, c));
      }
    }
  }
  return FloatTensor({part.batch, part.length, part.heads * part.size}, values);
}

struct Scoring {
  double scale = 0, softcap = 0;  // 0: 1 / sqrt(size); none
  std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)> bias;
};

// The values that the queries see; `weights` gets what they see of each key. A query that sees no key
// has zeros.
Part Attended(const Part& q, const Part& k, const Part& v, const Scoring& scoring, Part* weights) {
  *weights = Part(q.batch, q.heads, q.length, k.length);
  const int64_t group = q.heads / k.heads;
  const double scale =
      scoring.scale != 0 ? scoring.scale : 1 / std::sqrt(static_cast<double>(q.size));
  for (int64_t b = 0; b < q.batch; ++b) {
    for (int64_t h = 0; h < q.heads; ++h) {
      for (int64_t i = 0; i < q.length; ++i) {
        std::vector<double> seen;
        double sum = 0;
        for (int64_t j = 0; j < k.length; ++j) {
          double score = 0;
          for (int64_t c = 0; c < q.size; ++c)
            score += double{q.At(b, h, i, c)} * k.At(b, h / group, j, c);
          score *= scale;
          if (scoring.softcap > 0) score = scoring.softcap * std::tanh(score / scoring.softcap);
          seen.push_back(std::exp(score + scoring.bias(b, h, i, j)));
          sum += seen.back();
        }
        for (int64_t j = 0; j < k.length; ++j)
          weights->At(b, h, i, j) =
              static_cast<float>(sum > 0 ? seen[static_cast<size_t>(j)] / sum : 0);
      }
    }
  }
  const Part y(q.batch, q.heads, q.length, v.size);
  return EachOf(y, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    double value = 0;
    for (int64_t j = 0; j < k.length; ++j)
      value += double{weights->At(b, h, i, j)} * v.At(b, h / group, j, c);
    return static_cast<float>(value);
  });
}

void ExpectSame(const Workspace& ws, const std::string& blob, const Tensor& want) {
  ASSERT_NE(ws.GetBlob(blob), nullptr) << blob;
  const Tensor& got = ws.GetBlob(blob)->Get<Tensor>();
  EXPECT_EQ(got.dims(), want.dims()) << blob;
  const std::vector<float> a = FloatsOf(got), b = FloatsOf(want);
  ASSERT_EQ(a.size(), b.size()) << blob;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << blob << " " << i;
}

// A model of one node: what it reads, and what is to come out.
class Model {
 public:
  std::string attributes;

  // Gives the node its next input. Its length may have a name instead of a number.
  void Give(const std::string& name, const Tensor& tensor, const std::string& length = "") {
    names_.push_back(name);
    std::vector<std::string> dims;
    for (const int64_t dim : tensor.dims()) dims.push_back(MakeString(dim));
    if (!length.empty()) dims[tensor.dim() == 3 ? 1 : 2] = length;
    graph_ += OnnxValue("input", name, dims);
    inputs_.emplace_back(name, tensor);
  }
  void GiveConstant(const std::string& name, int type, const std::vector<int64_t>& dims,
                    const std::vector<double>& values) {
    names_.push_back(name);
    graph_ += Constant(name, type, dims, values);
  }
  void GiveNone() { names_.emplace_back(); }

  std::string text(const std::string& type, const std::string& domain, int outputs) const {
    std::string node = "node { op_type: '" + type + "' domain: '" + domain + "' name: 'n' ";
    for (const std::string& name : names_) node += "input: '" + name + "' ";
    std::string out;
    for (int i = 0; i < outputs; ++i) {
      node += MakeString("output: 'y", i, "' ");
      out += MakeString("output { name: 'y", i, "' } ");
    }
    return graph_ + node + attributes + "} " + out;
  }
  void Run(const std::string& type, const std::string& domain, int outputs, Workspace* ws) const {
    const std::string bytes = OnnxBytes(text(type, domain, outputs), 28,
                                        "opset_import { domain: 'com.microsoft' version: 1 } ");
    ASSERT_EQ(OnnxImportError(bytes), "");
    RunOnnx(ImportOnnxFromMemory(bytes, {}), inputs_, ws);
  }

 private:
  std::string graph_;
  std::vector<std::string> names_;
  NamedTensors inputs_;
};

// --- ONNX ---

TEST(AttentionOptionsTest, OfOnnxAgreeWithTheDefinition) {
  for (uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t batch = 1 + Below(&random, 2), few = 1 + Below(&random, 2),
                  heads = few * (1 + Below(&random, 2)), queries = 1 + Below(&random, 3),
                  keys = 1 + Below(&random, 4), size = 1 + Below(&random, 3);
    const bool flat = random.OneIn(2), counted = random.OneIn(3);
    const int64_t before = counted ? 0 : Below(&random, 3);
    const Part q = RandomPart(&random, batch, heads, queries, size),
               k = RandomPart(&random, batch, few, keys, size),
               v = RandomPart(&random, batch, few, keys, 1 + Below(&random, 3)),
               past_k = RandomPart(&random, batch, few, before, k.size),
               past_v = RandomPart(&random, batch, few, before, v.size);
    const Part all_k = Behind(past_k, k), all_v = Behind(past_v, v);
    const auto form = [&](const Part& part) { return flat ? Columns(part) : HeadsFirst(part); };
    Model model;
    model.Give("q", form(q));
    model.Give("k", form(k));
    model.Give("v", form(v));
    if (flat) model.attributes += Int("q_num_heads", heads) + Int("kv_num_heads", few);

    // A mask of booleans or numbers, which may lack the last key.
    const int64_t columns = all_k.length - (all_k.length > 1 && random.OneIn(3) ? 1 : 0);
    const int64_t kind = Below(&random, 4);
    Part mask(1, 1, queries, columns);
    if (kind == 2) mask = RandomPart(&random, batch, 1, queries, columns);
    if (kind == 3) mask = Part(batch, heads, queries, columns);
    if (kind != 2) {
      for (float& value : mask.values) value = random.OneIn(3) ? 0 : 1;
    }
    const std::vector<double> mask_values(mask.values.begin(), mask.values.end());
    if (kind == 0) model.GiveNone();
    if (kind == 1) model.GiveConstant("m", kBool, {queries, columns}, mask_values);
    if (kind >= 2)
      model.GiveConstant("m", kind == 2 ? kFloat : kBool,
                         {mask.batch, mask.heads, queries, columns}, mask_values);
    if (before > 0) {
      model.Give("pk", HeadsFirst(past_k));
      model.Give("pv", HeadsFirst(past_v));
    } else {
      model.GiveNone();
      model.GiveNone();
    }
    std::vector<double> counts;
    for (int64_t b = 0; b < batch; ++b)
      counts.push_back(static_cast<double>(Below(&random, static_cast<int>(keys) + 1)));
    if (counted) model.GiveConstant("c", kInt64, {batch}, counts);

    const bool causal = random.OneIn(2);
    const int64_t left = random.OneIn(3) ? Below(&random, 3) : -1,
                  right = random.OneIn(4) ? Below(&random, 3) : -1;
    Scoring scoring;
    if (random.OneIn(2)) scoring.scale = 0.5;
    if (random.OneIn(3)) scoring.softcap = 1.5;
    if (causal) model.attributes += Int("is_causal", 1);
    if (left >= 0 || random.OneIn(4)) model.attributes += Int("left_window_size", left);
    if (right >= 0) model.attributes += Int("right_window_size", right);
    if (scoring.scale != 0) model.attributes += Float("scale", 0.5f);
    if (scoring.softcap != 0) model.attributes += Float("softcap", 1.5f);
    model.attributes += Int("qk_matmul_output_mode", 3);

    scoring.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      const auto valid = static_cast<int64_t>(counts[static_cast<size_t>(b)]);
      const int64_t distance = counted ? i + valid - queries - j : i + before - j;
      const bool outside = (causal && distance < 0) || (left >= 0 && distance > left) ||
                           (right >= 0 && -distance > right) || (counted && j >= valid);
      if (outside || (kind > 0 && j >= columns)) return kHidden;
      if (kind == 0) return 0.0;
      const double value = mask.At(mask.batch == 1 ? 0 : b, mask.heads == 1 ? 0 : h, i, j);
      return kind == 2 ? value : value != 0 ? 0.0 : kHidden;
    };
    Part weights(0, 0, 0, 0);
    const Part y = Attended(q, all_k, all_v, scoring, &weights);
    SCOPED_TRACE(model.text("Attention", "", 4));
    Workspace ws;
    model.Run("Attention", "", 4, &ws);
    ExpectSame(ws, "y0", form(y));
    ExpectSame(ws, "y1", HeadsFirst(all_k));
    ExpectSame(ws, "y2", HeadsFirst(all_v));
    ExpectSame(ws, "y3", HeadsFirst(weights));
    if (testing::Test::HasFailure()) return;
  }
}

// --- ONNX Runtime ---

// Turns pairs of columns by the angles of the positions. Columns behind those of the tables stay.
Part Turned(const Part& part, const Part& cos, const Part& sin, bool interleaved,
            const std::function<int64_t(int64_t b, int64_t i)>& position) {
  return EachOf(part, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
    const int64_t half = cos.size, at = interleaved ? c / 2 : c % half;
    if (c >= 2 * half) return part.At(b, h, i, c);
    const bool first = interleaved ? c % 2 == 0 : c < half;
    const float x = part.At(b, h, i, interleaved ? 2 * at : at),
                y = part.At(b, h, i, interleaved ? 2 * at + 1 : at + half);
    const float s = sin.At(0, 0, position(b, i), at), t = cos.At(0, 0, position(b, i), at);
    return first ? t * x - s * y : s * x + t * y;
  });
}

std::vector<double> Doubles(const Part& part) { return {part.values.begin(), part.values.end()}; }

TEST(AttentionOptionsTest, OfGroupsOfQueriesAgreeWithTheDefinition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t batch = 1 + Below(&random, 2), few = 1 + Below(&random, 2),
                  heads = few * (1 + Below(&random, 3)), length = 1 + Below(&random, 3),
                  size = 2 * (1 + Below(&random, 2)), before = Below(&random, 3);
    const bool packed = random.OneIn(2), turns = random.OneIn(2), interleaved = random.OneIn(2),
               placed = random.OneIn(2), biased = random.OneIn(3),
               open = random.OneIn(2) && !placed && !biased;
    const std::string length_name = open ? "n" : "", past_name = open ? "p" : "";
    const Part q = RandomPart(&random, batch, heads, length, size),
               k = RandomPart(&random, batch, few, length, size),
               v = RandomPart(&random, batch, few, length, packed ? size : 1 + Below(&random, 3)),
               past_k = RandomPart(&random, batch, few, before, size),
               past_v = RandomPart(&random, batch, few, before, v.size);
    Model model;
    if (packed) {
      const Part all(batch, heads + 2 * few, length, size);
      model.Give("q",
                 Columns(EachOf(all,
                                [&](int64_t b, int64_t h, int64_t i, int64_t c) {
                                  return h < heads         ? q.At(b, h, i, c)
                                         : h < heads + few ? k.At(b, h - heads, i, c)
                                                           : v.At(b, h - heads - few, i, c);
                                })),
                 length_name);
      model.GiveNone();
      model.GiveNone();
    } else {
      model.Give("q", Columns(q), length_name);
      model.Give("k", Columns(k), length_name);
      model.Give("v", Columns(v), length_name);
    }
    if (before > 0) {
      model.Give("pk", HeadsFirst(past_k), past_name);
      model.Give("pv", HeadsFirst(past_v), past_name);
    } else {
      model.GiveNone();
      model.GiveNone();
    }
    const std::vector<double> last(static_cast<size_t>(batch),
                                   static_cast<double>(before + length - 1));
    model.GiveConstant("last", kInt32, {batch}, last);
    model.GiveConstant("all", kInt32, {}, {static_cast<double>(before + length)});
    constexpr int64_t kRows = 8;
    const int64_t half = size > 2 && random.OneIn(2) ? size / 2 - 1 : size / 2;
    const Part cos = RandomPart(&random, 1, 1, kRows, half),
               sin = RandomPart(&random, 1, 1, kRows, half);
    model.GiveConstant("cos", kFloat, {kRows, half}, Doubles(cos));
    model.GiveConstant("sin", kFloat, {kRows, half}, Doubles(sin));
    std::vector<double> places;
    for (int64_t i = 0; i < batch * length; ++i)
      places.push_back(static_cast<double>(Below(&random, kRows)));
    if (placed) {
      model.GiveConstant("at", kInt64, {batch, length}, places);
    } else {
      model.GiveNone();
    }
    const Part bias = RandomPart(&random, batch, heads, length, before + length);
    if (biased)
      model.GiveConstant("s", kFloat, {batch, heads, length, before + length}, Doubles(bias));

    const int64_t window = random.OneIn(2) ? 1 + Below(&random, 3) : -1;
    Scoring scoring;
    if (random.OneIn(2)) scoring.scale = 0.5;
    if (random.OneIn(3)) scoring.softcap = 1.5;
    model.attributes += Int("num_heads", heads) + Int("kv_num_heads", few);
    if (turns) model.attributes += Int("do_rotary", 1);
    if (interleaved) model.attributes += Int("rotary_interleaved", 1);
    if (window > 0) model.attributes += Int("local_window_size", window);
    if (scoring.scale != 0) model.attributes += Float("scale", 0.5f);
    if (scoring.softcap != 0) model.attributes += Float("softcap", 1.5f);

    const auto position = [&](int64_t b, int64_t i) {
      return placed ? static_cast<int64_t>(places[static_cast<size_t>(b * length + i)])
                    : before + i;
    };
    const auto turned = [&](const Part& part) {
      return turns ? Turned(part, cos, sin, interleaved, position) : part;
    };
    scoring.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      if (j > before + i || (window > 0 && j <= before + i - window)) return kHidden;
      return biased ? double{bias.At(b, h, i, j)} : 0.0;
    };
    const Part all_k = Behind(past_k, turned(k)), all_v = Behind(past_v, v);
    Part weights(0, 0, 0, 0);
    const Part y = Attended(turned(q), all_k, all_v, scoring, &weights);
    SCOPED_TRACE(model.text("GroupQueryAttention", "com.microsoft", 3));
    Workspace ws;
    model.Run("GroupQueryAttention", "com.microsoft", 3, &ws);
    ExpectSame(ws, "y0", Columns(y));
    ExpectSame(ws, "y1", HeadsFirst(all_k));
    ExpectSame(ws, "y2", HeadsFirst(all_v));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttentionOptionsTest, OfManyHeadsAgreeWithTheDefinition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t batch = 1 + Below(&random, 2), heads = 1 + Below(&random, 3),
                  queries = 1 + Below(&random, 3), keys = 1 + Below(&random, 3),
                  size = 1 + Below(&random, 3), value_size = 1 + Below(&random, 3);
    // Keys and values that have their heads apart have no past.
    const bool apart = random.OneIn(3), biased = random.OneIn(2), scored = random.OneIn(3),
               causal = random.OneIn(3), open = random.OneIn(2);
    const int64_t before = apart ? 0 : Below(&random, 3), all = before + keys;
    const Part q = RandomPart(&random, batch, heads, queries, size),
               k = RandomPart(&random, batch, heads, keys, size),
               v = RandomPart(&random, batch, heads, keys, value_size),
               past_k = RandomPart(&random, batch, heads, before, size),
               past_v = RandomPart(&random, batch, heads, before, value_size);
    const std::string key_name = open ? "k" : "", past_name = open ? "p" : "";
    Model model;
    model.Give("q", Columns(q), open ? "q" : "");
    model.Give("k", apart ? HeadsFirst(k) : Columns(k), key_name);
    model.Give("v", apart ? HeadsFirst(v) : Columns(v), key_name);
    // Of queries, keys and values: one number for each column.
    const Part of_q = RandomPart(&random, 1, heads, 1, size),
               of_k = RandomPart(&random, 1, heads, 1, size),
               of_v = RandomPart(&random, 1, heads, 1, value_size);
    std::vector<double> bias = Doubles(of_q);
    for (const Part* const part : {&of_k, &of_v})
      bias.insert(bias.end(), part->values.begin(), part->values.end());
    if (biased) {
      model.GiveConstant("b", kFloat, {static_cast<int64_t>(bias.size())}, bias);
    } else {
      model.GiveNone();
    }
    // The number of keys of a batch; or which keys, or which keys for each query.
    const int64_t kind = Below(&random, 4);
    std::vector<double> mask;
    const int64_t elements = kind == 1 ? batch : kind == 2 ? batch * all : batch * queries * all;
    for (int64_t i = 0; i < elements; ++i)
      mask.push_back(static_cast<double>(kind == 1 ? Below(&random, static_cast<int>(all) + 1)
                                                   : Below(&random, 2)));
    if (kind == 0) model.GiveNone();
    if (kind == 1) model.GiveConstant("m", kInt32, {batch}, mask);
    if (kind == 2) model.GiveConstant("m", kInt32, {batch, all}, mask);
    if (kind == 3) model.GiveConstant("m", kInt32, {batch, queries, all}, mask);
    const Part scores = RandomPart(&random, batch, heads, queries, all);
    if (scored) {
      model.GiveConstant("s", kFloat, {batch, heads, queries, all}, Doubles(scores));
    } else {
      model.GiveNone();
    }
    if (before > 0) {
      model.Give("pk", HeadsFirst(past_k), past_name);
      model.Give("pv", HeadsFirst(past_v), past_name);
    }

    Scoring scoring;
    if (random.OneIn(2)) scoring.scale = 0.5;
    model.attributes += Int("num_heads", heads) + Float("mask_filter_value", -2.5f);
    if (causal) model.attributes += Int("unidirectional", 1);
    if (scoring.scale != 0) model.attributes += Float("scale", 0.5f);
    // Both end at the same position. Queries in front of the first key would see none.
    if (causal && all < queries) continue;
    scoring.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      if (causal && j > i + all - queries) return kHidden;
      const int64_t at = kind == 1 ? b : kind == 2 ? b * all + j : (b * queries + i) * all + j;
      const double number = kind == 0 ? 1 : mask[static_cast<size_t>(at)];
      const bool kept = kind == 1 ? static_cast<double>(j) < number : number != 0;
      return (kept ? 0 : -2.5) + (scored ? double{scores.At(b, h, i, j)} : 0.0);
    };
    const auto sum = [&](const Part& part, const Part& more) {
      return EachOf(part, [&](int64_t b, int64_t h, int64_t i, int64_t c) {
        return part.At(b, h, i, c) + more.At(0, h, 0, c);
      });
    };
    const Part all_k = Behind(past_k, biased && !apart ? sum(k, of_k) : k),
               all_v = Behind(past_v, biased && !apart ? sum(v, of_v) : v);
    Part weights(0, 0, 0, 0);
    const Part y = Attended(biased ? sum(q, of_q) : q, all_k, all_v, scoring, &weights);
    SCOPED_TRACE(model.text("MultiHeadAttention", "com.microsoft", 3));
    Workspace ws;
    model.Run("MultiHeadAttention", "com.microsoft", 3, &ws);
    ExpectSame(ws, "y0", Columns(y));
    ExpectSame(ws, "y1", HeadsFirst(all_k));
    ExpectSame(ws, "y2", HeadsFirst(all_v));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace caffe2rt::test::attention_options_test
