#pragma once

#include <nanobind/nanobind.h>

namespace memplan {

void bind_search(nanobind::module_& m);

}  // namespace memplan
