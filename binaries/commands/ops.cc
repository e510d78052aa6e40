// caffe2 ops: lists the operators, or describes their inputs, outputs and arguments.

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/command.h"
#include "binaries/json_output.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

// "CPU", "CPU (engine NHWC)", ...
std::vector<std::string> DevicesOf(const std::string& type) {
  std::vector<std::string> devices;
  for (int device = 0; device < kMaxDeviceTypes; ++device) {
    const std::string name = DeviceTypeName(device);
    for (const std::string& key : OperatorRegistryOf(static_cast<DeviceType>(device))->Keys()) {
      if (key == type) devices.push_back(name);
      const std::string mark = type + "_ENGINE_";
      if (key.starts_with(mark))
        devices.push_back(MakeString(name, " (engine ", key.substr(mark.size()), ")"));
    }
  }
  return devices;
}

std::string DocOf(const OpSchema& schema) { return schema.doc() != nullptr ? schema.doc() : ""; }

std::string FirstSentence(const std::string& doc) {
  const std::string text(absl::StripLeadingAsciiWhitespace(doc));
  return text.substr(0, std::min(text.find(". "), text.find('\n')));
}

std::string ArityText(int least, int most) {
  if (least == most) return MakeString(least);
  return most == INT32_MAX ? MakeString("at least ", least) : MakeString(least, " to ", most);
}

// The source path of a built-in operator relative to the repository's root, wherever that was when
// this file was compiled. The path of any other operator as it was compiled.
std::string SourceFile(const OpSchema& schema) {
  constexpr std::string_view kThisFile = __FILE__;
  constexpr std::string_view kRoot =
      kThisFile.substr(0, kThisFile.rfind("binaries/commands/ops.cc"));
  const std::string& file = schema.file();
  return file.starts_with(MakeString(kRoot, "operators/")) ? file.substr(kRoot.size()) : file;
}

// `details(i)` follows the line of entry i.
template <class Details>
void PrintNamed(const char* title, const std::vector<OpSchema::NamedDoc>& docs, int least, int most,
                const Details& details) {
  std::cout << title << ": " << ArityText(least, most) << "\n";
  for (size_t i = 0; i < docs.size(); ++i) {
    if (docs[i].name.empty() && docs[i].doc.empty()) continue;
    std::cout << "  " << i << "  " << docs[i].name << (docs[i].doc.empty() ? "" : ": ")
              << docs[i].doc << "\n"
              << details(static_cast<int>(i));
  }
}

std::string AcceptedLine(const std::string& type, int input) {
  const std::optional<AcceptedInput> accepted = FindAcceptedInput(type, input);
  if (!accepted.has_value()) return "";
  return "     " + TypesText(*accepted) + "; " + RanksText(*accepted) + "\n";
}

void PrintOperator(const std::string& type, const OpSchema* schema) {
  std::cout << type << "\n";
  if (schema != nullptr && schema->doc() != nullptr) std::cout << schema->doc() << "\n";
  std::cout << "\ndevices: " << absl::StrJoin(DevicesOf(type), ", ") << "\n";
  if (schema == nullptr) {
    std::cout << "no schema\n";
    return;
  }
  std::cout << "source: " << SourceFile(*schema) << "\n";
  PrintNamed("inputs", schema->input_docs(), schema->min_input(), schema->max_input(),
             [&](int input) { return AcceptedLine(type, input); });
  PrintNamed("outputs", schema->output_docs(), schema->min_output(), schema->max_output(),
             [](int) { return ""; });
  if (!schema->args().empty()) std::cout << "arguments:\n";
  for (const OpSchema::Argument& arg : schema->args()) {
    std::cout << "  " << arg.name << ": " << arg.doc;
    if (arg.required) {
      std::cout << " (required)";
    } else if (!arg.default_value.empty()) {
      std::cout << " (" << arg.default_value << ")";
    }
    std::cout << "\n";
  }
}

Json JsonOf(const std::vector<OpSchema::NamedDoc>& docs) {
  Json json = Json::array();
  for (const OpSchema::NamedDoc& doc : docs) {
    json.emplace_back() = {{"name", doc.name}, {"doc", doc.doc}};
  }
  return json;
}

