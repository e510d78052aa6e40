// caffe2 db throughput: how fast records are read.

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "binaries/commands/db.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/first_error.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

struct Reading {
  int64_t records = 0;
  uint64_t bytes = 0;
  float seconds = 0;
};

// Reads all records by a cursor.
Reading ReadByCursor(const DatabasePlace& place) {
  const std::unique_ptr<db::DB> database = db::OpenDB(place.type, place.path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  Reading reading;
  const Timer timer;
  for (; cursor->Valid(); cursor->Next()) {
    reading.bytes += cursor->key().size() + cursor->value().size();
    ++reading.records;
  }
  reading.seconds = timer.Seconds();
  CAFFE_ENFORCE_GT(reading.records, 0, "records of the database \"", place.path, "\"");
  return reading;
}

// Reads `records` records by threads that share a reader, as the operators of a net do.
Reading ReadByThreads(const DatabasePlace& place, int threads, int64_t records) {
  const db::DBReader reader(place.type, place.path);
  std::atomic<int64_t> begun{0};
  std::atomic<uint64_t> bytes{0};
  FirstError error;
  const auto read = [&] {
    try {
      std::string key, value;
      uint64_t own = 0;
      while (begun.fetch_add(1) < records) {
        reader.Read(&key, &value);
        own += key.size() + value.size();
      }
      bytes += own;
    } catch (...) {
      error.KeepCurrent();
    }
  };
  const Timer timer;
  std::vector<std::jthread> others;  // joined, too, if one of them cannot be started
  for (int i = 1; i < threads; ++i) others.emplace_back(read);
  read();
  for (std::jthread& thread : others) thread.join();
  const float seconds = timer.Seconds();
  if (const std::exception_ptr first = error.Take()) std::rethrow_exception(first);
  return {records, bytes, seconds};
}

// Reads batches as a net does, by an operator that reads ahead: at least `records` records.
class BatchReading {
 public:
  BatchReading(const DatabasePlace& place, int64_t batch_size) : batch_size_(batch_size) {
    const db::DBReader first(place.type, place.path);
    std::string key, value;
    first.Read(&key, &value);
    TensorProtos record;
    ParseBinaryProto(value, "record " + key, &record);
    ws_.CreateBlob("reader")->GetMutable<db::DBReader>()->Open(place.type, place.path);
    OperatorDef def;
    def.set_type("TensorProtosDBInput");
    def.add_input("reader");
    for (int i = 0; i < record.protos_size(); ++i) def.add_output(MakeString("tensor_", i));
    *def.add_arg() = MakeArgument("batch_size", batch_size);
    operator_ = CreateOperator(def, &ws_);
  }

  Reading Read(int64_t records) {
    Reading reading;
    const Timer timer;
    for (; reading.records < records; reading.records += batch_size_) {
      CAFFE_ENFORCE(operator_->Run(), "TensorProtosDBInput failed");
      for (int i = 0; i < operator_->OutputSize(); ++i) {
        reading.bytes += ws_.GetBlob(MakeString("tensor_", i))->Get<Tensor>().nbytes();
      }
    }
    reading.seconds = timer.Seconds();
    return reading;
  }

 private:
  const int64_t batch_size_;
  Workspace ws_;
  std::unique_ptr<OperatorBase> operator_;
};

void Print(const CommandLine& line, const Reading& reading, int64_t round) {
  const double per_second = static_cast<double>(reading.records) / std::max(reading.seconds, 1e-9f);
  const double mebibytes =
      static_cast<double>(reading.bytes) / (1 << 20) / std::max(reading.seconds, 1e-9f);
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"round", round},
             {"records", reading.records},
             {"bytes", reading.bytes},
             {"seconds", JsonNumber(reading.seconds)},
             {"records_per_second", per_second}};
    PrintJson(*json);
    return;
  }
  std::cout << "round " << round << ": " << CountText(reading.records, "record") << " in "
            << reading.seconds << " s, " << static_cast<int64_t>(per_second) << " records/s, "
            << static_cast<int64_t>(mebibytes) << " MiB/s" << std::endl;
}

}  // namespace

int TimeDatabase(const CommandLine& line, const std::vector<std::string>& arguments) {
  const DatabasePlace place = GivenDatabase(arguments);
  const auto readers = static_cast<int>(line.Integer("readers", 1, 1024));
  const int64_t rounds = line.Integer("repeat", 1, 1000000);
  Reading reading = ReadByCursor(place);
  if (line.Has("batch-size")) {
    CAFFE_ENFORCE_EQ(readers, 1, "--readers with --batch-size: an operator is one reader");
    BatchReading batches(place, line.Integer("batch-size", 1, 1 << 20));
    for (int64_t round = 1; round <= rounds; ++round) {
      Print(line, batches.Read(reading.records), round);
    }
    return 0;
  }
  for (int64_t round = 1; round <= rounds; ++round) {
    if (readers > 1) {
      reading = ReadByThreads(place, readers, reading.records);
    } else if (round > 1) {
      reading = ReadByCursor(place);
    }
    Print(line, reading, round);
  }
  return 0;
}

}  // namespace caffe2rt
