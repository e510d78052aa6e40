#include "tests/operators/inference/inference_rows.h"

#include <gtest/gtest.h>

#include <sstream>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test {
namespace {

struct TypeLetter {
  char letter;
  TensorProto_DataType type;
};
constexpr TypeLetter kTypeLetters[] = {
    {'f', TensorProto::FLOAT},  {'h', TensorProto::FLOAT16},  {'d', TensorProto::DOUBLE},
    {'c', TensorProto::INT8},   {'u', TensorProto::UINT8},    {'i', TensorProto::INT32},
    {'l', TensorProto::INT64},  {'b', TensorProto::BOOL},     {'s', TensorProto::STRING},
    {'w', TensorProto::UINT16}, {'?', TensorProto::UNDEFINED}};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

TensorShape ShapeOf(const std::string& text) {
  TensorShape shape;
  const bool unknown = text[0] == '?';
  if (unknown) shape.set_unknown_shape(true);
  if (text.size() == 1) return shape;
  for (const TypeLetter& row : kTypeLetters) {
    if (row.letter == text[unknown ? 1 : 0]) shape.set_data_type(row.type);
  }
  if (!unknown) {
    for (const std::string& dim : Split(text.substr(2, text.size() - 3), ',')) {
      if (dim == "?") shape.add_unknown_dims(shape.dims_size());
      shape.add_dims(dim == "?" ? 0 : std::stoll(dim));
    }
  }
  return shape;
}

std::string TextOf(const TensorShape& shape) {
  std::string text = shape.unknown_shape() ? "?" : "";
  if (shape.has_data_type()) {
    for (const TypeLetter& row : kTypeLetters) {
      if (row.type == shape.data_type()) text += row.letter;
    }
  } else if (!shape.unknown_shape()) {
    text += "(no type)";
  }
  if (shape.unknown_shape()) return text;
  return MakeString(text, '[', MakeString(IntArrayRef(GetDimsVector(shape))).substr(1));
}

std::string TextOf(const std::vector<TensorShape>& shapes) {
  std::string text;
  for (const TensorShape& shape : shapes) {
    if (!text.empty()) text += ' ';
    for (const char c : TextOf(shape)) {
      if (c != ' ') text += c;
    }
  }
  return text;
}

void AddArgument(const std::string& text, OperatorDef* def) {
  const size_t equals = text.find('=');
  Argument& arg = *def->add_arg();
  arg.set_name(text.substr(0, equals));
  const std::string value = text.substr(equals + 1);
  const bool number = value.find_first_not_of("0123456789-.,") == std::string::npos;
  const bool real = value.find('.') != std::string::npos;
  if (value.find(';') != std::string::npos) {
    for (const std::string& part : Split(value, ';')) arg.add_strings(part);
  } else if (!number) {
    arg.set_s(value);
  } else if (value.find(',') != std::string::npos) {
    for (const std::string& part : Split(value, ',')) {
      if (real) {
        arg.add_floats(std::stof(part));
      } else {
        arg.add_ints(std::stoll(part));
      }
    }
  } else if (real) {
    arg.set_f(std::stof(value));
  } else {
    arg.set_i(std::stoll(value));
  }
}

std::string Infer(const OperatorDef& def, const std::vector<TensorShape>& inputs) {
  try {
    return TextOf(OpSchemaRegistry::Schema(def.type())->InferTensor(def, inputs));
  } catch (const EnforceNotMet& error) {
    return "! " + error.message();
  }
}

void ExpectNeeds(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                 const InferenceRow& row) {
  const std::string first = Split(row.outputs, ' ')[0], needs = row.needs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    SCOPED_TRACE(MakeString("if the shape of input ", i, " is unknown"));
    std::vector<TensorShape> fewer = inputs;
    fewer[i] = UnknownShape();
    const std::vector<std::string> got = Split(Infer(def, fewer), ' ');
    ASSERT_EQ(got.size(), static_cast<size_t>(def.output_size()));
    const bool unknown = got[0][0] == '?';
    const bool needed = needs.find(static_cast<char>('0' + i)) != std::string::npos;
    EXPECT_EQ(unknown, needed || first[0] == '?');
    if (!unknown) {
      EXPECT_EQ(got[0].substr(got[0].find('[')), first.substr(first.find('[')));
    }
  }
}

}  // namespace

void ExpectInferred(const std::vector<InferenceRow>& rows) {
  EnsureBuiltinOperators();
  for (const InferenceRow& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " {", row.args, "} of ", row.inputs));
    OperatorDef def;
    def.set_type(row.type);
    ASSERT_NE(OpSchemaRegistry::Schema(def.type()), nullptr);
    std::vector<TensorShape> inputs;
    for (const std::string& input : Split(row.inputs, ' ')) {
      def.add_input(MakeString("in", inputs.size()));
      inputs.push_back(ShapeOf(input));
    }
    const bool throws = row.outputs[0] == '!';
    const size_t outputs = throws ? 1 : Split(row.outputs, ' ').size();
    for (size_t i = 0; i < outputs; ++i) def.add_output(MakeString("out", i));
    for (const std::string& arg : Split(row.args, ' ')) AddArgument(arg, &def);
    EXPECT_EQ(Infer(def, inputs), row.outputs);
    if (row.needs != nullptr) ExpectNeeds(def, inputs, row);
  }
}

}  // namespace caffe2rt::test
