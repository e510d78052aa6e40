#pragma once
// An ELF note that marks every program and library that contains the library's message classes: the compiler includes this file
// into each generated source (CMakeLists.txt). A process can contain these classes only once, because protobuf aborts it if a
// descriptor is registered again. Module loading (caffe2_core/runtime/module_links.h) therefore reads the note of a file before
// it opens the file.
//
// The note has the owner "caffe2rt", type 1 and no contents.
__asm__(
    ".pushsection .note.caffe2rt,\"a\",%note\n"
    ".balign 4\n"
    ".long 9\n"  // bytes of the owner
    ".long 0\n"  // bytes of the contents
    ".long 1\n"  // type
    ".asciz \"caffe2rt\"\n"
    ".balign 4\n"
    ".popsection\n");
