#include "tests/fuzz/generate_inputs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt::test {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string Trim(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The terms between the brackets of a documented shape. Several shapes may be documented.
std::vector<std::string> TermsOf(const std::string& doc, Random* random) {
  size_t open = doc.find('[');
  if (open == std::string::npos) return {};
  const size_t second = doc.find('[', open + 1);
  if (second != std::string::npos && random->OneIn(4)) open = second;
  const size_t close = doc.find(']', open);
  if (close == std::string::npos) return {};
  std::vector<std::string> terms;
  std::string term;
  for (size_t i = open + 1; i <= close; ++i) {
    if (doc[i] != ',' && i != close) {
      term += doc[i];
      continue;
    }
    if (!Trim(term).empty()) terms.push_back(Trim(term));
    term.clear();
  }
  return terms;
}

int64_t AnySize(Random* random) {
  static const int64_t kSizes[] = {1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 7, 8, 17};
  return random->OneIn(24) ? 0 : kSizes[random->Below(std::size(kSizes))];
}

int64_t Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

}  // namespace

int64_t DocumentedSizes::SizeOf(const std::string& name) {
  const bool is_number = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  if (is_number) return std::min<int64_t>(std::atoll(name.c_str()), 64);
  for (const Argument& arg : op_.arg()) {
    if (arg.name() == name && arg.has_i()) return std::clamp<int64_t>(arg.i(), 0, 16);
  }
  for (const OpSchema::Argument& arg : schema_.args()) {
    if (arg.name != name || arg.default_value.empty()) continue;
    return std::clamp<int64_t>(std::atoll(arg.default_value.c_str()), 0, 16);
  }
  std::vector<int64_t>& extent = extents_[name];
  if (extent.empty()) extent.push_back(AnySize(random_));
  return extent[0];
}

// Evaluates products, quotients, sums and differences from left to right.
int64_t DocumentedSizes::Value(const std::string& expression) {
  int64_t value = 0;
  char operation = '+';
  std::string name;
  for (size_t i = 0; i <= expression.size(); ++i) {
    const char c = i < expression.size() ? expression[i] : '+';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      name += c;
      continue;
    }
    if (!name.empty()) {
      const int64_t size = SizeOf(name);
      name.clear();
      if (operation == '*') value *= size;
      if (operation == '/' && size != 0) value /= size;
      if (operation == '+') value += size;
      if (operation == '-') value -= size;
    }
    if (c == '*' || c == '/' || c == '+' || c == '-') operation = c;
  }
  return std::clamp<int64_t>(value, 0, 256);
}

std::vector<int64_t> DocumentedSizes::Extent(const std::string& term) {
  if (term != "*" && !term.ends_with("..")) return {Value(term)};
  const auto [at, is_new] = extents_.emplace(term, std::vector<int64_t>());
  if (is_new) {
    for (uint64_t rank = random_->Below(3); rank-- > 0;) at->second.push_back(AnySize(random_));
  }
  return at->second;
}

std::vector<int64_t> DocumentedSizes::DimsOf(const std::string& doc) {
  std::vector<int64_t> dims;
  const std::vector<std::string> terms = TermsOf(doc, random_);
  if (!terms.empty()) {
    for (const std::string& term : terms) {
      for (const int64_t dim : Extent(term)) dims.push_back(dim);
    }
  } else if (Contains(doc, "scalar")) {
    if (random_->OneIn(2)) dims.push_back(1);
  } else if (Contains(doc, "rows of") || Contains(doc, "each row")) {
    dims = {SizeOf("rows")};
  } else if (!first_.empty() && !random_->OneIn(4)) {
    dims = first_;
  } else {
    for (uint64_t rank = 1 + random_->Below(4); rank-- > 0;) dims.push_back(AnySize(random_));
  }
  // The elements must fit into a small file.
  while (Product(dims) > 20'000) *std::max_element(dims.begin(), dims.end()) = 1;
  if (first_.empty()) first_ = dims;
  before_ = std::exchange(last_, dims);
  return dims;
}

int64_t DocumentedSizes::RowsOfSegments(const OpSchema::NamedDoc& doc,
                                        const std::vector<int64_t>& dims) const {
  const bool of_rows = Contains(doc.doc, "number of rows of each segment");
  return of_rows && dims.size() == 1 && !before_.empty() ? before_[0] : -1;
}

namespace {

// Whether a text names the type: "uint8" does not name int8, nor "float16" float.
bool NamesType(const std::string& text, const std::string& type) {
  for (size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + 1)) {
    const size_t end = at + type.size();
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    const bool ends =
        end == text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0;
    if (begins && ends) return true;
  }
  return false;
}

// Types that a text names; float if it names none.
std::string TypeOf(const OpSchema::NamedDoc& doc, bool fits, Random* random) {
  static const char* const kTypes[] = {"int32", "int64", "bool",   "string", "uint8",
                                       "float", "int8",  "double", "float16"};
  if (!fits && random->OneIn(16)) return kTypes[random->Below(std::size(kTypes))];
  std::vector<std::string> named;
  for (const char* const type : kTypes) {
    if (NamesType(doc.doc, type)) named.emplace_back(type);
  }
  if (!named.empty()) return random->Pick(named);
  std::string name = doc.name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* const part : {"indices", "lengths", "labels", "ids", "ranges"}) {
    if (Contains(name, part)) return random->OneIn(3) ? "int64" : "int32";
  }
  return "float";
}

