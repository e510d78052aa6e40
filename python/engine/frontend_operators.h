#pragma once
// What the front end asks about operators, and the operators that call Python.

#include <nanobind/nanobind.h>

namespace caffe2rt {

// Registries, schemas, engine preferences, gradients and inference.
void BindFrontendOperators(nanobind::module_& m);
// The operators Python and PythonDLPack with their gradients, and register_python_op. Exceptions
// that their functions raise leave runs as they are (frontend_python.cc).
void BindFrontendPythonOperators(nanobind::module_& m);
// Databases, flags and facts about the process and its devices.
void BindFrontendFacts(nanobind::module_& m);
// Descriptors of messages, for front ends that lack them.
void BindFrontendProtos(nanobind::module_& m);
// Memonger.
void BindFrontendMemonger(nanobind::module_& m);
// Names for blobs that a conversion from or to ONNX adds.
void BindFrontendOnnx(nanobind::module_& m);
// nomnigraph: nets as graphs that can be changed (net_graph.h).
void BindFrontendNomnigraph(nanobind::module_& m);
// Transforms of nets.
void BindFrontendTransforms(nanobind::module_& m);

}  // namespace caffe2rt
