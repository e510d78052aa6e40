#pragma once
// Releases the pages of memory whose content is not needed any more, or is in a file, and maps those that
// will be needed.

#include <cstddef>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Releases the whole pages in [data, data + nbytes). Those of a private mapping of a file are read
// from it again when they are used; other memory reads as zeros or as before. Pages that the system
// cannot release stay.
void ReleasePages(const void* data, size_t nbytes);

// Maps the whole pages in [data, data + nbytes), which is writable memory: the content stays, and writing
// it later does not wait for the system. Does nothing if the system cannot do so (before Linux 5.14).
void MapPages(void* data, size_t nbytes);
// The same for memory that will be read, such as a mapped file: the system reads what it does not have yet.
void MapPagesForReading(const void* data, size_t nbytes);

// Sets memory to zeros. Whole pages that the system has not mapped yet, as those of new large memory, stay so: they read
// as zeros and cost their time when they are first written. REQUIRES: memory of the C library, or other memory that
// is private and no file's.
void ZeroPages(void* data, size_t nbytes);

// Returns to the system what the C library keeps of freed memory. Takes some milliseconds.
void ReleaseFreedMemory();

// Releases the pages of code of the program and its libraries that are as in their files: much of it runs only when
// a program starts. The system maps what runs again. Pages that something has changed, such as a breakpoint of a
// debugger, stay. Takes about a millisecond.
void ReleaseCodePages();

}  // namespace caffe2rt
#pragma GCC visibility pop