// Lengths of `count` segments that add up to `rows`.
void AddLengths(int64_t count, int64_t rows, Random* random, Argument* values) {
  std::vector<int64_t> lengths(static_cast<size_t>(count));
  for (int64_t row = 0; row < rows; ++row) ++lengths[random->Below(lengths.size())];
  for (const int64_t length : lengths) values->add_ints(length);
}

// Small numbers, mostly valid as indices and lengths; sometimes all the same, so that lengths add
// up to a number of rows.
void AddIntegers(int64_t count, bool fits, Random* random, Argument* values) {
  static const int64_t kEdges[] = {-1, -2, 16, 255, INT32_MAX, INT32_MIN, 1 << 20, 65536};
  const uint64_t mode = random->Below(4);
  const bool hostile = !fits && random->OneIn(8);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = mode == 0 ? 1 : static_cast<int64_t>(random->Below(mode == 1 ? 2 : 4));
    if (mode == 3 && i > 0) value = std::max(value, values->ints(static_cast<int>(i) - 1));
    if (hostile && random->OneIn(4)) value = kEdges[random->Below(std::size(kEdges))];
    values->add_ints(value);
  }
}

void AddFloats(int64_t count, Random* random, Argument* values) {
  static const float kEdges[] = {-1e30f, 1e30f, 3e38f, -0.0f, 1e-38f, 65536, -40000};
  const bool hostile = random->OneIn(8), whole = random->OneIn(3);
  for (int64_t i = 0; i < count; ++i) {
    float value = static_cast<float>(random->Below(4000)) / 500 - (random->OneIn(2) ? 0.0f : 4.0f);
    if (whole) value = static_cast<float>(random->Below(4));
    if (hostile && random->OneIn(6)) value = kEdges[random->Below(std::size(kEdges))];
    if (hostile && random->OneIn(12)) value = random->OneIn(2) ? NAN : INFINITY;
    values->add_floats(value);
  }
}

// Integers are lengths that add up to `rows`, unless it is negative.
void AddFill(const std::string& type, const std::vector<int64_t>& dims, int64_t rows, bool fits,
             const std::string& blob, Random* random, NetDef* net) {
  static const std::map<std::string, std::string> kFills = {{"int32", "GivenTensorIntFill"},
                                                            {"int64", "GivenTensorInt64Fill"},
                                                            {"bool", "GivenTensorBoolFill"},
                                                            {"double", "GivenTensorDoubleFill"},
                                                            {"string", "GivenTensorStringFill"}};
  const auto fill = kFills.find(type);
  const int data_type = type == "uint8"     ? TensorProto::UINT8
                        : type == "int8"    ? TensorProto::INT8
                        : type == "float16" ? TensorProto::FLOAT16
                                            : TensorProto::UNDEFINED;
  const bool casts = data_type != TensorProto::UNDEFINED;
  const std::string filled = casts ? blob + "_float" : blob;
  OperatorDef* const op = net->add_op();
  *op =
      CreateOperatorDef(fill == kFills.end() ? "GivenTensorFill" : fill->second, "", {}, {filled});
  AddArgument("shape", dims, op);
  Argument* const values = op->add_arg();
  values->set_name("values");
  const int64_t count = Product(dims);
  if (type == "int32" || type == "int64" || type == "bool") {
    if (rows >= 0 && count > 0) {
      AddLengths(count, rows, random, values);
    } else {
      AddIntegers(count, fits, random, values);
    }
  } else if (type == "string") {
    for (int64_t i = 0; i < count; ++i) values->add_strings(std::string(random->Below(40), 'a'));
  } else {
    AddFloats(count, random, values);
  }
  if (!casts) return;
  OperatorDef* const cast = net->add_op();
  if (data_type == TensorProto::FLOAT16) {
    *cast = CreateOperatorDef("FloatToHalf", "", {filled}, {blob});
    return;
  }
  *cast = CreateOperatorDef("Cast", "", {filled}, {blob});
  AddArgument("to", data_type, cast);
}

