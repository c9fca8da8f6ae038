#include "base/error.h"
#include "bindings/bind.h"

void penstock::translate_errors() {
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
}
