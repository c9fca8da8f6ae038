// What Pillow's libtiff has to say about a file, for the thread that reads it instead of stderr.
//
// libtiff hands its messages to one handler for the whole process. Ours keeps those of threads that
// listen, and passes all others on to the handler that was there before.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bind.h"

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Handler = void (*)(const char* module, const char* format, va_list arguments);
using SetHandler = Handler (*)(Handler);

// A damaged file can cause a message for each of its rows.
constexpr size_t kMostMessages = 20;
constexpr size_t kLongestMessage = 400;

thread_local bool listens = false;
thread_local std::vector<std::string> heard;
Handler earlier_warning_handler = nullptr;
Handler earlier_error_handler = nullptr;

void keep(const char* module, const char* format, va_list arguments) {
  if (heard.size() >= kMostMessages) return;
  char text[kLongestMessage];
  std::vsnprintf(text, sizeof(text), format, arguments);
  heard.push_back(module == nullptr || *module == '\0' ? std::string(text)
                                                       : std::string(module) + ": " + text);
}

void on_warning(const char* module, const char* format, va_list arguments) {
  if (listens)
    keep(module, format, arguments);
  else if (earlier_warning_handler != nullptr)
    earlier_warning_handler(module, format, arguments);
}

void on_error(const char* module, const char* format, va_list arguments) {
  if (listens)
    keep(module, format, arguments);
  else if (earlier_error_handler != nullptr)
    earlier_error_handler(module, format, arguments);
}

// Called once, with Python's lock held.
bool hear_libtiff(const std::string& library) {
#if defined(__unix__) || defined(__APPLE__)
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  // Looks in the libraries that this one needs, too: so the libtiff is Pillow's own.
  auto set_warning = reinterpret_cast<SetHandler>(dlsym(handle, "TIFFSetWarningHandler"));
  auto set_error = reinterpret_cast<SetHandler>(dlsym(handle, "TIFFSetErrorHandler"));
  dlclose(handle);
  if (set_warning == nullptr || set_error == nullptr) return false;
  const Handler warning = set_warning(on_warning);
  const Handler error = set_error(on_error);
  if (warning != on_warning) earlier_warning_handler = warning;
  if (error != on_error) earlier_error_handler = error;
  return true;
#else
  (void)library;
  return false;
#endif
}

}  // namespace

void penstock::bind_tiff_messages(nb::module_& m) {
  m.def("hear_libtiff", &hear_libtiff, "library"_a,
        "Let threads listen to the libtiff that a loaded library uses; False if there is none.");
  m.def(
      "listen_to_libtiff",
      [] {
        heard.clear();
        listens = true;
      },
      "Keep libtiff's messages of this thread from now on.");
  m.def(
      "heard_from_libtiff",
      [] {
        listens = false;
        return std::exchange(heard, {});
      },
      "Stop listening; the messages of this thread since then.");
}
