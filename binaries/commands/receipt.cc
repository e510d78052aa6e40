// caffe2 receipt: compares two receipts of `caffe2 run --receipt`.

#include "caffe2_core/inspect/receipt.h"

#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

Receipt Load(const std::string& path) {
  return ReceiptFromJson(ReadWholeFile(path, kMostBytes), "file \"" + path + "\"");
}

std::string HashText(const ReceiptRow& row) {
  if (!row.sum.has_value()) return "no hash";
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), *row.sum, 16).ptr;
  return std::string(16 - static_cast<size_t>(end - text), '0') + std::string(text, end);
}

// "float [2, 3], 00ab..."; "missing" for null.
std::string ValueText(const ReceiptRow* row) {
  if (row == nullptr) return "missing";
  const std::string shape = row->sum.has_value() ? MakeString(" ", row->shape) : "";
  return MakeString(row->type, shape, ", ", HashText(*row));
}

std::string DifferenceText(const ReceiptDifference& difference) {
  const ReceiptRow& row = difference.first != nullptr ? *difference.first : *difference.second;
  return MakeString("\"", row.blob, "\": ", ValueText(difference.first), " and ",
                    ValueText(difference.second));
}

std::string OperatorOf(const ReceiptDifference& difference) {
  const ReceiptRow& row = difference.first != nullptr ? *difference.first : *difference.second;
  return row.debug_info.empty() ? row.op : MakeString(row.op, " (", row.debug_info, ")");
}

std::string CountsText(size_t outputs, size_t results, bool has_operators) {
  std::string text = CountText(outputs, "output");
  if (has_operators) {
    text += MakeString(", ", CountText(results, "result"), " of operators");
  }
  return text;
}

void Print(const Receipt& first, const ReceiptComparison& found) {
  if (found.equal()) {
    std::cout << "equal: "
              << CountsText(first.outputs.size(), first.operators.size(), found.has_operators);
  } else {
    std::cout << "different: "
              << CountsText(found.outputs.size(), found.operators.size(), found.has_operators);
  }
  std::cout << "\n";
  if (!found.operators.empty()) {
    std::cout << "first operator: " << OneLine(OperatorOf(found.operators[0])) << "\n  output "
              << OneLine(DifferenceText(found.operators[0])) << "\n";
  } else if (!found.outputs.empty()) {
    std::cout << "  output " << OneLine(DifferenceText(found.outputs[0])) << "\n";
    if (!found.has_operators)
      std::cout << "(caffe2 run --receipt-all, for both, finds the first operator)\n";
  }
  if (found.conditions.empty()) return;
  std::cout << (found.equal() ? "although these differ:\n" : "these differ, too:\n");
  for (const std::string& line : found.conditions) std::cout << "  " << OneLine(line) << "\n";
}

Json JsonOf(const ReceiptRow* row) {
  if (row == nullptr) return Json();
  Json json = {{"type", row->type}, {"shape", row->shape}};
  json["hash"] = row->sum.has_value() ? Json(HashText(*row)) : Json();
  return json;
}

Json JsonOf(const ReceiptDifference& difference) {
  const ReceiptRow& row = difference.first != nullptr ? *difference.first : *difference.second;
  Json json = {{"blob", row.blob}};
  if (row.position >= 0) {
    json["position"] = row.position;
    json["operator"] = row.op;
    if (!row.debug_info.empty()) json["debug_info"] = row.debug_info;
  }
  json["first"] = JsonOf(difference.first);
  json["second"] = JsonOf(difference.second);
  return json;
}

void PrintAsJson(const ReceiptComparison& found) {
  const JsonDocument document = NewJson();
  Json& json = *document;
  json["equal"] = found.equal();
  json["first_operator"] = found.operators.empty() ? Json() : JsonOf(found.operators[0]);
  json["outputs"] = Json::array();
  for (const ReceiptDifference& output : found.outputs) json["outputs"].push_back(JsonOf(output));
  json["different_results_of_operators"] = found.operators.size();
  json["has_operators"] = found.has_operators;
  json["conditions"] = found.conditions;
  PrintJson(json);
}

int RunReceiptCommand(const CommandLine& line) {
  CheckPositional(line, 3, 3, "compare and two receipts");
  if (line.positional()[0] != "compare") {
    throw UsageError("caffe2 receipt is given \"" + line.positional()[0] + "\", want compare" +
                     DidYouMean(line.positional()[0], {"compare"}));
  }
  const Receipt first = Load(line.positional()[1]);
  const Receipt second = Load(line.positional()[2]);
  const ReceiptComparison found = CompareReceipts(first, second);
  line.Has("json") ? PrintAsJson(found) : Print(first, found);
  return found.equal() ? 0 : 1;
}

}  // namespace

const Command& ReceiptCommand() {
  static const Command command = {
      .name = "receipt",
      .purpose = "compares the results of two runs by their receipts (caffe2 run --receipt)",
      .usage = "receipt compare FILE FILE [options]",
      .examples =
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=1,3,64,64 --seed 1 --receipt /tmp/stripes_receipt.json --receipt-all\n"
          "  caffe2 receipt compare /tmp/stripes_receipt.json /tmp/stripes_receipt.json\n",
      .options = {kJsonOption},
      .run = RunReceiptCommand,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
