// The extension module: one call per noun.
#include <nanobind/nanobind.h>

#include "base/error.h"
#include "bindings/bind.h"

NB_MODULE(_core, m) {
  m.doc() = "penstock's native core. Use the penstock package; nothing here is public.";
  // A forked child inherits objects that threads of its parent were using; nobody can free those.
  nanobind::set_leak_warnings(false);
  nanobind::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const penstock::ResourceError& error) {
      nanobind::module_ errors = nanobind::module_::import_("penstock.errors");
      PyErr_SetString(errors.attr("ResourceError").ptr(), error.what());
    } catch (const penstock::Error& error) {
      nanobind::module_ errors = nanobind::module_::import_("penstock.errors");
      PyErr_SetString(errors.attr("CoreError").ptr(), error.what());
    }
  });
  penstock::bind_contract(m);  // first: others take its enums
  penstock::bind_kernels(m);
  penstock::bind_colour(m);
  penstock::bind_codec(m);
  penstock::bind_batch_buffer(m);
  penstock::bind_engine(m);
  penstock::bind_mapped_file(m);
  penstock::bind_records(m);
  penstock::bind_random(m);
  penstock::bind_filter(m);
  penstock::bind_warp(m);
  penstock::bind_tiff_messages(m);
}
