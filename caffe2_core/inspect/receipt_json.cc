#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/inspect/receipt.h"

namespace caffe2rt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

std::string HexOf(uint64_t sum) {
  char digits[17] = "0000000000000000";
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), sum, 16).ptr;
  std::copy(text, end, digits + 16 - (end - text));
  return digits;
}

uint64_t SumOfHex(const std::string& text) {
  uint64_t sum = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sum, 16);
  CAFFE_ENFORCE(error == std::errc() && end == text.data() + text.size() && text.size() == 16,
                "hash \"", text, "\", want 16 hexadecimal digits");
  return sum;
}

Json JsonOf(const ReceiptRow& row) {
  Json json = {{"blob", row.blob}, {"type", row.type}, {"shape", row.shape}};
  json["hash"] = row.sum.has_value() ? Json(HexOf(*row.sum)) : Json();
  if (row.position < 0) return json;
  json["position"] = row.position;
  json["operator"] = row.op;
  if (!row.debug_info.empty()) json["debug_info"] = row.debug_info;
  return json;
}

ReceiptRow RowOf(const Json& json) {
  ReceiptRow row = {.blob = json.at("blob"), .type = json.at("type")};
  row.shape = json.at("shape").get<std::vector<int64_t>>();
  if (!json.at("hash").is_null()) row.sum = SumOfHex(json.at("hash"));
  row.position = json.value("position", -1);
  row.op = json.value("operator", "");
  row.debug_info = json.value("debug_info", "");
  return row;
}

Json JsonOf(const std::vector<ReceiptRow>& rows) {
  Json list = Json::array();
  for (const ReceiptRow& row : rows) list.push_back(JsonOf(row));
  return list;
}

std::vector<ReceiptRow> RowsOf(const Json& list) {
  CAFFE_ENFORCE(list.is_array(), "a list of blobs is ", list.type_name(), ", want an array");
  std::vector<ReceiptRow> rows;
  for (const Json& row : list) rows.push_back(RowOf(row));
  return rows;
}

Receipt ReceiptOf(const Json& json) {
  CAFFE_ENFORCE(json.is_object() && json.contains("receipt"), "it has no field \"receipt\"");
  const int format = json.at("receipt");
  CAFFE_ENFORCE_EQ(format, kFormat, "format of the receipt");
  Receipt receipt = {.net = json.at("net")};
  if (!json.at("seed").is_null()) receipt.seed = json.at("seed").get<uint64_t>();
  receipt.runs = json.at("runs");
  receipt.version = json.at("version");
  receipt.instruction_set = json.at("instruction_set");
  receipt.threads = json.at("threads");
  receipt.executor = json.at("executor");
  receipt.deterministic = json.at("deterministic");
  receipt.passes = json.at("passes").get<std::vector<std::string>>();
  receipt.inputs = RowsOf(json.at("inputs"));
  receipt.weights = RowOf(json.at("weights"));
  receipt.outputs = RowsOf(json.at("outputs"));
  if (json.contains("operators")) receipt.operators = RowsOf(json.at("operators"));
  return receipt;
}

}  // namespace

std::string ReceiptAsJson(const Receipt& receipt) {
  Json json = {{"receipt", kFormat}, {"net", receipt.net}};
  json["seed"] = receipt.seed.has_value() ? Json(*receipt.seed) : Json();
  json["runs"] = receipt.runs;
  json["version"] = receipt.version;
  json["instruction_set"] = receipt.instruction_set;
  json["threads"] = receipt.threads;
  json["executor"] = receipt.executor;
  json["deterministic"] = receipt.deterministic;
  json["passes"] = receipt.passes;
  json["inputs"] = JsonOf(receipt.inputs);
  json["weights"] = JsonOf(receipt.weights);
  json["outputs"] = JsonOf(receipt.outputs);
  if (!receipt.operators.empty()) json["operators"] = JsonOf(receipt.operators);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Receipt ReceiptFromJson(const std::string& json, const std::string& subject) try {
  return ReceiptOf(Json::parse(json));
} catch (const Json::exception& error) {
  CAFFE_THROW(subject, " is not a receipt of `caffe2 run --receipt`: ", error.what());
} catch (const OutOfMemory&) {
  throw;
} catch (const EnforceNotMet& error) {
  CAFFE_THROW(subject, " is not a receipt of `caffe2 run --receipt`: ", error.message());
}

}  // namespace caffe2rt
