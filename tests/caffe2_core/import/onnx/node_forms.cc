#include "tests/caffe2_core/import/onnx/node_forms.h"

#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::node_forms {

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
std::string Float(const std::string& name, float value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}
std::string List(const std::string& name, const std::vector<int64_t>& values, bool scalar) {
  std::string text = "initializer { name: '" + name + "' data_type: 7 ";
  if (!scalar) text += MakeString("dims: ", values.size(), " ");
  for (const int64_t value : values) text += MakeString("int64_data: ", value, " ");
  return text + "} ";
}
std::string Number(const std::string& name, float value) {
  return MakeString("initializer { name: '", name, "' data_type: 1 float_data: ", value, " } ");
}
std::string Constant(const std::string& name, int type, const std::vector<int64_t>& dims,
                     const std::vector<double>& values) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  for (const int64_t dim : dims) text += MakeString("dims: ", dim, " ");
  const char* const field = type == kFloat   ? "float_data: "
                            : type == kInt64 ? "int64_data: "
                                             : "int32_data: ";
  for (const double value : values) text += MakeString(field, value, " ");
  return text + "} ";
}
std::string Node(const std::string& type, const std::string& inputs, const std::string& attributes,
                 const std::string& outputs) {
  std::string text = "node { op_type: '" + type + "' name: 'n' ";
  for (const char input : inputs) text += MakeString("input: '", std::string(1, input), "' ");
  for (const char output : outputs) text += MakeString("output: '", std::string(1, output), "' ");
  for (size_t at; (at = text.find("'-'")) != std::string::npos;) text.erase(at + 1, 1);
  return text + attributes + "} ";
}

namespace {

std::string ValueText(const Argument& arg) {
  if (arg.has_i()) return MakeString(arg.i());
  if (arg.has_f()) return MakeString(arg.f());
  if (arg.has_s()) return arg.s();
  if (arg.floats_size() > 0) return "[" + absl::StrJoin(arg.floats(), ",") + "]";
  if (arg.strings_size() > 0) return "[" + absl::StrJoin(arg.strings(), ",") + "]";
  return "[" + absl::StrJoin(arg.ints(), ",") + "]";
}

template <class T>
std::string ElementsText(const Tensor& values) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < values.numel(); ++i) texts.push_back(MakeString(+values.data<T>()[i]));
  return values.numel() == 1 ? texts[0] : "[" + absl::StrJoin(texts, ",") + "]";
}

// A line for each operator of the predict net: "Mul(x, 0.5) axis=1 -> y". Constants are shown by
// their values, and other blobs that are not x, y and so on by numbers.
std::string NetText(const OnnxModel& model) {
  std::map<std::string, std::string> names;
  for (const OperatorWeights& weights : model.weights) {
    const std::string& name = model.init_net.op(weights.op).output(0);
    const Tensor& values = weights.values;
    if (values.IsType<float>()) names[name] = ElementsText<float>(values);
    if (values.IsType<int64_t>()) names[name] = ElementsText<int64_t>(values);
    if (values.IsType<int32_t>()) names[name] = ElementsText<int32_t>(values);
    if (values.IsType<uint8_t>()) names[name] = ElementsText<uint8_t>(values);
    if (values.IsType<bool>()) names[name] = ElementsText<bool>(values);
  }
  int count = 0;
  const auto name_of = [&](const std::string& blob) {
    if (blob.size() == 1) return blob;
    std::string& name = names[blob];
    if (name.empty()) name = MakeString("%", ++count);
    return name;
  };
  std::string text;
  for (const OperatorDef& op : model.predict_net.op()) {
    std::vector<std::string> inputs, outputs;
    for (const std::string& input : op.input()) inputs.push_back(name_of(input));
    for (const std::string& output : op.output()) outputs.push_back(name_of(output));
    text += op.type() + "(" + absl::StrJoin(inputs, ", ") + ")";
    for (const Argument& arg : op.arg()) text += " " + arg.name() + "=" + ValueText(arg);
    text += " -> " + absl::StrJoin(outputs, ", ") + "\n";
  }
  return text;
}

}  // namespace

void Check(const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.nodes);
    std::string graph = form.nodes;
    for (const auto& [name, dims] : form.inputs)
      graph += OnnxValue("input", name, dims,
                         name == "c"   ? kBool
                         : name == "i" ? kInt64
                                       : form.type);
    for (const char output : form.outputs)
      graph += "output { name: '" + std::string(1, output) + "' } ";
    const std::string bytes = OnnxBytes(graph, form.opset);
    EXPECT_EQ(OnnxImportError(bytes), "");
    try {
      EXPECT_EQ(NetText(ImportOnnxFromMemory(bytes, {})), form.want);
    } catch (const EnforceNotMet&) {
    }
  }
}

}  // namespace caffe2rt::test::node_forms
