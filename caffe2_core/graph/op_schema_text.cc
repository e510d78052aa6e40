// OpSchema as text.

#include <ostream>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

void WriteArguments(std::ostream& out, const std::vector<OpSchema::Argument>& args) {
  if (args.empty()) return;
  out << "Arguments:\n";
  for (const OpSchema::Argument& arg : args) {
    out << "  " << arg.name << " : " << arg.doc;
    if (arg.required) {
      out << " (required)";
    } else if (!arg.default_value.empty()) {
      out << " (default " << arg.default_value << ")";
    }
    out << "\n";
  }
}

// `most` is the largest number of inputs or outputs.
void WriteBlobs(std::ostream& out, const char* title, const std::vector<OpSchema::NamedDoc>& docs,
                int most) {
  if (most == 0) return;
  out << title << ":\n";
  if (docs.empty()) out << "  (not documented)\n";
  for (size_t i = 0; i < docs.size(); ++i) {
    out << "  " << i << ", " << (docs[i].name.empty() ? "(unnamed)" : docs[i].name) << " : "
        << (docs[i].doc.empty() ? "(not documented)" : docs[i].doc) << "\n";
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const OpSchema& schema) {
  WriteArguments(out, schema.args());
  WriteBlobs(out, "Inputs", schema.input_docs(), schema.max_input());
  WriteBlobs(out, "Outputs", schema.output_docs(), schema.max_output());
  out << "\n" << (schema.doc() != nullptr ? schema.doc() : "(not documented)") << "\n";
  if (schema.line() > 0) out << "\nDefined at " << schema.file() << ":" << schema.line() << "\n";
  return out;
}

}  // namespace caffe2rt
