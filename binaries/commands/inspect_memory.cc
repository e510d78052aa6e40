#include "binaries/commands/inspect_memory.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/table.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

// A missing input makes the sizes of most other blobs unknown, so that only the first of these is
// printed, and the names of the inputs.
void PrintUnknown(const MemoryReport& report) {
  constexpr size_t kIndent = 2;
  std::vector<std::string> inputs;
  std::vector<const MemoryReport::UnknownBlob*> others;
  for (const MemoryReport::UnknownBlob& blob : report.unknown) {
    if (blob.is_input) {
      inputs.push_back(OneLine(blob.name));
    } else {
      others.push_back(&blob);
    }
  }
  if (!inputs.empty()) {
    PrintParagraph(
        absl::StrCat("not counted: ", inputs.size(), inputs.size() == 1 ? " input" : " inputs",
                     " without a shape (--input or --init-net): ", FirstNames(inputs)),
        kIndent);
  }
  if (others.empty()) return;
  PrintParagraph(absl::StrCat("not counted: ", others.size(),
                              others.size() == 1 ? " blob" : " blobs", " of unknown size, first \"",
                              OneLine(others[0]->name), "\": ", OneLine(others[0]->problem)),
                 kIndent);
}

}  // namespace

void PrintMemory(const std::string& title, const MemoryReport& report, size_t limit) {
  std::cout << OneLine(title) << ", memory before a run\n";
  Table parts({{.kind = Column::kText}, {.kind = Column::kNumber}, {.kind = Column::kText}});
  for (const std::vector<std::string>& part : std::vector<std::vector<std::string>>{
           {"weights", BytesText(report.weight_bytes), ""},
           {"prepared weights", BytesText(report.prepared_bytes),
            "in the layouts of the operators"},
           {"inputs", BytesText(report.input_bytes), ""},
           {"activations", BytesText(report.arena_bytes),
            absl::StrCat("planned; at least ", BytesText(report.live_bytes),
                         " are in use at once")},
           {"outputs and others", BytesText(report.own_bytes),
            "activations with memory of their own"},
           {"scratch memory", BytesText(report.scratch_bytes), ""},
           {"peak", BytesText(report.peak_bytes),
            absl::StrCat("the activations need ", BytesText(report.activation_bytes),
                         " without a plan")}}) {
    parts.Add(part);
  }
  parts.Print();
  Table blobs({{"blob", Column::kName},
               {"shape", Column::kText, 2, kLeastShapeWidth},
               {"memory", Column::kNumber},
               {"offset", Column::kNumber, 1},
               {"operators", Column::kText}});
  for (size_t i = 0; i < std::min(limit, report.blobs.size()); ++i) {
    const MemoryReport::BlobUse& blob = report.blobs[i];
    blobs.Add({OneLine(blob.name), blob.shape, BytesText(blob.bytes),
               blob.planned ? absl::StrCat(blob.offset) : "own",
               absl::StrCat(blob.first_op, " to ", blob.last_op)});
  }
  if (!report.blobs.empty()) blobs.Print();
  if (report.blobs.size() > limit)
    std::cout << "  and " << report.blobs.size() - limit << " more, see --limit\n";
  PrintUnknown(report);
}

void WriteMemory(const MemoryReport& report, Json* json) {
  *json = {{"weight_bytes", report.weight_bytes},
           {"prepared_bytes", report.prepared_bytes},
           {"input_bytes", report.input_bytes},
           {"arena_bytes", report.arena_bytes},
           {"own_bytes", report.own_bytes},
           {"scratch_bytes", report.scratch_bytes},
           {"peak_bytes", report.peak_bytes},
           {"live_bytes", report.live_bytes},
           {"activation_bytes", report.activation_bytes}};
  Json& blobs = (*json)["blobs"] = Json::array();
  for (const MemoryReport::BlobUse& blob : report.blobs) {
    Json& entry = blobs.emplace_back();
    entry = {{"name", blob.name},       {"shape", blob.shape},       {"bytes", blob.bytes},
             {"planned", blob.planned}, {"first_op", blob.first_op}, {"last_op", blob.last_op}};
    if (blob.planned) entry["offset"] = blob.offset;
  }
  Json& unknown = (*json)["unknown"] = Json::array();
  for (const MemoryReport::UnknownBlob& blob : report.unknown) {
    unknown.emplace_back() = {{"name", blob.name}, {"problem", blob.problem}};
  }
}

}  // namespace caffe2rt