Json JsonOf(const std::vector<OpSchema::Argument>& args) {
  Json json = Json::array();
  for (const OpSchema::Argument& arg : args) {
    Json& entry = json.emplace_back();
    entry = {{"name", arg.name}, {"doc", arg.doc}, {"required", arg.required}};
    if (!arg.type.empty()) entry["type"] = arg.type;
    if (!arg.default_value.empty()) entry["default"] = arg.default_value;
  }
  return json;
}

Json JsonOf(const std::string& type, const OpSchema* schema) {
  Json json = {{"type", type}, {"devices", DevicesOf(type)}};
  if (schema == nullptr) return json;
  json["doc"] = DocOf(*schema);
  json["source"] = SourceFile(*schema);
  json["min_inputs"] = schema->min_input();
  json["max_inputs"] = schema->max_input();
  json["min_outputs"] = schema->min_output();
  json["max_outputs"] = schema->max_output();
  json["inputs"] = JsonOf(schema->input_docs());
  for (size_t i = 0; i < json["inputs"].size(); ++i) {
    const auto accepted = FindAcceptedInput(type, static_cast<int>(i));
    if (!accepted.has_value()) continue;
    Json& names = json["inputs"][i]["types"] = Json::array();
    for (const TensorProto_DataType element : accepted->types)
      names.emplace_back(DataTypeName(element));
    json["inputs"][i]["ranks"] = accepted->ranks;
  }
  json["outputs"] = JsonOf(schema->output_docs());
  json["arguments"] = JsonOf(schema->args());
  return json;
}

// The type, its devices, its source on wide terminals, and as much of its description as fits.
std::string ListLine(const std::string& type, const OpSchema* schema, size_t width) {
  constexpr size_t kLeastDoc = 10, kWide = 120;
  const auto cell = [](std::string text, size_t columns) {
    text.resize(std::max(text.size() + 2, columns), ' ');
    return text;
  };
  std::string line = cell(type, 26) + cell(absl::StrJoin(DevicesOf(type), ", "), 11);
  if (schema != nullptr && width >= kWide) line += cell(SourceFile(*schema), 34);
  if (schema != nullptr && line.size() + kLeastDoc <= width) {
    line += Shortened(FirstSentence(DocOf(*schema)), width - line.size());
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return line;
}

std::string WhatIsMissing(const std::string& type) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  return schema == nullptr || schema->missing().empty() ? "" : ": it needs " + schema->missing();
}

}  // namespace

std::vector<std::string> ListedOperators() {
  std::vector<std::string> types = GetRegisteredOperators();
  std::erase_if(types, [](const std::string& type) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    return schema != nullptr && schema->is_private();
  });
  return types;
}

namespace {

int Ops(const CommandLine& line) {
  CheckPositional(line, 0, SIZE_MAX, "operator types");
  const std::vector<std::string> all = GetRegisteredOperators();
  std::vector<std::string> types = line.positional();
  for (const std::string& type : types) {
    CAFFE_ENFORCE(std::binary_search(all.begin(), all.end(), type), "operator type \"", type,
                  "\" is ",
                  IsKnownCaffe2Operator(type) ? "known to Caffe2 but not available" : "not known",
                  WhatIsMissing(type), " (`caffe2 ops` lists all)", DidYouMean(type, all));
  }
  const bool list = types.empty();
  if (list) types = ListedOperators();
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = Json::array();
    for (const std::string& type : types)
      json->push_back(JsonOf(type, OpSchemaRegistry::Schema(type)));
    PrintJson(*json);
    return 0;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const OpSchema* schema = OpSchemaRegistry::Schema(types[i]);
    if (!list) {
      if (i > 0) std::cout << "\n";
      PrintOperator(types[i], schema);
      continue;
    }
    std::cout << ListLine(types[i], schema, OutputWidth()) << "\n";
  }
  return 0;
}

}  // namespace

const Command& OpsCommand() {
  static const Command command = {
      .name = "ops",
      .purpose = "lists operators, or describes one",
      .usage = "ops [TYPE...] [options]",
      .examples =
          "  caffe2 ops Conv\n"
          "  caffe2 ops --json\n",
      .options = {{"module", "FILE.so", "", "module with operators; may be repeated", true},
                  kJsonOption},
      .run = Ops,
      .arguments = ArgumentKind::kOperatorTypes};
  return command;
}

}  // namespace caffe2rt
