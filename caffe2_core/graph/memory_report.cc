#include "caffe2_core/graph/memory_report.h"

#include <algorithm>
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/net_summary.h"

namespace caffe2rt {
namespace {

void Add(int64_t bytes, int64_t* sum) {
  if (__builtin_add_overflow(*sum, bytes, sum)) *sum = INT64_MAX;
}

std::string ShapeOfLastWrite(const NetDependencies& blobs, uint32_t blob,
                             const std::vector<OpShapes>& shapes) {
  const uint32_t writer = blobs.last_writer(blob);
  for (size_t i = 0; i < blobs.outputs(writer).size(); ++i) {
    if (blobs.outputs(writer)[i] == blob) return ShapeText(shapes[writer].outputs[i]);
  }
  return "?";
}

void AddBlobs(const NetDependencies& blobs, const std::vector<BlobMemory>& sizes,
              const std::vector<OpShapes>& shapes, const MemoryDemand& demand,
              const MemoryPlan& plan, MemoryReport* report) {
  for (const uint32_t blob : blobs.written()) {
    if (sizes[blob].bytes == BlobMemory::kUnknown) {
      report->unknown.push_back(
          {.name = blobs.name(blob), .problem = sizes[blob].problem, .is_input = false});
      continue;
    }
    const uint32_t item = demand.item_of(blob);
    const uint32_t last_reader = blobs.last_reader(blob), last_writer = blobs.last_writer(blob);
    report->blobs.push_back(
        {.name = blobs.name(blob),
         .shape = ShapeOfLastWrite(blobs, blob, shapes),
         .bytes = sizes[blob].bytes,
         .planned = item != MemoryDemand::kNone,
         .offset = item != MemoryDemand::kNone ? static_cast<int64_t>(plan.offsets[item]) : 0,
         .first_op = blobs.first_writer(blob),
         .last_op =
             last_reader == NetBlobs::kNone ? last_writer : std::max(last_reader, last_writer)});
    Add(sizes[blob].bytes, &report->activation_bytes);
    if (item == MemoryDemand::kNone) Add(sizes[blob].bytes, &report->own_bytes);
  }
  std::stable_sort(report->blobs.begin(), report->blobs.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

void AddExtraMemory(const NetDef& net, const std::vector<OpShapes>& shapes, int threads,
                    MemoryReport* report) {
  int64_t most = 0;
  for (size_t op = 0; op < shapes.size(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    const MemoryTraits::Extra extra = ExtraMemoryOf(def, shapes[op].inputs, shapes[op].outputs);
    most = std::max(most, extra.scratch_bytes);
    Add(extra.prepared_bytes, &report->prepared_bytes);
    if (extra.prepared_unknown) report->unknown_prepared.push_back(op);
  }
  for (int i = 0; i < std::max(threads, 1); ++i) Add(most, &report->scratch_bytes);
}

void AddUpPeak(MemoryReport* report) {
  report->peak_bytes = 0;
  for (const int64_t part : {report->weight_bytes, report->prepared_bytes, report->input_bytes,
                             report->arena_bytes, report->own_bytes, report->scratch_bytes}) {
    Add(part, &report->peak_bytes);
  }
}

}  // namespace

void SetPreparedBytes(int64_t bytes, std::vector<size_t> unknown, MemoryReport* report) {
  report->prepared_bytes = bytes;
  report->unknown_prepared = std::move(unknown);
  AddUpPeak(report);
}

MemoryReport ReportMemory(const std::vector<const NetDef*>& init_nets, const NetDef& net,
                          const ShapeMap& seeds, const std::set<std::string>& parameter_names,
                          const std::set<std::string>& kept, int threads) try {
  MemoryReport report;
  report.weight_bytes = SummarizeNet(init_nets, net, seeds, parameter_names).parameter_bytes;
  ShapeMap known = seeds;
  InferOpShapes(init_nets, &known);
  for (const auto& [name, shape] : seeds) known[name] = shape;
  const ShapeMap before = known;
  const std::vector<OpShapes> shapes = InferOpShapes({&net}, &known);
  const NetDependencies blobs(net);
  const std::vector<BlobMemory> sizes = MemoryOfShapes(net, blobs, shapes);
  const MemoryDemand demand(net, blobs, sizes, kept, shapes);
  const MemoryPlan plan = PlanMemory(demand.request());
  report.arena_bytes = static_cast<int64_t>(plan.arena_bytes);
  report.live_bytes = static_cast<int64_t>(plan.live_bytes);
  AddBlobs(blobs, sizes, shapes, demand, plan, &report);
  AddExtraMemory(net, shapes, threads, &report);
  int64_t inputs = 0;
  for (const uint32_t blob : blobs.read_first()) {
    const auto found = before.find(blobs.name(blob));
    if (found == before.end() || found->second.unknown_shape()) {
      report.unknown.push_back(
          {.name = blobs.name(blob),
           .problem = "it is an input whose shape is not given: --input or --init-net",
           .is_input = true});
    } else {
      Add(BytesOf(found->second), &inputs);
    }
  }
  // SummarizeNet counts the parameters that operators use; the other inputs remain.
  report.input_bytes = std::max<int64_t>(inputs - report.weight_bytes, 0);
  AddUpPeak(&report);
  return report;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