// Creates an object that is not a tensor. Returns whether the text describes one.
bool AddObject(const OpSchema::NamedDoc& doc, const std::string& blob, Random* random,
               NetDef* net) {
  static const struct {
    const char* word;
    const char* type;
  } kObjects[] = {{"queue", "CreateBlobsQueue"},  {"counter", "CreateCounter"},
                  {"cursor", "CreateTreeCursor"}, {"mutex", "CreateMutex"},
                  {"scope", "CreateScope"},       {"tensor vector", "CreateTensorVector"},
                  {"timer", "TimerBegin"}};
  const std::string text = doc.name + " " + doc.doc;
  for (const auto& object : kObjects) {
    if (!Contains(text, object.word) || random->OneIn(8)) continue;
    OperatorDef* const op = net->add_op();
    *op = CreateOperatorDef(object.type, "", {}, {blob});
    if (std::string(object.type) == "CreateBlobsQueue") {
      AddArgument("capacity", static_cast<int>(random->Below(4)), op);
      AddArgument("num_blobs", static_cast<int>(random->Below(3)), op);
    }
    if (std::string(object.type) == "CreateTreeCursor") {
      static const std::vector<std::vector<std::string>> kFields = {
          {"a"}, {"a:lengths", "a:values"}, {"a:lengths", "a:b:lengths", "a:b:values", "c"}};
      AddArgument("fields", random->Pick(kFields), op);
    }
    return true;
  }
  return false;
}

// Creates an Int8 tensor.
bool AddQuantized(const OpSchema::NamedDoc& doc, const std::vector<int64_t>& dims, bool fits,
                  const std::string& blob, Random* random, NetDef* net) {
  if (!Contains(doc.doc, "quantized") || (!fits && random->OneIn(8))) return false;
  const bool is_int32 = Contains(doc.doc, "int32");
  OperatorDef* const op = net->add_op();
  *op = CreateOperatorDef(is_int32 ? "Int8GivenIntTensorFill" : "Int8GivenTensorFill", "", {},
                          {blob});
  AddArgument("shape", dims, op);
  if (is_int32) {
    Argument* const values = op->add_arg();
    values->set_name("values");
    AddIntegers(Product(dims), fits, random, values);
  } else {
    std::string values;
    for (int64_t i = 0; i < Product(dims); ++i) values += static_cast<char>(random->Next());
    AddArgument("values", values, op);
  }
  AddArgument("Y_scale", random->OneIn(8) ? 0.0f : 0.5f, op);
  AddArgument("Y_zero_point", random->OneIn(8) ? -5 : static_cast<int>(random->Below(256)), op);
  return true;
}

void Damage(Random* random, std::vector<int64_t>* dims) {
  if (random->OneIn(10) && !dims->empty()) (*dims)[random->Below(dims->size())] = AnySize(random);
  if (random->OneIn(16)) dims->push_back(1);
  if (random->OneIn(16) && !dims->empty()) dims->pop_back();
  if (random->OneIn(40) && dims->size() > 1) {  // no elements, but any number of rows
    dims->back() = 0;
    (*dims)[0] = int64_t{1} << (random->OneIn(2) ? 40 : 60);
  }
}

}  // namespace

void AddInput(const OpSchema::NamedDoc& doc, const std::string& blob, bool fits,
              DocumentedSizes* sizes, Random* random, NetDef* net) {
  if (AddObject(doc, blob, random, net)) return;
  std::vector<int64_t> dims = sizes->DimsOf(doc.doc);
  const int64_t rows = sizes->RowsOfSegments(doc, dims);
  if (AddQuantized(doc, dims, fits, blob, random, net)) return;
  if (!fits) Damage(random, &dims);
  AddFill(TypeOf(doc, fits, random), dims, random->OneIn(4) ? -1 : rows, fits, blob, random, net);
}

}  // namespace caffe2rt::test
