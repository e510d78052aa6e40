// caffe2 db list and info.

#include <absl/strings/str_join.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/db.h"
#include "binaries/json_output.h"
#include "binaries/table.h"
#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

// What a record holds.
struct RecordFacts {
  std::string key;
  size_t bytes = 0;              // of the value
  std::string content;           // "uint8 [28, 28, 1], int32 []"
  std::optional<int64_t> label;  // an integer, alone in its tensor
};

void AddTensor(const TensorProto& tensor, RecordFacts* facts) {
  if (!facts->content.empty()) facts->content += ", ";
  facts->content += MakeString(
      tensor.data_type() == TensorProto::BYTE ? "uint8" : DataTypeName(tensor.data_type()), " [",
      absl::StrJoin(tensor.dims(), ", "), "]");
  if (tensor.int32_data_size() == 1 && tensor.data_type() == TensorProto::INT32)
    facts->label = tensor.int32_data(0);
  if (tensor.int64_data_size() == 1 && tensor.data_type() == TensorProto::INT64)
    facts->label = tensor.int64_data(0);
}

RecordFacts FactsOf(const std::string& key, const std::string& value) {
  RecordFacts facts{.key = key, .bytes = value.size(), .content = {}, .label = {}};
  CaffeDatum datum;
  BlobProto blob;
  TensorProtos tensors;
  if (blob.ParseFromString(value) && blob.has_type()) {
    facts.content = "blob of " + OneLine(Shortened(blob.type()));
  } else if (ParseDatum(value, &datum)) {
    facts.content = datum.encoded() ? "Datum of Caffe, an encoded image"
                                    : MakeString("Datum of Caffe [", datum.channels(), ", ",
                                                 datum.height(), ", ", datum.width(), "]");
    facts.label = datum.label();
  } else if (tensors.ParseFromString(value) && tensors.protos_size() > 0) {
    for (const TensorProto& tensor : tensors.protos()) AddTensor(tensor, &facts);
  } else {
    facts.content = "bytes";
  }
  return facts;
}

Json JsonOf(const RecordFacts& facts) {
  Json json = {{"key", facts.key}, {"bytes", facts.bytes}, {"content", facts.content}};
  if (facts.label) json["label"] = *facts.label;
  return json;
}

// Calls `visit` with each record and returns their number. `limit`: 0 is all.
template <class Visit>
int64_t ForEachRecord(const DatabasePlace& place, int64_t limit, Visit visit) {
  const std::unique_ptr<db::DB> database = db::OpenDB(place.type, place.path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  int64_t records = 0;
  for (; cursor->Valid() && (limit == 0 || records < limit); cursor->Next(), ++records)
    visit(FactsOf(cursor->key(), cursor->value()));
  return records;
}

void PrintRecords(const std::vector<RecordFacts>& records) {
  Table table({{.title = "key", .kind = Column::kName},
               {.title = "bytes", .kind = Column::kNumber},
               {.title = "label", .kind = Column::kNumber, .optional = 1},
               {.title = "content", .kind = Column::kText, .least_width = kLeastShapeWidth}});
  for (const RecordFacts& facts : records) {
    table.Add({OneLine(facts.key), MakeString(facts.bytes),
               facts.label ? MakeString(*facts.label) : "", facts.content});
  }
  table.Print();
}

struct DatabaseFacts {
  int64_t records = 0;
  uint64_t bytes = 0;
  std::map<std::string, int64_t> contents;  // records by what they hold
  std::map<int64_t, int64_t> labels;        // records by label
};

// More kinds of content or labels than this are not counted apart.
constexpr size_t kMostKinds = 1000;

template <class Key>
void Count(const Key& key, std::map<Key, int64_t>* counts) {
  const auto found = counts->find(key);
  if (found != counts->end()) {
    ++found->second;
  } else if (counts->size() < kMostKinds) {
    counts->emplace(key, 1);
  }
}

DatabaseFacts FactsOf(const DatabasePlace& place) {
  DatabaseFacts facts;
  facts.records = ForEachRecord(place, 0, [&](const RecordFacts& record) {
    facts.bytes += record.bytes;
    Count(record.content, &facts.contents);
    if (record.label) Count(*record.label, &facts.labels);
  });
  return facts;
}

void PrintAsJson(const DatabasePlace& place, const DatabaseFacts& facts) {
  const JsonDocument json = NewJson();
  *json = {{"database", place.path},
           {"type", place.type},
           {"records", facts.records},
           {"bytes", facts.bytes}};
  Json& contents = (*json)["contents"] = Json::object();
  for (const auto& [content, records] : facts.contents) contents[content] = records;
  Json& labels = (*json)["labels"] = Json::object();
  for (const auto& [label, records] : facts.labels) labels[MakeString(label)] = records;
  PrintJson(*json);
}

void Print(const DatabasePlace& place, const DatabaseFacts& facts) {
  std::cout << place.path << ": " << place.type << ", " << CountText(facts.records, "record")
            << ", " << ByteSizeText(facts.bytes) << "\n";
  for (const auto& [content, records] : facts.contents)
    std::cout << "  " << records << " of " << content << "\n";
  if (facts.labels.empty()) return;
  std::cout << "labels\n";
  Table table(
      {{.title = "label", .kind = Column::kNumber}, {.title = "records", .kind = Column::kNumber}});
  for (const auto& [label, records] : facts.labels)
    table.Add({MakeString(label), MakeString(records)});
  table.Print();
}

}  // namespace

int ListRecords(const CommandLine& line, const std::vector<std::string>& arguments) {
  constexpr int64_t kDefaultLimit = 1000;
  const DatabasePlace place = GivenDatabase(arguments);
  const int64_t limit = line.Has("limit") ? line.Integer("limit", 0, INT64_MAX) : kDefaultLimit;
  if (line.Has("json")) {
    // One object a line, so that the memory does not grow with the database.
    ForEachRecord(place, limit, [](const RecordFacts& facts) { PrintJson(JsonOf(facts)); });
    return 0;
  }
  std::vector<RecordFacts> records;
  const int64_t listed =
      ForEachRecord(place, limit, [&](RecordFacts facts) { records.push_back(std::move(facts)); });
  PrintRecords(records);
  if (limit > 0 && listed == limit) std::cout << "--limit 0 lists all records\n";
  return 0;
}

int ShowDatabase(const CommandLine& line, const std::vector<std::string>& arguments) {
  const DatabasePlace place = GivenDatabase(arguments);
  const DatabaseFacts facts = FactsOf(place);
  if (line.Has("json")) {
    PrintAsJson(place, facts);
  } else {
    Print(place, facts);
  }
  return 0;
}

}  // namespace caffe2rt
