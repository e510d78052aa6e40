#include "tests/fuzz/mutate_input.h"

#include "caffe2_core/io/proto_file.h"
#include "tests/fuzz/generate_plan.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/fuzz/mutate_pack.h"
#include "tests/fuzz/mutate_png.h"
#include "tests/fuzz/mutate_records.h"

namespace caffe2rt::test {
namespace {

// Parses the message, damages fields, and serializes it again in its original format.
template <class Message, class Mutate>
bool MutateFields(Random* random, Mutate mutate, std::string* bytes) {
  Message message;
  const bool text = LooksLikeText(*bytes);
  if (!(text ? ParseProtoFromText(*bytes, &message)
             : ParseProtoFromLargeString(*bytes, &message))) {
    return false;
  }
  mutate(random, &message);
  *bytes = text ? ProtoToText(message) : message.SerializePartialAsString();
  return true;
}

// Returns false if the bytes are to be damaged without knowledge of the format.
bool MutateStructure(FileKind kind, Random* random, const BytesMutator& mutate_bytes,
                     std::string* bytes) {
  switch (kind) {
    case FileKind::kNetDef:
      return !random->OneIn(5) && MutateFields<NetDef>(random, MutateNet, bytes);
    case FileKind::kPlanDef:
      if (random->OneIn(32)) {
        *bytes = ProtoToText(GeneratePlan(random));
        return true;
      }
      return !random->OneIn(3) && MutateFields<PlanDef>(random, MutatePlan, bytes);
    case FileKind::kMetaNetDef:
      return !random->OneIn(3) && MutateFields<MetaNetDef>(random, MutateMetaNet, bytes);
    case FileKind::kMiniDB:
      return !random->OneIn(5) && MutateRecords(random, mutate_bytes, bytes);
    case FileKind::kPackedModel:
      return !random->OneIn(5) && MutatePack(random, mutate_bytes, bytes);
    case FileKind::kPng:
      if (random->OneIn(5)) return false;
      mutate_bytes(random, bytes);
      CorrectChecksums(bytes);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string MutateInput(FileKind kind, const std::string& bytes, Random* random,
                        const BytesMutator& mutate_bytes) {
  std::string mutated = bytes;
  const bool done = MutateStructure(kind, random, mutate_bytes, &mutated);
  if (!done || random->OneIn(32)) mutate_bytes(random, &mutated);
  return mutated;
}

}  // namespace caffe2rt::test
